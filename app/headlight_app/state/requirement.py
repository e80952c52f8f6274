"""What a page requires of its model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from headlight.config import Config


class Model(Protocol):
    """A model's name and config."""

    @property
    def name(self) -> str: ...

    @property
    def config(self) -> Config: ...


M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Requirement:
    """The models that suit a page; `words` completes "This page needs a model that ".

    `preferred` names the model that the page opens with, if available.
    """

    words: str
    suits: Callable[[Config], bool]
    preferred: str = ""

    def first_of(self, models: Iterable[M]) -> M | None:
        """The preferred one of the suitable models, or else the first; None if none suits."""
        suiting = [model for model in models if self.suits(model.config)]
        return min(suiting, key=lambda model: model.name != self.preferred, default=None)


ANY_MODEL = Requirement("can be opened", lambda config: True)
