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
Input = Annotated[str, Meta(max_length=100_000)]  # screens have lower limits, with their own errors


class Axis(Struct, frozen=True, kw_only=True):
    """One side of a matrix; axes of the same name are resized together."""

    name: str
    least: int
    most: int
    labels: tuple[str, ...]


class ControlRow(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Something that a learner can change, and the text of its initial value.

    If `when` is set ("mask=window,padding"), it is shown only while another control has one of these values.
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
    """The seed of random numbers."""


class PartControl(NumberControl, frozen=True, kw_only=True, tag="part"):
    """A layer or head of the model chosen by the control `model`."""

    part: str


class ChoiceControl(ControlRow, frozen=True, kw_only=True, tag="choice"):
    """One of several options with titles."""

    options: dict[str, str]


class TextControl(ControlRow, frozen=True, kw_only=True, tag="text"):
    """A text of at most `longest` characters; its field shows `lines` lines."""

    longest: int
    lines: int


class ModelControl(ControlRow, frozen=True, kw_only=True, tag="model"):
    """A model that meets the requirement named `needs`."""

    needs: str


class RecordingControl(ControlRow, frozen=True, kw_only=True, tag="recording"):
    """A WAV file of the learner, by the name that the server has given it."""


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
    """Another screen, with inputs for it."""

    chapter: str
    screen: str
    inputs: dict[str, str]


class ScreenCode(Struct, frozen=True, kw_only=True):
    """A part of the program that computes a screen."""

    name: str
    code: str


class SymbolRow(Struct, frozen=True, kw_only=True):
    """A symbol of a screen's formulas: its LaTeX, its name in the table of symbols, and its meaning."""

    latex: str
    name: str
    words: str


class ScreenRow(Struct, frozen=True, kw_only=True):
    """The row of a screen; `see_also` are screens that continue from this one."""

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
    """A screen in the contents: its subject, its duration, and its number on the core path (0: not on it)."""

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
    """The contents of the course, questions with the screens that answer them, and the screens of one chapter.

    A screen of two chapters is in `same`, with the address under which its progress and answers are kept.
    """

    contents: tuple[ContentsEntry, ...]
    entries: dict[str, str]
    same: dict[str, str]
    chapter: str
    screens: tuple[ScreenRow, ...]


class ChapterRequest(PageRequest[ChapterAnswer], frozen=True, kw_only=True):
    """The rows of a chapter; of the first if none is named."""

    route: ClassVar[str] = "course_chapter"

    chapter: Label = ""


class AskedQuestion(Struct, frozen=True, kw_only=True):
    """A screen's question, and the outcome of the tries so far; `given` is the last try, `mistake` its known mistake.

    It is shown before the row with the index `place`. The page has a module for each `kind`, which uses the options, or
    the names of rows and columns. The question does not contain its answer until it is settled.
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
    mistake: str
    said: str
    is_settled: bool
    is_right: bool


class ScreenAnswer(Answer, frozen=True, kw_only=True):
    """Rows of views, and the parameters of a link to each page on which the learner can continue.

    If questions come first, the answer contains `question`, but not the rows that would reveal its answer; `answered`
    are the earlier, settled questions. `can_ask`: whether the screen has a question.

    `headlight.views` has a dataclass for each kind of view, and the browser a module that draws it. The
    rows are passed on unchanged.
    """

    rows: tuple[Fields, ...]
    links: dict[str, dict[str, str]]
    can_ask: bool
    answered: tuple[AskedQuestion, ...]
    question: AskedQuestion | None


class ScreenRequest(PageRequest[ScreenAnswer], frozen=True, kw_only=True):
    """The results of a screen for its inputs, which are texts by the names of its controls.

    `model_inputs` are the controls whose inputs are models, `file_inputs` those whose inputs are the learner's files.
    If it `asks`, the screen's question comes before the results; `tries` are the learner's answers so far, with "?" for
    a hint and "!" for giving up.
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
    """The same for a screen that runs for seconds."""

    route: ClassVar[str] = "course_run"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0
