"""The models that every visitor can open; their metadata is cached."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic

from headlight.checkpoints import CatalogEntry
from headlight.checkpoints.catalog import (
    MODELS_VARIABLE,
    CheckpointMetadata,
    checkpoint_locations,
    read_metadata,
    weight_bytes,
)
from headlight.checkpoints.source import files_folder
from headlight_app.access.settings import settings

REFRESH_SECONDS = 10.0  # for which a listing of the folders is cached


@dataclass(frozen=True)
class ListedModel:
    """A checkpoint as the page lists it: `title` is its display name, `disk_bytes` the size of its weights."""

    name: str
    title: str
    folder: Path
    shipped: bool
    disk_bytes: int
    metadata: CheckpointMetadata
    own: bool = False

    @property
    def entry(self) -> CatalogEntry | None:
        """The catalogue entry; None if the checkpoint cannot be opened."""
        config = self.metadata.config
        return None if config is None else CatalogEntry(self.name, self.folder, config, self.shipped)


def listed_models(*, refresh: bool = False) -> tuple[ListedModel, ...]:
    """All models of this server in catalogue order, broken ones included. `refresh` reads the folders again."""
    if refresh:
        _listed_models.cache_clear()
    chosen = settings()
    return _listed_models(
        os.environ.get(MODELS_VARIABLE, ""), chosen.hub_cache, chosen.shared, int(monotonic() / REFRESH_SECONDS)
    )


def list_folder(name: str, title: str, folder: Path, *, shipped: bool = False, own: bool = False) -> ListedModel:
    """The listed model of a folder; its metadata is reread only if a file has changed."""
    return ListedModel(
        name,
        title,
        folder,
        shipped,
        weight_bytes(folder),
        folder_metadata(folder, modification_time(folder), title),
        own,
    )


def modification_time(folder: Path) -> int:
    """When a file of a folder was last written, so that a retrained model is reopened."""
    try:
        with os.scandir(files_folder(folder)) as files:
            return max(map(_written, files), default=0)
    except (NotADirectoryError, FileNotFoundError):
        return _written(folder)


def _written(file: os.DirEntry[str] | Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:  # a link may be broken
        return 0


@lru_cache(maxsize=2)
def _listed_models(folders: str, cache: bool, shared: bool, tick: int) -> tuple[ListedModel, ...]:
    found = []
    for location in checkpoint_locations(include_hub_cache=cache, within_root=shared):
        try:
            found.append(list_folder(location.name, location.name, location.folder, shipped=location.shipped))
        except OSError:
            continue  # deleted during the listing
    return tuple(found)


@lru_cache(maxsize=512)
def folder_metadata(folder: Path, modified: int, title: str) -> CheckpointMetadata:
    """The metadata of a folder, cached by modification time; error sentences name its title."""
    return read_metadata(folder, title)
