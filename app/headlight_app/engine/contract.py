"""Requests that the server itself sends: warm up, list the models, check a picture."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from headlight_app.contract.parts import Fields
from headlight_app.contract.request import Answer, PageRequest


class Done(Answer, frozen=True, kw_only=True):
    """An empty answer: the request succeeded."""


class ListedModel(Struct, frozen=True, kw_only=True):
    """A checkpoint as the page lists it. `title` is its display name, `details` are the rows of its card.

    `kind` describes what all models of its type do, `purpose` what this one does, if its author states it. Models
    with the same `series` were trained alike except for one part. If the checkpoint cannot be opened, `problem` says
    why. `config` holds the fields of a Config; None if it cannot be read.
    """

    name: str
    title: str
    kind: str
    purpose: str
    family: str
    licence: str
    details: dict[str, str]
    problem: str
    config: Fields | None  # a dict, since contracts do not import the backend
    shipped: bool = False
    own: bool = False
    has_card: bool = False
    series: str = ""


class ModelsAnswer(Answer, frozen=True, kw_only=True):
    """Models in display order."""

    models: tuple[ListedModel, ...]


class WarmUpRequest(PageRequest[Done], frozen=True, kw_only=True):
    """Open the first model and import all answer functions before the first visitor arrives."""

    route: ClassVar[str] = "warm_up"
    seconds: ClassVar[float] = 120.0
    is_http: ClassVar[bool] = False


class ModelsRequest(PageRequest[ModelsAnswer], frozen=True, kw_only=True):
    """All models offered to every visitor, broken ones included; `refresh` reads the folders again."""

    route: ClassVar[str] = "models"
    seconds: ClassVar[float] = 60.0
    is_http: ClassVar[bool] = False

    refresh: bool = False


class OwnModelsRequest(PageRequest[ModelsAnswer], frozen=True, kw_only=True):
    """The models that the requesting visitor uploaded."""

    route: ClassVar[str] = "own_models"
    is_http: ClassVar[bool] = False
    is_private: ClassVar[bool] = True


class CheckImageRequest(PageRequest[Done], frozen=True, kw_only=True):
    """Checks that the picture or the recording sent along can be read."""

    route: ClassVar[str] = "check_image"
    is_http: ClassVar[bool] = False
    is_private: ClassVar[bool] = True

    recording: bool = False
