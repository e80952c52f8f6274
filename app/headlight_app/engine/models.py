"""The models that a visitor can open, as the engine lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from headlight.config import Config
from headlight.errors import CheckpointError
from headlight.validation import from_plain
from headlight_app.access.uploads import describe_ownership, upload_store
from headlight_app.access.visitor import current_visitor
from headlight_app.contract.reply import decode_reply
from headlight_app.engine.client import forget_shared, shared_reply
from headlight_app.engine.contract import ListedModel, ModelsAnswer, ModelsRequest, OwnModelsRequest


@dataclass(frozen=True)
class AvailableModel:
    """A model that can be opened; `purpose` says what it does, `kind` what all models of its type do.

    Models with the same `series` were trained alike except for one part.
    """

    name: str
    title: str
    kind: str
    purpose: str
    config: Config
    series: str = ""


@dataclass(frozen=True)
class KnownModels:
    """The listed models, broken ones included, and the available ones, which can be opened."""

    listed: tuple[ListedModel, ...] = ()
    available: tuple[AvailableModel, ...] = ()


def available_models() -> tuple[AvailableModel, ...]:
    """All models that this visitor can open by name: first the server's, then the visitor's own."""
    return (*_offered().available, *_own_models().available)


def trained_with(entry: AvailableModel, entries: Sequence[AvailableModel]) -> dict[str, str]:
    """Names of other models of the series by their positional encoding, if they differ in nothing else."""
    encoding = entry.config.positional_encoding
    return {
        other.config.positional_encoding: other.name
        for other in entries
        if entry.series == other.series != ""
        and other.config.positional_encoding != encoding
        and other.config.replace(positional_encoding=encoding) == entry.config
    }


def listed_models(*, refresh: bool = False) -> tuple[ListedModel, ...]:
    """All models of this server in catalogue order, broken ones included. `refresh` reads the folders again."""
    if refresh:
        forget_shared()
    return _offered().listed


def own_models() -> tuple[ListedModel, ...]:
    """The models that this visitor uploaded."""
    return _own_models().listed


def own_titles() -> dict[str, str]:
    """The list titles of the visitor's own checkpoints, by name."""
    return {listed.name: f"{listed.title} ({describe_ownership(listed.name)})" for listed in own_models()}


def _own_models() -> KnownModels:
    visitor = current_visitor()
    names = tuple(checkpoint.name for checkpoint in upload_store().owned_by(visitor))
    return _known(shared_reply(OwnModelsRequest(), visitor, names)) if names else KnownModels()


def _offered() -> KnownModels:
    return _known(shared_reply(ModelsRequest()))


@lru_cache(maxsize=128)
def _known(reply: bytes) -> KnownModels:
    answer = decode_reply(ModelsAnswer, reply).answer
    available = (
        AvailableModel(
            one.name,
            one.title,
            one.kind,
            one.purpose,
            from_plain(Config, one.config, "config", CheckpointError),
            one.series,
        )
        for one in answer.models
        if one.config is not None
    )
    return KnownModels(answer.models, tuple(available))
