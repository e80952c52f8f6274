"""Requests of the Course: the rows of a chapter, and the results of a screen for a learner's inputs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from headlight_app.contract.parts import Fields
from headlight_app.contract.question import Device, Name
from headlight_app.contract.request import Answer, Lane, PageRequest
from headlight_app.contract.state import Label

MAX_INPUTS = 100  # of a screen
QuestionKind = Literal["choice", "number", "point", "draw", "order", "design", "flip"]
Input = Annotated[str, Meta(max_length=100_000)]  # a screen takes far less, and says so in a sentence


class Axis(Struct, frozen=True, kw_only=True):
    """One side of a matrix; those of one name grow and shrink together."""

    name: str
    least: int
    most: int
    labels: tuple[str, ...]


class ControlRow(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Something that a learner can change, and the text of the value that it begins with.

    It is shown only `when` another control has one of some values ("mask=window,padding"), where that is said.
    """

    name: str
    title: str
    default: str
    when: str


class MatrixControl(ControlRow, frozen=True, kw_only=True, tag="matrix"):
    """A table of numbers; with `switches` its cells are 0 or 1."""

    rows: Axis
    columns: Axis
    switches: bool


class NumberControl(ControlRow, frozen=True, kw_only=True, tag="number"):
    """A number between two others."""

    low: float
    high: float
    step: float


class SeedControl(NumberControl, frozen=True, kw_only=True, tag="seed"):
    """A number that begins a row of random ones."""


class PartControl(NumberControl, frozen=True, kw_only=True, tag="part"):
    """A layer or head of the model that the control `model` chooses."""

    part: str


class ChoiceControl(ControlRow, frozen=True, kw_only=True, tag="choice"):
    """One of several options, which have titles."""

    options: dict[str, str]


class TextControl(ControlRow, frozen=True, kw_only=True, tag="text"):
    """A text of several lines at most."""

    longest: int
    lines: int


class ModelControl(ControlRow, frozen=True, kw_only=True, tag="model"):
    """A model that meets the requirement of the name `needs`."""

    needs: str


class RecordingControl(ControlRow, frozen=True, kw_only=True, tag="recording"):
    """A WAV file of the learner's own, by the name that the server has given it."""


Control = (
    MatrixControl
    | NumberControl
    | SeedControl
    | PartControl
    | ChoiceControl
    | TextControl
    | ModelControl
    | RecordingControl
)


class ScreenLink(Struct, frozen=True, kw_only=True):
    """Another screen, and the inputs that it is to have."""

    chapter: str
    screen: str
    inputs: dict[str, str]


class ScreenCode(Struct, frozen=True, kw_only=True):
    """A part of the program that computes a screen."""

    name: str
    code: str


class SymbolRow(Struct, frozen=True, kw_only=True):
    """A symbol of a screen's formulas: how it is written, its name in the table of symbols, and what it means."""

    latex: str
    name: str
    words: str


class ScreenRow(Struct, frozen=True, kw_only=True):
    """A screen as its row says it; `see_also` are screens that go on from this one."""

    name: str
    title: str
    lesson: str
    formulas: tuple[str, ...]
    symbols: tuple[SymbolRow, ...]
    controls: tuple[Control, ...]
    code: tuple[ScreenCode, ...]
    is_long: bool
    see_also: tuple[ScreenLink, ...]


class ScreenTitle(Struct, frozen=True, kw_only=True):
    """A screen in the contents: what it is about, how long it takes, and its number on the core path (0: not on it)."""

    name: str
    title: str
    about: str
    minutes: int
    core: int


class ContentsEntry(Struct, frozen=True, kw_only=True):
    """A chapter in the contents."""

    name: str
    title: str
    summary: str
    screens: tuple[ScreenTitle, ...]


class ChapterAnswer(Answer, frozen=True, kw_only=True):
    """The contents of the course, and the screens of one chapter."""

    contents: tuple[ContentsEntry, ...]
    chapter: str
    screens: tuple[ScreenRow, ...]


class ChapterRequest(PageRequest[ChapterAnswer], frozen=True, kw_only=True):
    """The rows of a chapter; of the first where none is named."""

    route: ClassVar[str] = "course_chapter"

    chapter: Label = ""


class AskedQuestion(Struct, frozen=True, kw_only=True):
    """A screen's question, and what became of the tries so far, of which `given` is the last.

    It stands before the row of the number `place`. A page has a module for each `kind`, which takes the options, or the
    names of rows and columns. Until it is settled the answer is not in it.
    """

    place: int
    kind: QuestionKind
    text: str
    options: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    ruled_out: tuple[str, ...]
    hints: tuple[str, ...]
    more_hints: bool
    given: str
    said: str
    is_settled: bool
    is_right: bool


class ScreenAnswer(Answer, frozen=True, kw_only=True):
    """Rows of pictures, and the parameters of a link to each page where one can go on.

    Where the learner is asked first, `question` is there, and the rows that would tell the answer are not; `answered`
    are the questions before it, which are settled. `can_ask` says whether the screen has a question.

    `headlight.course.pictures` has a dataclass for each kind of picture, which nothing between it and the module that
    draws that kind reads: the rows pass here as they are.
    """

    rows: tuple[Fields, ...]
    links: dict[str, dict[str, str]]
    can_ask: bool
    answered: tuple[AskedQuestion, ...]
    question: AskedQuestion | None


class ScreenRequest(PageRequest[ScreenAnswer], frozen=True, kw_only=True):
    """What a screen shows for its inputs, texts by the names of its controls.

    `model_inputs` are the names of those that name a model, `file_inputs` of those that name a file of the learner's.
    Where it `asks`, the question of the screen comes before what it shows; `tries` are what the learner has answered so
    far, with "?" for a hint and "!" for giving up.
    """

    route: ClassVar[str] = "course_screen"

    chapter: Label
    screen: Label
    inputs: Annotated[
        dict[Input, Input], Meta(max_length=MAX_INPUTS, description="texts by the names of a screen's controls")
    ]
    model_inputs: Annotated[tuple[Name, ...], Meta(max_length=MAX_INPUTS)] = ()
    file_inputs: Annotated[tuple[Name, ...], Meta(max_length=MAX_INPUTS)] = ()
    device: Device = "auto"
    asks: bool = False
    tries: Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=20)] = ()

    def models(self) -> tuple[str, ...]:
        """The names of the models among the inputs."""
        return tuple(self.inputs[name] for name in self.model_inputs if name in self.inputs)

    def images(self) -> tuple[str, ...]:
        """The names of the learner's files among the inputs."""
        return tuple(self.inputs[name] for name in self.file_inputs if self.inputs.get(name))


class RunRequest(ScreenRequest, frozen=True, kw_only=True):
    """The same of a screen that runs for seconds."""

    route: ClassVar[str] = "course_run"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0
