"""Controls, with which a learner changes a screen. Each parses its value from a text in the address."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from math import isfinite
from typing import Any, ClassVar

import torch

from headlight.array_types import Float
from headlight.config import Config
from headlight.course.requirements import REQUIREMENTS
from headlight.errors import InputError, shortened

MAX_INPUT_LENGTH = 5_000  # characters of one input


@dataclass(frozen=True)
class Control(ABC):
    """A control: its title, and its default value as text. `kind` says how a page draws it.

    `when` ("mask=window,padding") names another control and those of its values for which this one is shown.
    """

    kind: ClassVar[str]
    title: str
    default: str
    _: KW_ONLY
    when: str = ""

    @abstractmethod
    def parse(self, text: str) -> Any:
        """The value of a text. Raises InputError with a sentence."""


@dataclass(frozen=True)
class Axis:
    """One axis of a matrix: the names of its rows or columns, and how many there may be.

    Matrices of one screen grow and shrink together along axes of the same name.
    """

    name: str
    least: int = 1
    most: int = 6
    labels: tuple[str, ...] = ()

    def label(self, index: int) -> str:
        """The name of a row or column, or its number, counted from 0, if it has no name."""
        return self.labels[index] if index < len(self.labels) else str(index)

    def label_all(self, count: int) -> tuple[str, ...]:
        """The names of the first rows or columns."""
        return tuple(self.label(index) for index in range(count))


@dataclass(frozen=True)
class MatrixControl(Control):
    """A table of numbers, as text `1,0;0,1`. With `switches` its cells are 0 or 1 and a click toggles them."""

    kind: ClassVar[str] = "matrix"
    _: KW_ONLY
    rows: Axis
    columns: Axis
    low: float | int = -100
    high: float | int = 100
    switches: bool = False

    def parse(self, text: str) -> Float[torch.Tensor, "row column"]:
        """The matrix."""
        rows = [[cell.strip() for cell in row.split(",")] for row in text.split(";")]
        for side, axis, count in (("row", self.rows, len(rows)), ("column", self.columns, len(rows[0]))):
            if not axis.least <= count <= axis.most:
                possible = f"{axis.least} to {axis.most}" if axis.least < axis.most else f"{axis.least}"
                given = f"{count} {side}{'' if count == 1 else 's'} ({axis.name})"
                raise InputError(f"The matrix {self.title} has {given}; possible: {possible}.")
        for number, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"Row {number} of {self.title} has length {len(row)}, but row 0 has length {len(rows[0])}. All "
                    "rows of a matrix need the same length."
                )
        return torch.tensor(
            [
                [self._parse_cell(cell, row, column) for column, cell in enumerate(cells)]
                for row, cells in enumerate(rows)
            ]
        )

    def _parse_cell(self, text: str, row: int, column: int) -> float:
        place = f"Row {row}, column {column} of {self.title}"
        number = parse_number(text, place, self.low, self.high)
        if self.switches and number not in (0, 1):
            raise InputError(f"{place} is {text}; it must be 1 or 0.")
        return number


@dataclass(frozen=True)
class NumberControl(Control):
    """A slider from `low` to `high`; with `whole` its value is a whole number, and with `even` an even one."""

    kind: ClassVar[str] = "number"
    low: float | int
    high: float | int
    _: KW_ONLY
    step: float | int = 1
    whole: bool = False
    even: bool = False

    def parse(self, text: str) -> float | int:
        """The number."""
        number = parse_number(text, self.title, self.low, self.high)
        if not self.whole:
            return number
        if number != int(number):
            raise InputError(f"{self.title} is {text}; it must be a whole number.")
        if self.even and number % 2:
            raise InputError(f"{self.title} is {int(number)}; it must be even, because channels go in pairs.")
        return int(number)


@dataclass(frozen=True)
class CountControl(NumberControl):
    """A slider over whole numbers."""

    whole: bool = field(default=True, kw_only=True)


@dataclass(frozen=True)
class SeedControl(CountControl):
    """The seed of random draws, with a button that draws again."""

    kind: ClassVar[str] = "seed"
    title: str = "Seed"
    default: str = "1"
    low: float | int = 0
    high: float | int = 9_999


@dataclass(frozen=True)
class ChoiceControl(Control):
    """A choice between named options; `options` maps names to titles."""

    kind: ClassVar[str] = "choice"
    options: dict[str, str] = field(default_factory=dict)

    def parse(self, text: str) -> str:
        """The name."""
        if text not in self.options:
            raise InputError(f"{self.title} is {shortened(text, 30)!r}; possible are {', '.join(self.options)}.")
        return text


# The two modes of many screens: the learner's own numbers, or the same in a trained model.
ON = ChoiceControl("Shown on", "numbers", {"numbers": "My numbers", "model": "A trained model"})


@dataclass(frozen=True)
class TextControl(Control):
    """A text; `lines` allows several lines."""

    kind: ClassVar[str] = "text"
    _: KW_ONLY
    longest: int = 200
    lines: int = 1

    def parse(self, text: str) -> str:
        """The text."""
        if not text.strip():
            raise InputError(f"“{self.title}” is empty. Type something.")
        if len(text) > self.longest:
            raise InputError(
                f"“{self.title}” has {len(text):,} characters; at most {self.longest:,} are allowed. Shorten it."
            )
        return text


@dataclass(frozen=True)
class RecordingControl(Control):
    """A WAV file of the learner's own, by the name under which it is stored; `compute` receives its samples.

    Without a file it is None. Addresses never contain this name, but `shared` instead.
    """

    kind: ClassVar[str] = "recording"
    default: str = ""
    shared: ClassVar[str] = "own"

    def parse(self, text: str) -> str | None:
        """The name, or None; the caller of `compute` reads the file."""
        if text == self.shared:
            raise InputError(
                "This link was made with a recording, which it does not include. Choose a WAV file of your own, or go "
                "back to the tones."
            )
        return text or None


@dataclass(frozen=True)
class ModelControl(Control):
    """A model by its name; `compute` receives the opened Checkpoint. `needs` names a row of REQUIREMENTS."""

    kind: ClassVar[str] = "model"
    title: str = field(default="Model", kw_only=True)
    _: KW_ONLY
    needs: str = "one-stack"

    def parse(self, text: str) -> str:
        """The name; the caller of `compute` opens the model."""
        return text

    def require(self, config: Config) -> None:
        """Raise InputError for a model that does not suit this screen."""
        requirement = REQUIREMENTS[self.needs]
        if not requirement.suits(config):
            raise InputError(f"This screen needs a model that {requirement.words}. Choose another model.")


@dataclass(frozen=True)
class PartControl(CountControl):
    """A layer or head of the model chosen by the control `model`, counted from 0; `part` names a row of PARTS.

    A page offers the parts that the model has. If another model has fewer, its last one is used.
    """

    kind: ClassVar[str] = "part"
    low: float | int = 0
    high: float | int = 1_023
    _: KW_ONLY
    part: str


def parse_number(text: str, place: str, low: float | int, high: float | int) -> float:
    """A number between two others; `place` is its name in error sentences. Raises InputError."""
    expected = f"a number from {_plainly(low)} to {_plainly(high)}"
    try:
        number = float(text.replace("−", "-"))
    except ValueError:
        given = f"{shortened(text, 30)!r}" if text.strip() else "empty"
        raise InputError(f"{place} is {given}; it takes {expected}.") from None
    if not (isfinite(number) and low <= number <= high):
        raise InputError(f"{place} is {shortened(text.strip(), 30)}; it takes {expected}.")
    return number


def _plainly(number: float | int) -> str:
    """A number as people write it: 1,000,000 instead of 1e+06."""
    return (f"{number:,.0f}" if number == int(number) else f"{number:g}").replace("-", "−")
