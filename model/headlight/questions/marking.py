"""Marking of a learner's answers to a question: one function for all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headlight.questions.kinds import Question

HINT, GIVE_UP = "?", "!"  # instead of an answer


@dataclass(frozen=True)
class Mark:
    """The result of a learner's attempts: whether everything is shown now, and the feedback.

    `ruled_out` are the options that were tried and are wrong, `more_hints` whether another hint exists, `given` is the
    last answer, and `mistake` the sentence of the known mistake that gives it.
    """

    is_settled: bool
    is_right: bool
    said: str
    hints: tuple[str, ...]
    more_hints: bool
    ruled_out: tuple[str, ...]
    given: str
    mistake: str


def mark(question: Question, tries: Sequence[str]) -> Mark:
    """Mark a learner's attempts so far; each is an answer, HINT or GIVE_UP.

    A wrong answer of a known mistake gets the sentence of that mistake, and a second attempt. If no other answer is
    left, or after TRIES attempts, the right answer is told.
    """
    given = [each for each in tries if each not in (HINT, GIVE_UP) and question.is_answer(each)]
    is_right = bool(given) and question.agrees(given[-1], question.right)
    is_settled = is_right or GIVE_UP in tries or len(given) >= question.tries
    all_hints = (*question.hints, *question.last_hints)
    mistakes = (says for answer, says in question.mistakes if given and question.agrees(given[-1], answer))
    mistake = next(mistakes, "")
    hints = all_hints[: tries.count(HINT)]
    return Mark(
        is_settled,
        is_right,
        _said(question, tries, given, is_right, is_settled, mistake),
        hints,
        len(hints) < len(all_hints),
        tuple(each for each in given if not question.agrees(each, question.right)) if question.excludes else (),
        given[-1] if given else "",
        mistake,
    )


def _said(
    question: Question, tries: Sequence[str], given: list[str], is_right: bool, is_settled: bool, mistake: str
) -> str:
    if not tries or (tries[-1] == HINT and not given):
        return ""
    if is_right:
        return " ".join(filter(None, ("Right.", question.because)))
    if not given and not is_settled:
        return question.refuse(tries[-1])
    begins = mistake or (question.describe(given[-1]) if given else "")
    return " ".join(filter(None, (begins, question.tell() if is_settled else "Try once more.")))
