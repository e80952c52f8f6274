"""Pictures: files to pixels, pixels to model input, and patches as tokens."""

import io
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from headlight import (
    Config,
    ConfigError,
    EditError,
    EncodedImage,
    ImageError,
    TextError,
    load,
    run,
    save,
)
from headlight.config import ImageProcessorConfig
from headlight.vision.image import MAX_FILE_BYTES, decode_image, process_image, read_image
from headlight.vision.patches import class_token_tokenizer
from headlight.vision.shipped_images import all_shipped_image_names, find_image
from tests.model import toys
from tests.model.toys import READS


def written(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """The bytes of an image file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
@pytest.mark.parametrize(("mode", "colours"), [("L", ()), ("RGB", (3,)), ("RGBA", (4,))])
def test_a_file_is_read_pixel_by_pixel(kind: str, mode: str, colours: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (9, 13, *colours), dtype=np.uint8)
    read = decode_image(written(Image.fromarray(pixels), kind, lossless=True, exact=True))
    if kind == "PNG":
        np.testing.assert_array_equal(read, pixels)
    else:  # WebP has no greyscale
        np.testing.assert_array_equal(read, np.asarray(Image.fromarray(pixels).convert(mode if colours else "RGB")))


def test_other_kinds_of_pixels_are_read_as_they_look() -> None:
    bright = np.array([[0, 255], [128 << 8, 65535]], dtype=np.uint16)
    assert decode_image(written(Image.fromarray(bright))).tolist() == [[0, 0], [128, 255]]
    palette = Image.new("P", (2, 1))
    palette.putpalette([0, 0, 0, 255, 0, 0])
    palette.putpixel((1, 0), 1)
    assert decode_image(written(palette)).tolist() == [[[0, 0, 0], [255, 0, 0]]]
    assert decode_image(written(palette, transparency=1)).tolist() == [[[0, 0, 0, 255], [255, 0, 0, 0]]]
    assert decode_image(written(Image.new("CMYK", (1, 1), (0, 255, 255, 0)), "JPEG"))[0, 0, 0] > 200


def test_a_photograph_is_turned_the_way_its_camera_says() -> None:
    image = Image.fromarray(np.array([[0, 0, 0, 255]], dtype=np.uint8))
    exif = image.getexif()
    exif[0x0112] = 6  # rotate by 90° clockwise
    assert decode_image(written(image, exif=exif)).tolist() == [[0], [0], [0], [255]]


@pytest.mark.parametrize(
    "raw", [b"", b"no picture", b"GIF89a" + bytes(50), b"<svg></svg>", b"\x89PNG\r\n\x1a\n" + bytes(40)]
)
def test_what_is_no_picture_is_refused_by_a_sentence(raw: bytes) -> None:
    with pytest.raises(ImageError, match="is not a PNG, JPEG or WebP picture"):
        decode_image(raw)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@given(places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4), length=st.integers(0, 10**6))
def test_a_broken_file_is_a_picture_or_refused(kind: str, places: list[tuple[int, int]], length: int) -> None:
    raw = bytearray(written(Image.fromarray(toys.photo()), kind))
    for place, byte in places:
        raw[place % len(raw)] = byte
    try:
        read = decode_image(bytes(raw[: length % len(raw)] if not places else raw))
    except ImageError as error:
        assert str(error).endswith(".")
        assert "\n" not in str(error)
    else:
        assert read.dtype == np.uint8
        assert read.size


def bomb(width: int, height: int) -> bytes:
    """A PNG of zeros: a few kB that would fill the memory."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    data = zlib.compress(bytes(1 << 20))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size + b"\x08\2\0\0\0") + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [6_000, 10_000, 2**31 - 1])
def test_a_picture_too_large_for_memory_is_refused_before_it_is_unpacked(side: int) -> None:
    with pytest.raises(ImageError, match="34 million"):
        decode_image(bomb(side, side))


def test_a_file_too_large_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(ImageError, match=r"large\.png is larger than 32 MB"):
        read_image(tmp_path / "large.png")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="cannot be read: No such file"):
        read_image(tmp_path / "none.png")


def test_what_is_transparent_lies_on_white() -> None:
    clear = np.zeros((12, 18, 4), dtype=np.uint8)
    assert process_image(clear, READS).pixel_values.min() == 1.0
    assert process_image(clear, replace(READS, channels=4)).pixel_values.max() == -1.0


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("shape", [(7, 5), (7, 5, 3), (7, 5, 4)])
def test_every_picture_gets_the_colours_that_a_model_reads(channels: int, shape: tuple[int, ...]) -> None:
    pixels = process_image(np.full(shape, 255, np.uint8), replace(READS, channels=channels)).pixel_values
    assert pixels.shape == (channels, 12, 18)
    np.testing.assert_allclose(pixels, 1, atol=1e-6)


@pytest.mark.parametrize("shape", [(4, 4, 2), (4,), (0, 4, 3)])
def test_an_array_that_is_no_picture_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises((ImageError, TypeError)):
        process_image(np.zeros(shape, np.uint8), READS)
    with pytest.raises(ImageError, match="array of bytes"):
        process_image(np.zeros((4, 4, 3), np.float32), READS)


@pytest.mark.parametrize(
    ("prepare", "region"),
    [
        ({}, (0, 0, 40, 31)),
        ({"resize": False}, (0, 0, 40, 31)),
        ({"shortest_edge": 31, "crop_height": 21, "crop_width": 20}, (10, 5, 30, 26)),
        ({"resize": False, "crop_height": 51, "crop_width": 60}, (-10, -10, 50, 41)),
    ],
)
def test_the_region_is_the_part_of_the_picture_that_is_read(prepare: dict[str, Any], region: tuple[int, ...]) -> None:
    looked = process_image(toys.photo(), replace(READS, processor=ImageProcessorConfig(**prepare)))
    assert (looked.width, looked.height) == (40, 31)
    assert looked.crop_region == pytest.approx(region)


def test_a_region_ends_where_the_last_patch_does() -> None:
    reads = replace(READS, patch_height=5, patch_width=4)
    model = toys.seer(image=reads, context_length=9)
    text = run(model, class_token_tokenizer(), process_image(toys.photo(60, 36), reads)).text
    assert isinstance(text, EncodedImage)
    assert (text.patch_rows, text.patch_columns) == (2, 4)
    assert text.covered_region == pytest.approx((0, 0, 32, 50))


def test_a_crop_that_a_tall_picture_would_make_endless_is_refused() -> None:
    reads = replace(READS, processor=ImageProcessorConfig(shortest_edge=8_000))
    with pytest.raises(ImageError, match="pixels; at most 34 million"):
        process_image(np.zeros((500, 2, 3), np.uint8), reads)


def test_a_model_of_pictures_is_saved_and_opened_with_how_it_wants_them(tmp_path: Path) -> None:
    processor = ImageProcessorConfig(resample="nearest", rescale_factor=0.1, mean=(1.0, 2.0, 3.0))
    model = toys.seer(image=replace(READS, processor=processor))
    save(tmp_path, model, class_token_tokenizer(), dtype="float32")
    opened = load(tmp_path)
    assert opened.model.config == model.config
    looked = process_image(toys.photo(), opened.model.config.image)
    np.testing.assert_array_equal(
        run(opened.model, opened.tokenizer, looked)["logits"], run(model, class_token_tokenizer(), looked)["logits"]
    )


def test_pictures_and_texts_are_not_taken_for_each_other() -> None:
    looked = process_image(toys.photo(), READS)
    with pytest.raises(TextError, match="reads images, not texts"):
        run(toys.seer(), class_token_tokenizer(), "the cat")
    with pytest.raises(ImageError, match="reads texts"):
        run(toys.decoder(), toys.causal(), looked)
    with pytest.raises(ImageError, match="reads texts"):
        process_image(toys.photo(), Config(vocabulary_size=3, context_length=4, d_model=4, layers=1, heads=1).image)
    with pytest.raises(ImageError, match="cannot be masked"):
        run(toys.seer(), class_token_tokenizer(), looked, masked_positions=(1,))
    with pytest.raises(ImageError, match="this model reads 3 x 6 x 6"):
        small = replace(READS, height=6, width=6)
        run(toys.seer(image=small, context_length=2), class_token_tokenizer(), looked)
    with pytest.raises(EditError, match="changes nothing"):
        run(toys.decoder(), toys.causal(), "the cat", ["pixels[0]=set:0"])


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"channels": 2}, "channels is 2; images have 1, 3, 4"),
        ({"height": 0}, "height is 0"),
        ({"patch_width": 2**14}, "patch_width is 16384"),
        ({"patch_height": 13}, "0 x 3 patches"),
        ({"height": 8000, "width": 8000, "patch_height": 1, "patch_width": 1}, "reads 1 to 4,096 patches"),
        ({"processor": ImageProcessorConfig(mean=(1.0, 2.0))}, "mean has 2 numbers for 3 channels"),
        ({"processor": ImageProcessorConfig(std=(0.0,))}, "1e-6 to 1e6; here they are 0.0039"),
        ({"processor": ImageProcessorConfig(rescale_factor=float("inf"))}, "rescale_factor and mean are at most 1e6"),
        ({"processor": ImageProcessorConfig(crop_height=5)}, "a height without a width"),
        ({"processor": ImageProcessorConfig(crop_height=-1)}, "processor.crop_height is -1"),
    ],
)
def test_pictures_that_no_model_reads_get_a_sentence(choices: dict[str, Any], told: str) -> None:
    for architecture in ("encoder", "encoder-decoder"):
        with pytest.raises(ConfigError, match=told):
            toys.config(architecture=architecture, image=replace(READS, **choices))


def test_without_pillow_a_sentence_says_what_to_do() -> None:
    program = (
        "import sys; sys.modules['PIL'] = None\n"
        "from headlight import ImageError\nfrom headlight.vision.image import decode_image\n"
        "try:\n    decode_image(b'')\nexcept ImageError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "Pictures need Pillow, which is not installed: pip install 'attention-headlight[image]'.\n"


def test_an_image_is_found_by_its_path_or_by_the_name_of_a_shipped_one(tmp_path: Path) -> None:
    for name in all_shipped_image_names():
        assert read_image(find_image(name)).shape[-1] == 3
    assert find_image(tmp_path / "cat.png") == tmp_path / "cat.png"
    with pytest.raises(ImageError, match=r"There is no picture 'unicorn'\. Known: "):
        find_image("unicorn")
