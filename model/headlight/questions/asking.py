"""Questions as data: each function states a question of one kind, from its right answer and known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from torch import Tensor

from headlight.questions.kinds import (
    Cells,
    Choice,
    Design,
    Draw,
    Flip,
    Goal,
    Number,
    Order,
    Point,
    Question,
    TypedNumber,
    cell,
    cells,
)
from headlight.views.words import three_digits

DIRECTIONS = ("lower", "higher", "nearly the same")


def ask_whether(text: str, holds: bool, mistake: str = "") -> Question:
    """A yes or no question; `mistake` is the sentence about the wrong answer."""
    wrong = "no" if holds else "yes"
    return choose(text, ("yes", "no"), 0 if holds else 1, {wrong: mistake} if mistake else {})


def ask_largest(
    text: str,
    numbers: Mapping[str, Number],
    mistakes: Mapping[str, str] | None = None,
    because: str = "",
    *,
    least: bool = False,
) -> Choice:
    """Which of several options has the largest number, or the smallest if `least`.

    The feedback on a wrong option states its number, unless `mistakes` has a sentence for it; so does the feedback on
    the right option if no reason is given.
    """
    best = (min if least else max)(numbers.values())
    answer, compared = list(numbers.values()).index(best), "smaller" if least else "larger"
    says = {name: f"“{name}” comes to {_told(number)}; another is {compared}." for name, number in numbers.items()}
    says |= mistakes or {}
    return choose(text, tuple(numbers), answer, says, because or f"It comes to {_told(best)}.")


def ask_best(text: str, losses: Mapping[str, float], noise: float) -> Question:
    """Which of several options has the smallest loss; differences up to `noise` count as ties."""
    best, second, *_ = sorted(losses.values())
    tie = f"the best two are within {noise:.3f}, the noise"
    question = ask_largest(text, losses, {tie: "They are further apart."}, least=True)
    answer = list(losses).index(question.right) if second - best > noise else len(losses)
    return choose(text, (*losses, tie), answer, dict(question.mistakes))


def ask_nearest(
    text: str, options: Mapping[str, Number], number: Number, mistakes: Mapping[str, str] | None = None
) -> Choice:
    """Which of several numbers is nearest to a known one, which is among them (else see `ask_measured`)."""
    distances = {name: abs(each - number) for name, each in options.items()}
    side = {name: "small" if each < number else "large" for name, each in options.items()}
    says = {name: f"{name} is too {side[name]}." for name in options}
    asked = ask_largest(text, distances, says | dict(mistakes or {}), least=True)
    return replace(asked, because="", number=float(number))


def ask_measured(
    text: str,
    guesses: Sequence[float],
    number: float,
    written: Callable[[float], str],
    mistakes: Mapping[float, str] | None = None,
) -> Choice:
    """Which number was measured: the guess that is nearest to it gives way to it, so that what is right is exact.

    `written` writes all of them alike; `mistakes` are sentences about guesses.
    """
    nearest = min(guesses, key=lambda guess: abs(guess - number))
    options = {written(number if guess == nearest else guess): guess for guess in guesses}
    says = {written(guess): said for guess, said in (mistakes or {}).items()}
    return replace(ask_nearest(text, options, nearest, says), number=float(number))


def ask_direction(text: str, change: Number, notable: Number) -> Question:
    """Whether something falls, rises, or changes by less than `notable`."""
    answer = 2 if abs(change) < notable else int(change > 0)
    limit, told = _told(notable), _told(change)
    says = tuple(f"The change is {sign}{limit}." for sign in ("not below −", "not above ", "larger than "))
    if limit == "0":
        says = ("It does not fall.", "It does not rise.", "It changes.")
    told = f"The change is {'+' * (told != '0' and change > 0)}{told}."
    return choose(text, DIRECTIONS, answer, dict(zip(DIRECTIONS, says, strict=True)), told)


def ask_number(
    text: str, answer: Number, *mistakes: tuple[Number, str], hints: tuple[str, ...] = (), because: str = ""
) -> Question:
    """A number to compute; `mistakes` are the numbers of known mistakes, each with its explanation."""
    known = tuple((str(float(number)), says) for number, says in mistakes)
    return TypedNumber(text=text, answer=float(answer), mistakes=known, hints=hints, because=because)


def choose(
    text: str,
    options: tuple[str, ...],
    answer: int,
    says: Mapping[str, str] | None = None,
    because: str = "",
    hints: tuple[str, ...] = (),
) -> Choice:
    """One of several options; `says` are sentences about the wrong ones."""
    mistakes = tuple((says or {}).items())
    return Choice(text=text, options=options, answer=answer, mistakes=mistakes, hints=hints, because=because)


def ask_cell(
    text: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    answer: tuple[int, int],
    *mistakes: tuple[tuple[int, int], str],
    hints: tuple[str, ...] = (),
    because: str = "",
) -> Question:
    """A cell of a map; `mistakes` are the cells of known mistakes, if the map contains them."""
    known = tuple((cell(*place), says) for place, says in mistakes)
    return Point(text=text, rows=rows, columns=columns, answer=answer, mistakes=known, hints=hints, because=because)


def ask_mask(
    text: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    answer: Tensor,
    *mistakes: tuple[Tensor, str],
    hints: tuple[str, ...] = (),
    because: str = "",
) -> Question:
    """A mask to draw, with a tick in each allowed cell."""
    right, known = _rows_of(answer), tuple((cells(_rows_of(mask)), says) for mask, says in mistakes)
    return Draw(text=text, rows=rows, columns=columns, answer=right, mistakes=known, hints=hints, because=because)


def _rows_of(mask: Tensor) -> Cells:
    return tuple(tuple(map(bool, row)) for row in mask.tolist())


def ask_order(
    text: str,
    steps: tuple[str, ...],
    *mistakes: tuple[tuple[str, ...], str],
    hints: tuple[str, ...] = (),
    because: str = "",
) -> Question:
    """Steps to put into the order in which they are given; `mistakes` are other orders of the same steps.

    A page shows them in alphabetical order, or reversed if that would be the right order.
    """
    shown = tuple(sorted(steps)) if tuple(sorted(steps)) != steps else (*steps[1:], steps[0])

    def places(order: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(shown.index(step) for step in order)

    known = tuple((",".join(map(str, places(order))), says) for order, says in mistakes if {*order} == {*steps})
    return Order(text=text, options=shown, answer=places(steps), mistakes=known, hints=hints, because=because)


def ask_design(
    text: str,
    holds: bool,
    told: str,
    *mistakes: tuple[bool, str],
    solution: Mapping[str, str],
    hints: tuple[str, ...] = (),
    because: str = "",
    kind: type[Goal] = Design,
) -> Question:
    """Numbers to change until a goal is reached; `told` is the progress, shown if no known mistake applies."""
    says = next((says for is_made, says in mistakes if is_made), told)
    return kind(text=text, holds=holds, told=says, solution=solution, hints=hints, because=because)


ask_flip = partial(ask_design, kind=Flip)  # a prediction to change


def _told(number: Number) -> str:
    """A number for a sentence; a large one or a count with all its digits, a tiny one is 0."""
    if isinstance(number, int) or abs(number) >= 1000:
        return f"{number:,.0f}".replace("-", "−")
    return three_digits(number) if abs(number) >= 1e-4 else "0"
