"""Pictures as models read them: shipped drawings, or a visitor's own, sent with the request."""

import importlib.util
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from headlight.config import ImageConfig
from headlight.errors import ImageError
from headlight.paths import assets_dir
from headlight.vision.image import ProcessedImage, decode_image
from headlight.vision.shipped_images import shipped_image, shipped_image_names
from headlight_app.engine.contract import CheckImageRequest
from headlight_app.engine.job import EngineRequest
from headlight_app.inference.context import answering
from headlight_app.inference.images import PreparedImages, answer_check_image, image_bytes
from tests.model import toys

INPUTS = assets_dir() / "pictures" / "inputs"
READS = ImageConfig(channels=3, height=12, width=12, patch_height=4, patch_width=4)


def photo(side: int = 20, kind: str = "PNG", seed: int = 0) -> bytes:
    """An image file of noise, which no format compresses well."""
    file = io.BytesIO()
    noise = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file, kind)
    return file.getvalue()


def drawing_script(folder: str) -> Any:
    """The drawing script in a folder of pictures, as a module."""
    spec = importlib.util.spec_from_file_location("drawing", assets_dir() / "pictures" / folder / "draw.py")
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_drawn_pictures_are_what_their_script_draws() -> None:
    script = drawing_script("inputs")
    assert set(shipped_image_names()) == set(script.PICTURES) == {"cat", "chess", "faces", "house"}
    for name in shipped_image_names():
        path = INPUTS / f"{name}.png"
        assert path.stat().st_size < 10_000
        kept, drawn = np.asarray(Image.open(path)).astype(int), np.asarray(script.draw(name)).astype(int)
        assert kept.shape == drawn.shape == (224, 224, 3)
        # Versions of Pillow may round an edge differently.
        assert np.abs(kept - drawn).mean() < 0.5


def test_the_drawings_are_held_out_examples_and_are_what_their_script_draws() -> None:
    names, script = shipped_image_names(toys.captioner().config), drawing_script("drawings")
    examples = {script.drawing_name(one): one for one in script.examples()}
    assert set(names) == set(examples)
    for name in names:
        drawing = examples[name].drawing
        assert drawing is not None
        kept, drawn = decode_image(shipped_image(name)).astype(int), drawing.render(script.SCALE).astype(int)
        assert kept.shape == drawn.shape and np.abs(kept - drawn).mean() < 0.5


def test_a_picture_is_prepared_once_for_each_way_of_reading() -> None:
    images = PreparedImages()
    grey = ImageConfig(channels=1, height=8, width=8, patch_height=4, patch_width=4)
    looked, looked_grey = images.prepare(photo(), READS), images.prepare(photo(), grey)
    assert isinstance(looked, ProcessedImage) and isinstance(looked_grey, ProcessedImage)
    assert looked.pixel_values.shape == (3, 12, 12) and looked_grey.pixel_values.shape == (1, 8, 8)
    assert images.prepare(photo(), READS) is images.prepare(photo(), READS)
    assert images.prepare(image_bytes(""), READS) is images.prepare(image_bytes(shipped_image_names()[0]), READS)


def test_a_name_finds_the_picture_that_came_with_the_request_and_no_other() -> None:
    brought = {"own-a": photo(seed=1), "own-b": photo(seed=2)}
    with answering(EngineRequest("", b"", images=brought)):
        assert {name: image_bytes(name) for name in brought} == brought
        with pytest.raises(ImageError, match="no longer here"):
            image_bytes("own-c")
    with pytest.raises(ImageError, match="no longer here"):
        image_bytes("own-a")


@pytest.mark.parametrize("name", ["dog", "../cat", "../inputs/cat", "cat.png", "x" * 500])
def test_no_other_file_is_read(name: str) -> None:
    with pytest.raises(ImageError, match=r"Known: cat, chess, faces, house, .*, and your own"):
        image_bytes(name)


@pytest.mark.parametrize("raw", [b"", b"no picture", b"GIF89a" + bytes(100), b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_is_no_picture_is_said_to_be_none(raw: bytes) -> None:
    with (
        answering(EngineRequest("", b"", images={"": raw})),
        pytest.raises(ImageError, match="is not a PNG, JPEG or WebP"),
    ):
        answer_check_image(CheckImageRequest())


def test_what_is_a_picture_is_fine() -> None:
    with answering(EngineRequest("", b"", images={"": photo(kind="WEBP")})):
        assert answer_check_image(CheckImageRequest())
