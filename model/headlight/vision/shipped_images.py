"""The shipped images by their names: scenes to look at, and drawings to write captions for."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from headlight.config import Config
from headlight.errors import ImageError
from headlight.paths import assets_dir

SCENES, DRAWINGS = "inputs", "drawings"  # folders


@lru_cache(maxsize=2)
def _names_in(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (assets_dir() / "pictures" / folder).glob("*.png")))


def all_shipped_image_names() -> tuple[str, ...]:
    """The names of all shipped images, the drawings first."""
    return *_names_in(DRAWINGS), *_names_in(SCENES)


def shipped_image_names(config: Config | None = None) -> tuple[str, ...]:
    """The names of the shipped images for a model (None: one that reads images alone), its first image first."""
    return _names_in(DRAWINGS if config and config.has_cross_attention else SCENES)


def shipped_image_path(name: str) -> str:
    """The path of a shipped image inside the assets. Raises ImageError for an unknown name."""
    for folder in (SCENES, DRAWINGS):
        if name in _names_in(folder):
            return f"pictures/{folder}/{name}.png"
    known = ", ".join((*_names_in(SCENES), *_names_in(DRAWINGS)))
    raise ImageError(f"There is no picture {name[:40]!r}. Known: {known}, and your own.")


def find_image(path_or_name: str | Path) -> Path:
    """The file of an image: a path, or the name of a shipped image. Raises ImageError for an unknown name."""
    path = Path(path_or_name)
    is_name = path.name == str(path_or_name) and not path.suffix and not path.exists()
    return assets_dir() / shipped_image_path(path.name) if is_name else path


def shipped_image(name: str) -> bytes:
    """The file of a shipped image; the empty name is the first scene. Raises ImageError for an unknown name."""
    return (assets_dir() / shipped_image_path(name or shipped_image_names()[0])).read_bytes()
