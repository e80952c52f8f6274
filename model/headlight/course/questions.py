"""Questions before a picture: their right answer is computed by the screen, and one function marks all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose

from headlight.course.pictures import Number, Question, Row

DIRECTIONS = ("lower", "higher", "nearly the same")
HINT, GIVE_UP = "?", "!"  # in place of an answer
TRIES = 2
TOLERANCE = 0.006  # of a number that is typed with two digits


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
    given = [each for each in tries if each not in (HINT, GIVE_UP) and _is_answer(question, each)]
    is_right = bool(given) and _matches(question, given[-1], question.answer)
    most = min(TRIES, len(question.options) - 1) if question.options else TRIES
    is_settled = is_right or GIVE_UP in tries or len(given) >= most
    all_hints = hints_of(question)
    hints = all_hints[: tries.count(HINT)]
    return Mark(
        is_settled,
        is_right,
        _said(question, tries, given, is_right, is_settled),
        hints,
        len(hints) < len(all_hints),
        tuple(each for each in given if not _matches(question, each, question.answer)) if question.options else (),
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


def hints_of(question: Question) -> tuple[str, ...]:
    """The question's own hints, and a last one that rules something out."""
    if not question.options:
        low, high = sorted((question.answer * 0.75, question.answer * 1.5))
        return (*question.hints, f"It lies between {low:.3g} and {high:.3g}." if question.answer else "It is small.")
    wrong = [each for place, each in enumerate(question.options) if place != question.answer]
    return (*question.hints, f"It is not “{wrong[-1]}”.") if len(wrong) > 1 else question.hints


def right_answer(question: Question) -> str:
    """The right answer in words."""
    return question.options[int(question.answer)] if question.options else f"{question.answer:.4g}"


def _is_answer(question: Question, given: str) -> bool:
    return given in question.options if question.options else _number(given) is not None


def _number(text: str) -> float | None:
    try:
        return float(text.strip().replace("−", "-").replace(",", "."))
    except ValueError:
        return None


def _matches(question: Question, given: str, wanted: str | int | float) -> bool:
    if question.options:
        return given == (wanted if isinstance(wanted, str) else question.options[int(wanted)])
    number = _number(given)
    return number is not None and _is_close(number, float(wanted))


def _is_close(number: Number, wanted: Number) -> bool:
    return isclose(number, wanted, rel_tol=0.01, abs_tol=TOLERANCE)


def _said(question: Question, tries: Sequence[str], given: list[str], is_right: bool, is_settled: bool) -> str:
    if not tries or (tries[-1] == HINT and not given):
        return ""
    if is_right:
        return " ".join(filter(None, ("Right.", question.because)))
    if not given and not is_settled:
        return f"“{tries[-1][:20]}” is not a number. Type one such as 0.5."
    mistakes = [says for answer, says in question.mistakes if given and _matches(question, given[-1], answer)]
    begins = mistakes[0] if mistakes else "Not quite." if given else ""
    ends = f"It is {right_answer(question)}. {question.because}" if is_settled else "Try once more."
    return " ".join(filter(None, (begins, ends.strip())))


def ask_whether(text: str, holds: bool, mistake: str = "") -> Question:
    """Yes or no; `mistake` is said of the wrong one."""
    return Question(text, ("yes", "no"), 0 if holds else 1, (("no" if holds else "yes", mistake),) if mistake else ())


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
    answer = int(question.answer) if second - best > noise else len(losses)
    says = {str(name): said for name, said in question.mistakes}
    return choose(text, (*losses, tie), answer, says)


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
    known = dict[float, str]()  # a mistake that happens to give the right number is none here
    for number, says in mistakes:
        if not _is_close(number, answer):
            known.setdefault(float(number), says)
    return Question(text, (), float(answer), tuple(known.items()), hints, because)


def choose(
    text: str,
    options: tuple[str, ...],
    answer: int,
    says: Mapping[str, str],
    because: str = "",
    hints: tuple[str, ...] = (),
) -> Question:
    """One of several options; `says` are sentences on those that are not the answer."""
    mistakes = tuple((name, said) for name, said in says.items() if name in options and name != options[answer])
    return Question(text, options, answer, mistakes, hints, because)


def _told(number: Number) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:.3g}"
