"""The shipped images and recordings by name: scenes, drawings for captioning, and sounds."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from headlight.config import Config
from headlight.errors import ImageError
from headlight.paths import assets_dir

SCENES, DRAWINGS, SOUNDS = "pictures/inputs/*.png", "pictures/drawings/*.png", "recordings/*.wav"


@lru_cache(maxsize=3)
def _names_in(files: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in assets_dir().glob(files)))


def all_shipped_image_names() -> tuple[str, ...]:
    """The names of all shipped images, the drawings first."""
    return *_names_in(DRAWINGS), *_names_in(SCENES)


def shipped_image_names(config: Config | None = None) -> tuple[str, ...]:
    """The names of the shipped images or recordings for a model (None: an image model), its first one first."""
    if config and config.reads_sound:
        return _names_in(SOUNDS)
    return _names_in(DRAWINGS if config and config.has_cross_attention else SCENES)


def shipped_image_path(name: str) -> str:
    """The path of a shipped image or recording inside the assets. Raises ImageError for an unknown name."""
    for files in (SCENES, DRAWINGS, SOUNDS):
        if name in _names_in(files):
            return files.replace("*", name)
    known = ", ".join((*_names_in(SCENES), *_names_in(DRAWINGS)))
    raise ImageError(f"There is no picture {name[:40]!r}. Known: {known}, and your own.")


def find_image(path_or_name: str | Path) -> Path:
    """The file of an image: a path, or the name of a shipped image. Raises ImageError for an unknown name."""
    path = Path(path_or_name)
    is_name = path.name == str(path_or_name) and not path.suffix and not path.exists()
    return assets_dir() / shipped_image_path(path.name) if is_name else path


def shipped_image(name: str) -> bytes:
    """The file of a shipped image or recording; the empty name is the first scene. Raises ImageError for others."""
    return (assets_dir() / shipped_image_path(name or shipped_image_names()[0])).read_bytes()
