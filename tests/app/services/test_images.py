"""Pictures in the gallery: drawn by the project, or a visitor's own."""

from __future__ import annotations

import importlib.util
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.services.images import MAX_FILE_BYTES, MAX_PER_VISITOR, MAX_TOTAL_BYTES, ImageStore, shipped_image_names
from app.state.state import OWN_IMAGE_PREFIX, State
from model.config_groups import ImageConfig
from model.errors import ImageError
from model.paths import assets_dir

INPUTS = assets_dir() / "pictures" / "inputs"
READS = ImageConfig(channels=3, height=12, width=12, patch_height=4, patch_width=4)


def photo(side: int = 20, kind: str = "PNG", seed: int = 0) -> bytes:
    """A file of noise, which no format makes small."""
    file = io.BytesIO()
    noise = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file, kind)
    return file.getvalue()


def drawing() -> Any:
    """The script beside the pictures."""
    spec = importlib.util.spec_from_file_location("drawing", INPUTS / "draw.py")
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_drawn_pictures_are_what_their_script_draws() -> None:
    script = drawing()
    assert set(shipped_image_names()) == set(script.PICTURES) == {"cat", "chess", "faces", "house"}
    for name in shipped_image_names():
        path = INPUTS / f"{name}.png"
        assert path.stat().st_size < 10_000
        kept, drawn = np.asarray(Image.open(path)).astype(int), np.asarray(script.draw(name)).astype(int)
        assert kept.shape == drawn.shape == (224, 224, 3)
        # Versions of Pillow may round an edge another way.
        assert np.abs(kept - drawn).mean() < 0.5


def test_what_somebody_brings_is_theirs_alone() -> None:
    gallery = ImageStore()
    name = gallery.add("anna", photo())
    assert name.startswith(OWN_IMAGE_PREFIX)
    assert gallery.find("anna", name).data == photo()
    assert gallery.prepare("anna", name, READS).pixel_values.shape == (3, 12, 12)
    for visitor in ("ben", ""):
        with pytest.raises(ImageError, match="no longer here"):
            gallery.find(visitor, name)
        with pytest.raises(ImageError, match="no longer here"):
            gallery.prepare(visitor, name, READS)


def test_a_picture_is_prepared_once_for_each_way_of_reading() -> None:
    gallery = ImageStore()
    name = gallery.add("anna", photo())
    grey = ImageConfig(channels=1, height=8, width=8, patch_height=4, patch_width=4)
    assert gallery.prepare("anna", name, READS) is gallery.prepare("anna", name, READS)
    assert gallery.prepare("anna", name, grey).pixel_values.shape == (1, 8, 8)
    assert gallery.prepare("anna", "", READS) is gallery.prepare("ben", shipped_image_names()[0], READS)


def test_no_visitor_keeps_more_than_a_few() -> None:
    gallery = ImageStore()
    brought = [gallery.add("anna", photo(seed=seed)) for seed in range(MAX_PER_VISITOR + 2)]
    other = gallery.add("ben", photo())
    for name in brought[:2]:
        with pytest.raises(ImageError, match="no longer here"):
            gallery.find("anna", name)
    assert all(gallery.find("anna", name) for name in brought[2:])
    assert gallery.find("ben", other)


def test_all_together_take_no_more_than_there_is_room() -> None:
    gallery = ImageStore(max_bytes=5 * len(photo()))
    brought = {f"visitor{number}": gallery.add(f"visitor{number}", photo()) for number in range(9)}
    assert sum(len(hung.data) for hung in gallery.uploaded.values()) <= gallery.max_bytes < MAX_TOTAL_BYTES
    kept = [visitor for visitor, name in brought.items() if (visitor, name) in gallery.uploaded]
    assert kept == [f"visitor{number}" for number in range(4, 9)]


@pytest.mark.parametrize("raw", [b"", b"no picture", b"GIF89a" + bytes(100), b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_is_no_picture_is_not_kept(raw: bytes) -> None:
    gallery = ImageStore()
    with pytest.raises(ImageError, match="is no PNG, JPEG or WebP"):
        gallery.add("anna", raw)
    assert not gallery.uploaded


def test_what_is_too_large_or_nobodys_is_not_kept() -> None:
    gallery = ImageStore()
    with pytest.raises(ImageError, match="may have 8 MB"):
        gallery.add("anna", bytes(MAX_FILE_BYTES + 1))
    with pytest.raises(ImageError, match="no cookie"):
        gallery.add("", photo())
    assert not gallery.uploaded


@pytest.mark.parametrize("name", ["dog", "../cat", "cat.png", "x" * 500])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ImageError, match="Known: cat, chess, faces, house, and your own"):
        ImageStore().find("anna", name)


def test_an_address_names_a_drawn_picture_and_never_a_visitors_own() -> None:
    assert State(image="house").to_query() == {"image": "house"}
    assert State.from_query({"image": "house"}).image == "house"
    assert "image" not in State(image=f"{OWN_IMAGE_PREFIX}secret").to_query()
