"""What a class can be asked of something that a page shows; rows of the registries have theirs beside their title."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exercise:
    """A question for a class, and the answer for its teacher."""

    question: str
    answer: str
