"""Rows of views."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headlight.views.kinds import Verdict, View

if TYPE_CHECKING:
    from headlight.questions.kinds import Question


@dataclass(frozen=True)
class Origin:
    """The models, as trained, that numbers are from, if not the page's own run; `words` say how they were measured.

    `brief` is a shorter sentence, for a figure.
    """

    models: tuple[str, ...]
    words: str
    brief: str


@dataclass(frozen=True)
class Row:
    """Views side by side, under a heading of their own. A `question` may be asked before they are shown.

    Consecutive `folded` rows are hidden together until their heading is opened. A row that is not about the page's own
    run names its `origin`.
    """

    views: tuple[View, ...] = field(default=())
    title: str = ""
    text: str = ""
    question: Question | None = None
    folded: bool = False
    origin: Origin | None = None


def as_rows(shown: Iterable[Row | View | str]) -> tuple[Row, ...]:
    """Rows unchanged, and each single view or sentence in a row of its own."""
    return tuple(each if isinstance(each, Row) else row(each) for each in shown)


def fold(*shown: Row | View | str) -> tuple[Row, ...]:
    """Further rows that would make a screen longer than two windows; the first heading opens them."""
    return tuple(replace(each, folded=True) for each in as_rows(shown))


def row(*shown: View | str, title: str = "", text: str = "", question: Question | None = None) -> Row:
    """A row of views; a plain sentence becomes a Verdict without judgement."""
    return Row(tuple(Verdict(each) if isinstance(each, str) else each for each in shown), title, text, question)
