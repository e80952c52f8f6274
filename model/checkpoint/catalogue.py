"""What can be opened: the shipped models, and those in folders somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from model.assets import assets
from model.checkpoint.contents import CONFIG
from model.checkpoint.folder import read_config
from model.config import Config
from model.errors import CheckpointError

VARIABLE = "HEADLIGHT_MODELS"
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


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
        return sum(path.stat().st_size for pattern in _WEIGHTS for path in self.folder.glob(pattern))


def catalogue(folders: Iterable[str | Path] = ()) -> tuple[Entry, ...]:
    """Shipped models, those below `folders` and below $HEADLIGHT_MODELS, then the Hugging Face cache.

    The first of a name wins.
    """
    named = [*map(Path, folders), *map(Path, filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)))]
    shipped = assets() / "models"
    entries: dict[str, Entry] = {}
    for root in (shipped, *named, hub := _hub()):
        for folder in _checkpoints(root):
            name = folder.resolve().name if folder == root else folder.relative_to(root).as_posix()
            if root == hub:
                if not all(path.resolve().is_relative_to(hub) for path in folder.iterdir()):
                    continue  # its links lead out of the cache
                name = _hub_name(folder, hub)
            try:
                entries.setdefault(name, Entry(name, folder, read_config(folder), shipped=root == shipped))
            except CheckpointError:
                continue  # not one of ours; `load` says why to whoever asks for it by its path
    return tuple(entries.values())


def find(name: str, folders: Iterable[str | Path] = (), *, paths: bool = True) -> Path:
    """The folder of a name of the catalogue or, where `paths` allows it, of any path.

    Raises CheckpointError that lists the names there are.
    """
    entries = {entry.name: entry.folder for entry in catalogue(folders)}
    if name in entries:
        return entries[name]
    if paths and name and os.path.exists(name):  # Path.is_dir would raise for a name longer than any file's
        return Path(name)
    known = ", ".join(entries) or "none"
    path = ", or the path of a checkpoint folder" if paths else ""
    raise CheckpointError(f"There is no model {name!r}. Known: {known}{path}.")


def _checkpoints(root: Path) -> list[Path]:
    if not os.path.isdir(root):
        return []
    folders = sorted({path.parent for path in root.rglob(CONFIG) if path.is_file()})
    return [folder for folder in folders if any(any(folder.glob(pattern)) for pattern in _WEIGHTS)]


def _hub() -> Path:
    """Where huggingface_hub keeps what it downloaded: each file a link from a snapshot into the cache's own blobs."""
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").resolve()


def _hub_name(folder: Path, hub: Path) -> str:
    """`models--google--t5/snapshots/0123` as google/t5."""
    parts = folder.relative_to(hub).parts
    if len(parts) == 3 and parts[0].startswith("models--") and parts[1] == "snapshots":
        return "/".join(parts[0].split("--")[1:])
    return folder.relative_to(hub).as_posix()
