"""The names that questions have for the pictures that image models read, and the files of the shipped ones."""

from __future__ import annotations

from functools import lru_cache

from model.errors import ImageError
from model.paths import assets_dir

OWN_IMAGE_PREFIX = "own-"  # begins the names of pictures that visitors brought
IMAGE_GONE = "This picture is no longer here: what one brings is kept for a while only. Choose it again."


@lru_cache(maxsize=1)
def shipped_image_names() -> tuple[str, ...]:
    """The names of the shipped images, sorted."""
    return tuple(sorted(path.stem for path in (assets_dir() / "pictures" / "inputs").glob("*.png")))


def shipped_image(name: str) -> bytes:
    """The file of a shipped image; the empty name is the first. Raises ImageError for an unknown name."""
    known = shipped_image_names()
    name = name or known[0]
    if name not in known:
        raise ImageError(f"There is no picture {name[:40]!r}. Known: {', '.join(known)}, and your own.")
    return (assets_dir() / "pictures" / "inputs" / f"{name}.png").read_bytes()
