"""The requirements of a page on its model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from headlight.config import Config


class Model(Protocol):
    """A model's name, and what it is built like."""

    @property
    def name(self) -> str: ...

    @property
    def config(self) -> Config: ...


M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Requirement:
    """Which models suit a page; `words` completes "This page needs a model that ".

    `preferred` names the one that it opens with, if that is here.
    """

    words: str
    suits: Callable[[Config], bool]
    preferred: str = ""

    def first_of(self, models: Iterable[M]) -> M | None:
        """The preferred one of the models that suit, or the first."""
        suiting = [model for model in models if self.suits(model.config)]
        return min(suiting, key=lambda model: model.name != self.preferred, default=None)


ANY_MODEL = Requirement("can be opened", lambda config: True)
