"""What a page needs of the model that it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from model.config import Config


@dataclass(frozen=True)
class Requirement:
    """Which models suit a page; `words` completes "This page needs a model that "."""

    words: str
    suits: Callable[[Config], bool]


ANY_MODEL = Requirement("can be opened", lambda config: True)
