"""What can be opened: the shipped models, and those in folders somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from model.checkpoints.hub import download, is_id
from model.checkpoints.load import read_config
from model.checkpoints.source import CONFIG, SINGLE, hub_name, reads, without_config
from model.config import Config
from model.errors import CheckpointError
from model.paths import assets

VARIABLE = "HEADLIGHT_MODELS"
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
DEEPEST = 12  # folders within each other that are searched
MOST = 50_000  # folders of one root that are searched, so that "/" ends


@dataclass(frozen=True)
class Place:
    """What looks like a checkpoint and is not read yet: a config with weights beside it, an adapter, a single file."""

    name: str
    folder: Path
    shipped: bool


@dataclass(frozen=True)
class Entry:
    """A checkpoint that can be opened by name."""

    name: str
    folder: Path
    config: Config
    shipped: bool

    @property
    def bytes(self) -> int:
        """How large its weights are on disk."""
        return size(self.folder)


def size(place: Path) -> int:
    """How many bytes the weights at a place take on disk; links to what was never fetched take none."""
    files = [path for pattern in (*WEIGHTS, *SINGLE) for path in place.glob(pattern)] if place.is_dir() else [place]
    return sum(path.stat().st_size for path in files if path.is_file())


def places(folders: Iterable[str | Path] = (), *, cache: bool = True, inside: bool = False) -> tuple[Place, ...]:
    """Shipped models, those below `folders` and below $HEADLIGHT_MODELS, then (with `cache`) the Hugging Face cache.

    The first of a name wins. With `inside`, a folder whose links lead out of its root is left out, as it always is in
    the cache.
    """
    named = [*map(Path, folders), *map(Path, filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)))]
    shipped, hub = assets() / "models", hub_cache()
    found: dict[str, Place] = {}
    for root in (shipped, *named, *([hub] if cache else [])):
        for folder in _checkpoints(root):
            if (inside or root == hub) and not _stays_inside(folder, root):
                continue
            name = folder.resolve().name if folder == root else folder.relative_to(root).as_posix()
            name = _hub_name(folder, hub) if root == hub else name
            found.setdefault(name, Place(name, folder, shipped=root == shipped))
    return tuple(found.values())


def catalogue(folders: Iterable[str | Path] = ()) -> tuple[Entry, ...]:
    """The places whose config can be read; why another cannot, `load` says to whoever asks for it by its path."""
    return tuple(entry for place in places(folders) for entry in _entries(place))


def find(name: str, folders: Iterable[str | Path] = (), *, paths: bool = True, fetch: bool = False) -> Path:
    """The folder of a name of the catalogue or, where `paths` allows it, of any path.

    With `fetch`, an id of the Hugging Face Hub that is neither is downloaded into its cache, also what is only there
    in part. Raises CheckpointError that lists the names there are.
    """
    place = next((place for place in places(folders) if place.name == name), None)
    if place and any(True for _ in _entries(place)):
        return place.folder
    if paths and name and os.path.exists(name):  # Path.is_dir would raise for a name longer than any file's
        return Path(name)
    told = ""
    if fetch and is_id(name):
        try:
            return download(name, hub_cache())
        except CheckpointError as error:
            told = f" {error}"
    if place:
        return place.folder  # whoever opens it says what is wrong with it
    known = ", ".join(entry.name for entry in catalogue(folders)) or "none"
    path = ", or the path of a checkpoint folder" if paths else ""
    raise CheckpointError(f"There is no model {name!r}. Known: {known}{path}.{told}")


def _entries(place: Place) -> Iterator[Entry]:
    try:
        yield Entry(place.name, place.folder, read_config(place.folder), place.shipped)
    except (CheckpointError, OSError):
        return


def _checkpoints(root: Path) -> list[Path]:
    if not os.path.isdir(root):
        return []
    found = []
    for number, (folder, below, files) in enumerate(os.walk(root)):
        if number >= MOST:
            break
        path = Path(folder)
        if CONFIG in files and any(any(path.glob(pattern)) for pattern in WEIGHTS):
            found.append(path)
        elif CONFIG not in files:
            found += without_config(path, files)
        deep = len(path.relative_to(root).parts) >= DEEPEST
        below[:] = [] if deep else sorted(name for name in below if not name.startswith("."))
    return sorted(found, key=lambda path: (not _is_newest(path), path))


def _is_newest(snapshot: Path) -> bool:
    """Of several snapshots in the Hub's cache the one that was fetched last, which `refs/main` names."""
    try:
        return (snapshot.parent.parent / "refs" / "main").read_text(encoding="utf-8").strip() == snapshot.name
    except (OSError, ValueError):
        return False


def _stays_inside(place: Path, root: Path) -> bool:
    """Whether nothing that is read for a checkpoint lies outside the root that somebody named, behind links neither."""
    try:
        whole = root.resolve()
        paths = (path for folder in reads(place) for path in (folder, *folder.iterdir()))
        return all(path.resolve().is_relative_to(whole) for path in paths)
    except (OSError, RuntimeError):  # removed meanwhile; links in a circle
        return False


def hub_cache() -> Path:
    """Where huggingface_hub keeps what it downloaded: each file a link from a snapshot into the cache's own blobs."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = os.environ.get("HF_HOME") or Path(caches) / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser().resolve()


def _hub_name(folder: Path, hub: Path) -> str:
    """`models--google--t5/snapshots/0123` as google/t5."""
    parts = folder.relative_to(hub).parts
    if len(parts) == 3 and parts[0].startswith("models--") and parts[1] == "snapshots":
        return hub_name(parts[0])
    return folder.relative_to(hub).as_posix()
