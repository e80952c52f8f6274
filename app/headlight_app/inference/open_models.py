"""Opens models by name for the current request, which carries the visitor's own checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

from cachetools import LRUCache, cached

from headlight.checkpoints import CatalogEntry, Checkpoint, describe_nonfinite, find_nonfinite, load
from headlight.checkpoints.load import MAX_FREE_FRACTION, choose_device, free_memory
from headlight.errors import CheckpointError
from headlight_app.access.settings import settings
from headlight_app.inference.context import current_request
from headlight_app.inference.model_listing import (
    ListedModel,
    folder_metadata,
    list_folder,
    listed_models,
    modification_time,
)
from headlight_app.inference.model_pool import ModelPool, PooledModel

MODEL_MEMORY_FRACTION = 0.6  # of the memory free at start, for open models


@dataclass(frozen=True)
class ModelLocation:
    """A model's folder, and the time of its last change: a retrained model has another location."""

    folder: Path
    modified: int


def available_models() -> tuple[CatalogEntry, ...]:
    """All models that this visitor can open by name: first the server's, then the visitor's own."""
    return tuple(entry for card in (*listed_models(), *own_models()) if (entry := card.entry))


def find_model(name: str) -> CatalogEntry:
    """A model that this visitor can open, first one of their own. Raises CheckpointError for any other name."""
    own, entries = (card.entry for card in own_models()), available_models()
    for entry in (*filter(None, own), *entries):
        if entry.name == name:
            return entry
    raise CheckpointError(
        f"There is no model {name[:200]!r}. Known: {', '.join(each.name for each in entries) or 'none'}."
    )


def model_title(name: str) -> str:
    """A model's display name: for the visitor's own checkpoint its title, instead of an upload's name or a path."""
    return next((each.title for each in current_request().checkpoints if each.name == name), name)


def own_models() -> tuple[ListedModel, ...]:
    """The models that this visitor uploaded."""
    return tuple(
        list_folder(checkpoint.name, checkpoint.title, Path(checkpoint.folder), own=True)
        for checkpoint in current_request().checkpoints
        if Path(checkpoint.folder).exists()
    )


@lru_cache(maxsize=8)
def available_devices() -> tuple[str, ...]:
    """The devices of this machine, `auto` first."""

    def is_available(name: str) -> bool:
        try:
            choose_device(name)
        except CheckpointError:
            return False
        return True

    return ("auto", *(name for name in ("cpu", "cuda", "mps") if is_available(name)))


@lru_cache(maxsize=1)
def model_pool() -> ModelPool:
    """The one pool of this process; its models are never modified, so visitors can share them."""
    limit = settings().memory_limit
    return ModelPool(limit << 20 if limit else int(free_memory() * MODEL_MEMORY_FRACTION))


def open_model(model: str, device: str = "auto") -> tuple[ModelLocation, PooledModel]:
    """A model that this visitor may open, opened once. Raises CheckpointError for any other name, paths included."""
    pool = model_pool()
    folder, title = _find_folder(model)
    location = ModelLocation(folder, modification_time(folder))
    metadata = folder_metadata(folder, location.modified, title)
    if metadata.error:
        raise CheckpointError(metadata.error)

    def load_now() -> Checkpoint:
        memory_limit = min(pool.budget, int(free_memory() * MAX_FREE_FRACTION))
        return load(folder, name=title, device=device, memory_limit=memory_limit)

    return location, pool.get((folder, location.modified, device), metadata.memory_bytes, load_now)


def open_checkpoint(model: str, device: str = "auto") -> Checkpoint:
    """The weights and tokenizer of a model that this visitor may open."""
    return open_model(model, device)[1].checkpoint


def _find_folder(model: str) -> tuple[Path, str]:
    """The folder and title of a model that this visitor may open: one of the server's, or their own."""
    for refresh in (False, True):  # to find a model trained, or notice one deleted, since the last listing
        offered = listed_models(refresh=refresh)
        own = ((each.name, Path(each.folder), each.title) for each in current_request().checkpoints)
        for name, folder, title in chain(own, ((card.name, card.folder, card.title) for card in offered)):
            if name == model and folder.exists():
                return folder, title
    known = ", ".join(card.name for card in offered)
    raise CheckpointError(f"There is no model {model[:200]!r}. Known: {known or 'none'}.")


def nonfinite_warning(model: str, device: str = "auto") -> str:
    """A sentence on weights that are not finite; empty if all are finite. Checks each model once."""
    location, pooled = open_model(model, device)
    return _nonfinite_warning(location, pooled.checkpoint)


# The key contains no model, so that the cache does not keep models in memory.
@cached(LRUCache(256), key=lambda location, checkpoint: location)
def _nonfinite_warning(location: ModelLocation, checkpoint: Checkpoint) -> str:
    return describe_nonfinite(find_nonfinite(checkpoint))
