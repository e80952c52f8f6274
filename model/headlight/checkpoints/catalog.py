"""List of available checkpoints: shipped models, those below given folders, the Hugging Face cache."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from headlight.checkpoints.files.file_rules import CONFIG, SINGLE_FILES
from headlight.checkpoints.hub import download_model, is_hub_id
from headlight.checkpoints.load import read_config
from headlight.checkpoints.source import candidates_without_config, folders_read, hub_id
from headlight.config import Config
from headlight.errors import CheckpointError, shortened
from headlight.paths import assets_dir, read_regular

MODELS_VARIABLE = "HEADLIGHT_MODELS"
DEFAULT_MODEL = "stories-causal"  # opened by the pages at first
WEIGHT_PATTERNS = ("*.safetensors", "pytorch_model*.bin")
MAX_SEARCH_DEPTH = 12  # levels of folders that are searched
MAX_FOLDERS = 50_000  # folders of one root that are searched, so that "/" ends


@dataclass(frozen=True)
class CheckpointLocation:
    """A probable checkpoint, not read yet: a config with weights beside it, an adapter, or a single file."""

    name: str
    folder: Path
    shipped: bool


@dataclass(frozen=True)
class CatalogEntry:
    """A checkpoint that can be opened by name."""

    name: str
    folder: Path
    config: Config
    shipped: bool

    @property
    def size_bytes(self) -> int:
        """Size of its weights on disk."""
        return weight_bytes(self.folder)


def weight_bytes(location: Path) -> int:
    """Bytes that the weights of a checkpoint take on disk; links to files that were never fetched take none."""
    files = (
        [path for pattern in (*WEIGHT_PATTERNS, *SINGLE_FILES) for path in location.glob(pattern)]
        if location.is_dir()
        else [location]
    )
    return sum(path.stat().st_size for path in files if path.is_file())


def checkpoint_locations(
    folders: Iterable[str | Path] = (), *, include_hub_cache: bool = True, within_root: bool = False
) -> tuple[CheckpointLocation, ...]:
    """Shipped models, those below `folders` and $HEADLIGHT_MODELS, then (`include_hub_cache`) the Hugging Face cache.

    DEFAULT_MODEL is the first of all, and the first of a name wins. With `within_root`, folders whose links lead out of
    their root are left out, as they always are in the cache.
    """
    roots = [*map(Path, folders), *map(Path, filter(None, os.environ.get(MODELS_VARIABLE, "").split(os.pathsep)))]
    shipped, hub = assets_dir() / "models", hub_cache_folder()
    locations: dict[str, CheckpointLocation] = {}
    for root in (shipped, *roots, *([hub] if include_hub_cache else [])):
        for folder in sorted(_search_root(root), key=lambda path: path != shipped / DEFAULT_MODEL):
            if (within_root or root == hub) and not _stays_within(folder, root):
                continue
            name = folder.resolve().name if folder == root else folder.relative_to(root).as_posix()
            name = _hub_name(folder, hub) if root == hub else name
            locations.setdefault(name, CheckpointLocation(name, folder, shipped=root == shipped))
    return tuple(locations.values())


def catalog(folders: Iterable[str | Path] = ()) -> tuple[CatalogEntry, ...]:
    """Checkpoints whose config can be read; `load` says why another cannot."""
    return tuple(entry for place in checkpoint_locations(folders) for entry in _readable_entries(place))


def find_checkpoint(
    name: str, folders: Iterable[str | Path] = (), *, allow_paths: bool = True, fetch: bool = False
) -> Path:
    """The folder of a name in the catalog, or (`allow_paths`) any path.

    With `fetch`, a model id of the Hugging Face Hub is downloaded into its cache, or completed there. Raises
    CheckpointError that lists the known names.
    """
    location = next((place for place in checkpoint_locations(folders) if place.name == name), None)
    if location and any(True for _ in _readable_entries(location)):
        return location.folder
    if allow_paths and name and os.path.exists(name):  # Path.is_dir would raise for a name longer than any file's
        return Path(name)
    reason = ""
    if fetch and is_hub_id(name):
        try:
            return download_model(name, hub_cache_folder())
        except CheckpointError as error:
            reason = f" {error}"
    if location:
        return location.folder  # `load` says what is wrong with it
    known = ", ".join(entry.name for entry in catalog(folders)) or "none"
    path = ", or the path of a checkpoint folder" if allow_paths else ""
    raise CheckpointError(f"There is no model {shortened(name)!r}. Known: {known}{path}.{reason}")


def _readable_entries(location: CheckpointLocation) -> Iterator[CatalogEntry]:
    try:
        yield CatalogEntry(location.name, location.folder, read_config(location.folder), location.shipped)
    except CheckpointError:
        return


def _search_root(root: Path) -> list[Path]:
    if not os.path.isdir(root):
        return []
    found = []
    for number, (folder, below, files) in enumerate(os.walk(root)):
        if number >= MAX_FOLDERS:
            break
        path = Path(folder)
        if CONFIG in files and any(any(path.glob(pattern)) for pattern in WEIGHT_PATTERNS):
            found.append(path)
        elif CONFIG not in files:
            found += candidates_without_config(path, files)
        at_max_depth = len(path.relative_to(root).parts) >= MAX_SEARCH_DEPTH
        below[:] = [] if at_max_depth else sorted(name for name in below if not name.startswith("."))
    return sorted(found, key=lambda path: (not _is_current_snapshot(path), path))


def _is_current_snapshot(snapshot: Path) -> bool:
    """Whether a snapshot in the Hub's cache is the latest, which `refs/main` names."""
    try:
        return read_regular(snapshot.parent.parent / "refs" / "main", 1_000).decode().strip() == snapshot.name
    except (OSError, ValueError):
        return False


def _stays_within(location: Path, root: Path) -> bool:
    """Whether all files of a checkpoint lie within the root, with links followed."""
    try:
        resolved_root = root.resolve()
        paths = (path for folder in folders_read(location) for path in (folder, *folder.iterdir()))
        return all(path.resolve().is_relative_to(resolved_root) for path in paths)
    except (OSError, RuntimeError):  # removed meanwhile, or links in a circle
        return False


def hub_cache_folder() -> Path:
    """The cache folder of huggingface_hub; a snapshot's files in it are links to blobs."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = os.environ.get("HF_HOME") or Path(caches) / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser().resolve()


def _hub_name(folder: Path, hub: Path) -> str:
    """`models--google--t5/snapshots/0123` as google/t5."""
    parts = folder.relative_to(hub).parts
    if len(parts) == 3 and parts[0].startswith("models--") and parts[1] == "snapshots":
        return hub_id(parts[0])
    return folder.relative_to(hub).as_posix()
