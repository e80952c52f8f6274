"""Questions before a picture; the screen's code has just computed their right answer."""

from __future__ import annotations

from collections.abc import Mapping

from headlight.course.pictures import Number, Question

DIRECTIONS = ("lower", "higher", "nearly the same")


def ask_whether(text: str, holds: bool) -> Question:
    """Yes or no."""
    return Question(text, ("yes", "no"), 0 if holds else 1)


def ask_largest(text: str, numbers: Mapping[str, Number]) -> Question:
    """Which of several has the largest number."""
    return Question(text, tuple(numbers), list(numbers.values()).index(max(numbers.values())))


def ask_best(text: str, losses: Mapping[str, float], noise: float) -> Question:
    """Which of several has the smallest loss, where a difference up to `noise` decides nothing."""
    best, second, *_ = sorted(losses.values())
    question = ask_largest(text, {name: -loss for name, loss in losses.items()})
    answer = question.answer if second - best > noise else len(losses)
    return Question(text, (*losses, f"the best two are within {noise:.3f}, the noise"), answer)


def ask_nearest(text: str, options: Mapping[str, Number], number: Number) -> Question:
    """Which of several numbers is nearest to what was found."""
    return ask_largest(text, {name: -abs(each - number) for name, each in options.items()})


def ask_direction(text: str, change: Number, notable: Number) -> Question:
    """Whether something falls, rises, or changes by less than what is notable."""
    return Question(text, DIRECTIONS, 2 if abs(change) < notable else int(change > 0))
