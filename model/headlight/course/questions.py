"""Questions before a picture: their right answer is computed by the screen, and one function marks all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from headlight.course.pictures import Row
from headlight.course.question_kinds import (
    Cells,
    Choice,
    Draw,
    Number,
    Order,
    Point,
    Question,
    TypedNumber,
    cell,
    cells,
    is_close,
)

DIRECTIONS = ("lower", "higher", "nearly the same")
HINT, GIVE_UP = "?", "!"  # in place of an answer


@dataclass(frozen=True)
class Mark:
    """What becomes of a learner's tries: whether all is shown now, and what is said.

    `ruled_out` are the options that were tried in vain, `more_hints` whether another hint can be had.
    """

    is_settled: bool
    is_right: bool
    said: str
    hints: tuple[str, ...]
    more_hints: bool
    ruled_out: tuple[str, ...]


def mark(question: Question, tries: Sequence[str]) -> Mark:
    """Mark what a learner has tried so far; each is an option, a number, HINT or GIVE_UP.

    A wrong answer that a known mistake explains gets the sentence of that mistake, and there is a second try. Where no
    other answer is left, or after TRIES, the right one is told.
    """
    given = [each for each in tries if each not in (HINT, GIVE_UP) and question.is_answer(each)]
    is_right = bool(given) and question.agrees(given[-1], question.right)
    is_settled = is_right or GIVE_UP in tries or len(given) >= question.tries
    all_hints = (*question.hints, *question.last_hints)
    hints = all_hints[: tries.count(HINT)]
    return Mark(
        is_settled,
        is_right,
        _said(question, tries, given, is_right, is_settled),
        hints,
        len(hints) < len(all_hints),
        tuple(each for each in given if not question.agrees(each, question.right)) if question.excludes else (),
    )


def withhold(rows: Sequence[Row], tries: Sequence[str]) -> tuple[tuple[Row, ...], int, Question | None, Mark | None]:
    """What may be shown of a screen: its rows, the place of its question among them, the question, and its mark.

    Until the question is settled, its row and those after it are left out: they would tell the answer.
    """
    place = next((place for place, row in enumerate(rows) if row.question), None)
    if place is None:
        return tuple(rows), 0, None, None
    question = rows[place].question
    assert question is not None
    found = mark(question, tries)
    shown = rows if found.is_settled else rows[:place]
    return tuple(replace(row, question=None) for row in shown), place, question, found


def _said(question: Question, tries: Sequence[str], given: list[str], is_right: bool, is_settled: bool) -> str:
    if not tries or (tries[-1] == HINT and not given):
        return ""
    if is_right:
        return " ".join(filter(None, ("Right.", question.because)))
    if not given and not is_settled:
        return question.refuse(tries[-1])
    mistakes = [says for answer, says in question.mistakes if given and question.agrees(given[-1], answer)]
    begins = mistakes[0] if mistakes else question.describe(given[-1]) if given else ""
    ends = f"It is {question.in_words(question.right)}. {question.because}" if is_settled else "Try once more."
    return " ".join(filter(None, (begins, ends.strip())))


def ask_whether(text: str, holds: bool, mistake: str = "") -> Question:
    """Yes or no; `mistake` is said of the wrong one."""
    wrong = "no" if holds else "yes"
    return choose(text, ("yes", "no"), 0 if holds else 1, {wrong: mistake} if mistake else {})


def ask_largest(
    text: str,
    numbers: Mapping[str, Number],
    mistakes: Mapping[str, str] | None = None,
    because: str = "",
    *,
    least: bool = False,
) -> Question:
    """Which of several has the largest number, or the smallest where `least`.

    Of a wrong option its own number is said, unless `mistakes` have a sentence for it.
    """
    best = (min if least else max)(numbers.values())
    answer, compared = list(numbers.values()).index(best), "smaller" if least else "larger"
    says = {name: f"“{name}” comes to {_told(number)}; another is {compared}." for name, number in numbers.items()}
    says |= mistakes or {}
    return choose(text, tuple(numbers), answer, says, because)


def ask_best(text: str, losses: Mapping[str, float], noise: float) -> Question:
    """Which of several has the smallest loss, where a difference up to `noise` decides nothing."""
    best, second, *_ = sorted(losses.values())
    tie = f"the best two are within {noise:.3f}, the noise"
    question = ask_largest(text, losses, {tie: "They are further apart."}, least=True)
    answer = list(losses).index(question.right) if second - best > noise else len(losses)
    return choose(text, (*losses, tie), answer, dict(question.mistakes))


def ask_nearest(
    text: str, options: Mapping[str, Number], number: Number, mistakes: Mapping[str, str] | None = None
) -> Question:
    """Which of several numbers is nearest to what was found."""
    distances = {name: abs(each - number) for name, each in options.items()}
    side = {name: "small" if each < number else "large" for name, each in options.items()}
    says = {name: f"{name} is too {side[name]}." for name in options}
    return ask_largest(text, distances, says | dict(mistakes or {}), least=True)


def ask_direction(text: str, change: Number, notable: Number) -> Question:
    """Whether something falls, rises, or changes by less than what is notable."""
    answer = 2 if abs(change) < notable else int(change > 0)
    says = tuple(f"The change is {sign} {notable:.3g}." for sign in ("not below −", "not above ", "larger than "))
    return choose(text, DIRECTIONS, answer, dict(zip(DIRECTIONS, says, strict=True)))


def ask_number(
    text: str, answer: Number, *mistakes: tuple[Number, str], hints: tuple[str, ...] = (), because: str = ""
) -> Question:
    """A number to be worked out; `mistakes` are numbers that known mistakes give, with what is wrong about them."""
    known = dict[str, str]()  # a mistake that happens to give the right number is none here
    for number, says in mistakes:
        if not is_close(number, answer):
            known.setdefault(str(float(number)), says)
    return TypedNumber(text=text, answer=float(answer), mistakes=tuple(known.items()), hints=hints, because=because)


def choose(
    text: str,
    options: tuple[str, ...],
    answer: int,
    says: Mapping[str, str] | None = None,
    because: str = "",
    hints: tuple[str, ...] = (),
) -> Question:
    """One of several options; `says` are sentences on those that are not the answer."""
    mistakes = tuple((name, said) for name, said in (says or {}).items() if name in options and name != options[answer])
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
    """A cell of a map; `mistakes` are cells that known mistakes lead to, where the map has them."""
    known = dict[str, str]()
    for (row, column), says in mistakes:
        if (row, column) != answer and 0 <= row < len(rows) and 0 <= column < len(columns):
            known.setdefault(cell(row, column), says)
    return Point(
        text=text, rows=rows, columns=columns, answer=answer, mistakes=tuple(known.items()), hints=hints,
        because=because,
    )  # fmt: skip


def ask_mask(
    text: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    answer: Tensor,
    *mistakes: tuple[Tensor, str],
    hints: tuple[str, ...] = (),
    because: str = "",
) -> Question:
    """A mask to be drawn, with a tick where one may look."""
    right = _rows_of(answer)
    known = dict[str, str]()
    for mask, says in mistakes:
        if _rows_of(mask) != right:
            known.setdefault(cells(_rows_of(mask)), says)
    return Draw(
        text=text, rows=rows, columns=columns, answer=right, mistakes=tuple(known.items()), hints=hints,
        because=because,
    )  # fmt: skip


def _rows_of(mask: Tensor) -> Cells:
    return tuple(tuple(map(bool, row)) for row in mask.tolist())


def ask_order(
    text: str,
    steps: tuple[str, ...],
    *mistakes: tuple[tuple[str, ...], str],
    hints: tuple[str, ...] = (),
    because: str = "",
) -> Question:
    """Steps, given in their order, to be put into it; `mistakes` are orders of the same steps.

    A page shows them in the order of the alphabet, or turned where that would be right.
    """
    shown = tuple(sorted(steps)) if tuple(sorted(steps)) != steps else (*steps[1:], steps[0])

    def places(order: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(shown.index(step) for step in order)

    known = {
        ",".join(map(str, places(order))): says for order, says in mistakes if order != steps and {*order} == {*steps}
    }
    return Order(
        text=text, options=shown, answer=places(steps), mistakes=tuple(known.items()), hints=hints, because=because
    )


def _told(number: Number) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:.3g}"
