"""Requests of the server itself: be ready, list the models, read a picture."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from headlight_app.contract.parts import Fields
from headlight_app.contract.request import Answer, PageRequest


class Done(Answer, frozen=True, kw_only=True):
    """Nothing but that it is done."""


class ListedModel(Struct, frozen=True, kw_only=True):
    """A checkpoint as the page shows it. `title` is its name where a person reads it, `details` what its card says.

    `kind` is what all models like it do, `purpose` what this one does, where its author says more; `series` is what
    models have in common that were trained alike but for one part. Where it cannot be opened, `problem` says why;
    `config` holds the fields of a Config, and is None where it cannot be read.
    """

    name: str
    title: str
    kind: str
    purpose: str
    family: str
    licence: str
    details: dict[str, str]
    problem: str
    config: Fields | None  # of the backend, which a contract does not import
    shipped: bool = False
    own: bool = False
    has_card: bool = False
    series: str = ""


class ModelsAnswer(Answer, frozen=True, kw_only=True):
    """Models in the order in which they are shown."""

    models: tuple[ListedModel, ...]


class WarmUpRequest(PageRequest[Done], frozen=True, kw_only=True):
    """Open the first model and import everything that answers, before the first visitor asks."""

    route: ClassVar[str] = "warm_up"
    seconds: ClassVar[float] = 120.0
    is_http: ClassVar[bool] = False


class ModelsRequest(PageRequest[ModelsAnswer], frozen=True, kw_only=True):
    """All models that everybody can open here, and what is broken; `refresh` looks at the folders again."""

    route: ClassVar[str] = "models"
    seconds: ClassVar[float] = 60.0
    is_http: ClassVar[bool] = False

    refresh: bool = False


class OwnModelsRequest(PageRequest[ModelsAnswer], frozen=True, kw_only=True):
    """The models that the asking visitor uploaded."""

    route: ClassVar[str] = "own_models"
    is_http: ClassVar[bool] = False
    is_private: ClassVar[bool] = True


class CheckImageRequest(PageRequest[Done], frozen=True, kw_only=True):
    """Whether the picture, or the recording, that comes along can be read."""

    route: ClassVar[str] = "check_image"
    is_http: ClassVar[bool] = False
    is_private: ClassVar[bool] = True

    recording: bool = False
