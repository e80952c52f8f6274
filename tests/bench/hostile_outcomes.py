"""Outcomes of hostile cases, the checks of their error sentences, and the table of all."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from headlight.errors import MAX_SENTENCE_LENGTH, HeadlightError

HEADING = (
    "| hostile | cases | answers | sentences | went wrong | tracebacks | other failures | median | slowest |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
)
WENT_WRONG, TRACEBACK = "Something went wrong", "Traceback (most recent call last)"


class WrongAnswer(Exception):
    """An answer that is neither right nor an error sentence."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: its seconds, its failure (empty: none), and whether it ended in an answer."""

    kind: str
    seed: int
    seconds: float
    wrong: str
    answered: bool = False


@contextmanager
def sentences(path: str) -> Iterator[None]:
    """Let a HeadlightError pass as an answer if it is one short sentence without the path."""
    try:
        yield
    except HeadlightError as error:
        require_sentence(str(error) or "(an empty sentence)", path)


def require_sentence(said: str, path: str) -> None:
    """Raise WrongAnswer for anything but one short sentence without the path."""
    said.encode()  # raises for lone surrogates, which no page can show
    strange = len(said) > MAX_SENTENCE_LENGTH + 10 or "\n" in said or path in said or said.startswith("(an empty")
    if strange or WENT_WRONG in said:
        raise WrongAnswer(f"not an error sentence: {said[:300]!r}")


def table(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """A line for every failed case, then a row for each kind."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.kind, []).append(outcome)
        if outcome.wrong:
            yield f"{outcome.kind} {outcome.seed}: {outcome.wrong} ({outcome.seconds:.1f} s)"
    yield from HEADING
    for kind, ended in found.items():
        wrong = [outcome.wrong for outcome in ended if outcome.wrong]
        went, logged = (sum(sign in sentence for sentence in wrong) for sign in (WENT_WRONG, TRACEBACK))
        answers = sum(outcome.answered and not outcome.wrong for outcome in ended)
        counts = (answers, len(ended) - answers - len(wrong), went, logged, len(wrong) - went - logged)
        seconds = [outcome.seconds for outcome in ended]
        shown = " | ".join(f"{count:,}" for count in (len(ended), *counts))
        yield f"| {kind} | {shown} | {np.median(seconds):.2f} s | {max(seconds):.1f} s |"
