"""The models that a visitor can open, as the engine lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition
from time import monotonic
from typing import Any

from cachetools import LRUCache, cached

from app.access.settings import settings
from app.access.uploads import upload_store
from app.access.visitor import current_visitor
from app.engine.client import REFRESH_SECONDS, ask
from model.config import Config
from model.errors import CheckpointError
from model.validation import from_plain


@dataclass(frozen=True)
class ListedModel:
    """A checkpoint as the page shows it. `title` is its name where a person reads it, `details` what its card says.

    `kind` is what all models like it do, `purpose` what this one does, where its author says more; `series` is what
    models have in common that were trained alike but for one part. Where it cannot be opened, `problem` says why;
    `config` is None where it cannot be read.
    """

    name: str
    title: str
    kind: str
    purpose: str
    family: str
    licence: str
    details: dict[str, str]
    problem: str
    config: Config | None
    shipped: bool = False
    own: bool = False
    has_card: bool = False
    series: str = ""


@dataclass(frozen=True)
class AvailableModel:
    """A model that can be opened, by its name; `purpose` says what it does, `kind` what all models like it do.

    `series` is what it has in common with models that were trained alike but for one part.
    """

    name: str
    title: str
    kind: str
    purpose: str
    config: Config
    series: str = ""


def available_models() -> tuple[AvailableModel, ...]:
    """Everything that this visitor can open by name: what the server offers, then what they brought themselves."""
    found = (*listed_models(), *own_models())
    return tuple(
        AvailableModel(one.name, one.title, one.kind, one.purpose, one.config, one.series)
        for one in found
        if one.config is not None
    )


def trained_with(entry: AvailableModel, entries: Sequence[AvailableModel]) -> dict[str, str]:
    """By positional encoding the name of another model of the series, which was trained with it and is else alike."""
    encoding = entry.config.positional_encoding
    return {
        other.config.positional_encoding: other.name
        for other in entries
        if entry.series == other.series != ""
        and other.config.positional_encoding != encoding
        and other.config.replace(positional_encoding=encoding) == entry.config
    }


def listed_models(*, refresh: bool = False) -> tuple[ListedModel, ...]:
    """All that this server offers, in the catalogue's order; what is broken too. `refresh` looks again at once."""
    if refresh:
        _listed.cache_clear()
    return _listed(int(monotonic() / REFRESH_SECONDS))


def own_models() -> tuple[ListedModel, ...]:
    """What this visitor brought."""
    names = tuple(checkpoint.name for checkpoint in upload_store().owned_by(current_visitor()))
    return _own(current_visitor(), names, int(monotonic() / REFRESH_SECONDS)) if names else ()


def own_titles() -> dict[str, str]:
    """The titles of the visitor's own checkpoints by their names, in lists of all models."""
    return {listed.name: f"{listed.title} (your upload)" for listed in own_models()}


@cached(LRUCache(2), condition=Condition())  # those who come at once wait for the first one's answer
def _listed(tick: int) -> tuple[ListedModel, ...]:
    return _read(ask("models", {"shared": settings().shared})[0])


@cached(LRUCache(128), condition=Condition())
def _own(visitor: str, names: tuple[str, ...], tick: int) -> tuple[ListedModel, ...]:
    return _read(ask("own_models", private=True)[0])


def _read(answer: dict[str, Any]) -> tuple[ListedModel, ...]:
    return tuple(_read_model(plain) for plain in answer["models"])


def _read_model(plain: dict[str, Any]) -> ListedModel:
    config = plain.pop("config")
    return ListedModel(**plain, config=from_plain(Config, config, "config", CheckpointError) if config else None)
