"""Kinds of questions: each parses an answer from a text, knows the right answer, and explains wrong ones.

A kind is a class in KINDS, and a module in app/headlight_app/course/frontend/questions that draws it by the same name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from sys import maxsize
from typing import ClassVar

from headlight.errors import shortened
from headlight.registry import Registry
from headlight.views.words import digits, three_digits

TRIES = 2
TOLERANCE = 0.006  # for a number typed with two decimals
Number = float | int
Cells = tuple[tuple[bool, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """A question for a learner, before they see a row of plots and the rows below it.

    `mistakes` are the wrong answers of known mistakes, each with its explanation; `hints` reveal more and more, and
    `because` is the reason, shown at the end. `options`, `rows` and `columns` are names for the page to show.
    """

    kind: ClassVar[str]
    excludes: ClassVar[bool] = False  # whether a wrong answer cannot be given twice
    shows_row: ClassVar[bool] = False  # whether its row of plots is already visible while it is asked
    text: str
    mistakes: tuple[tuple[str, str], ...] = ()
    hints: tuple[str, ...] = ()
    because: str = ""
    options: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = dict[str, str]()  # without mistakes that happen to give the right answer
        for given, says in self.mistakes:
            if self.is_answer(given) and not self.agrees(given, self.right):
                known.setdefault(given, says)
        object.__setattr__(self, "mistakes", tuple(known.items()))

    @property
    @abstractmethod
    def right(self) -> str:
        """The right answer, in the format that a page sends."""

    @abstractmethod
    def is_answer(self, given: str) -> bool:
        """Whether a text is a valid answer."""

    def agrees(self, given: str, wanted: str) -> bool:
        """Whether two answers are equal."""
        return given == wanted

    def in_words(self, given: str) -> str:
        """An answer in words."""
        return given

    def tell(self) -> str:
        """The right answer and its reason, for the end of the question."""
        return f"The answer is {self.in_words(self.right)}. {self.because}".strip()

    @property
    def tries(self) -> int:
        """The number of attempts."""
        return TRIES

    @property
    def last_hints(self) -> tuple[str, ...]:
        """The hints after all others have been shown."""
        return ()

    def refuse(self, given: str) -> str:
        """The sentence about a text that is not a valid answer."""
        return f"“{shortened(given, 20)}” is not a possible answer. Choose one that is shown."

    def describe(self, given: str) -> str:
        """The sentence about a wrong answer without a known mistake."""
        return "Not quite."


@dataclass(frozen=True, kw_only=True)
class Choice(Question):
    """One of several options; `answer` is the place of the right one, `number` the computed number that it states."""

    kind: ClassVar[str] = "choice"
    excludes: ClassVar[bool] = True
    answer: int
    number: float | None = None

    @property
    def right(self) -> str:
        return self.options[self.answer]

    def is_answer(self, given: str) -> bool:
        return given in self.options

    def tell(self) -> str:
        return f"The answer is “{self.right}”. {self.because}".strip()

    @property
    def tries(self) -> int:
        return min(TRIES, len(self.options) - 1)

    @property
    def last_hints(self) -> tuple[str, ...]:
        wrong = [each for each in self.options if each != self.right]
        return (f"It is not “{wrong[-1]}”.",) if len(wrong) > 1 else ()


@dataclass(frozen=True, kw_only=True)
class TypedNumber(Question):
    """A number that the learner computes and types."""

    kind: ClassVar[str] = "number"
    answer: float
    tolerance: float = TOLERANCE

    @property
    def right(self) -> str:
        return str(self.answer)

    def is_answer(self, given: str) -> bool:
        return _number(given) is not None

    def agrees(self, given: str, wanted: str) -> bool:
        one, other = _number(given), _number(wanted)
        return one is not None and other is not None and is_close(one, other, self.tolerance)

    def in_words(self, given: str) -> str:
        number = _number(given)
        return given if number is None else digits(number, 4)

    @property
    def last_hints(self) -> tuple[str, ...]:
        low, high = sorted((self.answer * 0.75, self.answer * 1.5))
        return (f"It lies between {three_digits(low)} and {three_digits(high)}." if self.answer else "It is small.",)

    def refuse(self, given: str) -> str:
        return f"“{shortened(given, 20)}” is not a number. Type one such as 0.5."


def _number(text: str) -> float | None:
    try:
        return float(text.strip().replace("−", "-").replace(",", "."))
    except ValueError:
        return None


def is_close(number: Number, wanted: Number, tolerance: float = TOLERANCE) -> bool:
    """Whether two numbers are equal when typed with two decimals."""
    return isclose(number, wanted, rel_tol=0.01, abs_tol=tolerance)


@dataclass(frozen=True, kw_only=True)
class Point(Question):
    """A cell of a map, by its row and its column: `2,0`."""

    kind: ClassVar[str] = "point"
    excludes: ClassVar[bool] = True
    answer: tuple[int, int]

    @property
    def right(self) -> str:
        return cell(*self.answer)

    def is_answer(self, given: str) -> bool:
        return given in {cell(row, column) for row in range(len(self.rows)) for column in range(len(self.columns))}

    def in_words(self, given: str) -> str:
        row, column = map(int, given.split(","))
        return f"the cell in row “{self.rows[row]}”, column “{self.columns[column]}”"

    @property
    def last_hints(self) -> tuple[str, ...]:
        return (f"It is in row “{self.rows[self.answer[0]]}”.",)

    def describe(self, given: str) -> str:
        same = [place == right for place, right in zip(given.split(","), self.right.split(","), strict=True)]
        return (
            "The row is right, the column is not." if same[0] else "The column is right." if same[1] else "Not quite."
        )


def cell(row: int, column: int) -> str:
    """A cell in the format of an answer."""
    return f"{row},{column}"


@dataclass(frozen=True, kw_only=True)
class Draw(Question):
    """A mask: `1,0;1,1` has a tick in each cell except one."""

    kind: ClassVar[str] = "draw"
    answer: Cells

    @property
    def right(self) -> str:
        return cells(self.answer)

    def is_answer(self, given: str) -> bool:
        rows = [row.split(",") for row in given.split(";")]
        has_shape = [len(row) for row in rows] == [len(self.columns)] * len(self.rows)
        return has_shape and {each for row in rows for each in row} <= {"0", "1"}

    def in_words(self, given: str) -> str:
        named = zip(self.rows, given.split(";"), strict=True)
        return "; ".join(f"“{name}”: {self._ticked(row)}" for name, row in named)

    def _ticked(self, row: str) -> str:
        return ", ".join(name for name, tick in zip(self.columns, row.split(","), strict=True) if tick == "1") or "none"

    @property
    def last_hints(self) -> tuple[str, ...]:
        return (f"“{self.rows[-1]}”: {self._ticked(self.right.split(';')[-1])}.",)

    def describe(self, given: str) -> str:
        pairs = zip(given.split(";"), self.right.split(";"), strict=True)
        wrong = [name for name, (row, right) in zip(self.rows, pairs, strict=True) if row != right]
        ticks = zip(given.replace(";", ","), self.right.replace(";", ","), strict=True)
        return f"{sum(one != other for one, other in ticks)} of the cells are wrong, the first in row “{wrong[0]}”."


def cells(mask: Sequence[Sequence[bool]]) -> str:
    """A mask in the format of an answer."""
    return ";".join(",".join(str(int(each)) for each in row) for row in mask)


@dataclass(frozen=True, kw_only=True)
class Order(Question):
    """Steps to put in order: `2,0,1` starts with the last of `options`, which are not in the right order."""

    kind: ClassVar[str] = "order"
    answer: tuple[int, ...]

    @property
    def right(self) -> str:
        return ",".join(map(str, self.answer))

    def is_answer(self, given: str) -> bool:
        return sorted(given.split(",")) == sorted(map(str, range(len(self.options))))

    def in_words(self, given: str) -> str:
        return ", ".join(self.options[int(place)] for place in given.split(","))

    @property
    def last_hints(self) -> tuple[str, ...]:
        return (f"“{self.options[self.answer[0]]}” is first.",)

    def describe(self, given: str) -> str:
        places = zip(given.split(","), self.right.split(","), strict=True)
        at = next(at for at, (one, other) in enumerate(places) if one != other)
        return "The first is not right." if at == 0 else f"The first {at} of them are right."


CHECK = "check"


@dataclass(frozen=True, kw_only=True)
class Goal(Question):
    """A goal to reach by changing the screen: the change is the answer, and the submitted text is CHECK.

    `holds`: whether the learner's values reach the goal; `told` says what is still missing, and `because` describes one
    way to it; `solution` are inputs that reach it.
    """

    excludes: ClassVar[bool] = True
    holds: bool
    told: str
    solution: Mapping[str, str]

    @property
    def right(self) -> str:
        return CHECK

    def is_answer(self, given: str) -> bool:
        return given == CHECK

    def agrees(self, given: str, wanted: str) -> bool:
        return self.holds

    @property
    def tries(self) -> int:
        return maxsize

    def tell(self) -> str:
        return self.because

    def describe(self, given: str) -> str:
        return self.told


class Design(Goal):
    """Numbers to choose until a goal is reached; their effect is always visible."""

    kind: ClassVar[str] = "design"
    shows_row: ClassVar[bool] = True


class Flip(Goal):
    """A text or a model to change until a prediction changes; the new prediction is visible only after an attempt."""

    kind: ClassVar[str] = "flip"


KINDS: Registry[type[Question]] = Registry(
    "kind of question", {kind.kind: kind for kind in (Choice, TypedNumber, Point, Draw, Order, Design, Flip)}
)
