"""Requests of lessons: the list, a step as the learner sees it, a teacher's notes, and the hand-in file."""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, Literal

from msgspec import Meta, Struct

from headlight_app.contract.question import Device, Name
from headlight_app.contract.reply import FileAnswer
from headlight_app.contract.request import A_co, Answer, Lane, PageRequest
from headlight_app.contract.sampling import MAX_SEED
from headlight_app.contract.state import Label
from headlight_app.course.contract import AskedQuestion

MAX_STEPS = 100
MAX_COLLECTED = 480  # hand-ins of a room
Portion = Annotated[int, Meta(ge=0, le=MAX_COLLECTED, description=f"a whole number from 0 to {MAX_COLLECTED}")]
Seed = Annotated[int, Meta(ge=0, le=MAX_SEED, description="a whole number from 0")]
Tries = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=20)]


class LessonRow(Struct, frozen=True, kw_only=True):
    """A lesson in the list. If it `chooses_model`, it runs on the learner's open model, which must meet `needs`."""

    name: str
    title: str
    question: str  # by which a learner finds it; may be empty
    about: str
    minutes: int
    version: int
    steps: tuple[str, ...]
    asks: tuple[bool, ...]
    chooses_model: bool
    model: str
    needs: str


class LessonsAnswer(Answer, frozen=True, kw_only=True):
    """All lessons, in their order."""

    lessons: tuple[LessonRow, ...]


class LessonsRequest(PageRequest[LessonsAnswer], frozen=True, kw_only=True):
    """All available lessons."""

    route: ClassVar[str] = "lessons"


class OfLessonRequest(PageRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about one learner's lesson; `model` counts only if the lesson lets the learner choose it."""

    lesson: Label
    seed: Seed
    model: Name = ""
    device: Device = "auto"

    def models(self) -> tuple[str, ...]:
        """The model if one is chosen."""
        return (self.model,) if self.model else ()


class StepAnswer(Answer, frozen=True, kw_only=True):
    """A step: its paragraphs, the text that the model reads, the address of its view, and its question.

    `view` is "" if there is none, or if it `opens_after` an answer that is still missing.
    """

    title: str
    prose: tuple[str, ...]
    text: str
    view: str
    opens_after: bool
    question: AskedQuestion | None


class StepRequest(OfLessonRequest[StepAnswer], frozen=True, kw_only=True):
    """A step of a lesson after the learner's attempts: "?" requests a hint, and "!" gives up."""

    route: ClassVar[str] = "lesson_step"
    seconds: ClassVar[float] = 30.0

    step: Annotated[int, Meta(ge=0, lt=MAX_STEPS)]
    tries: Tries = ()


class SheetLine(Struct, frozen=True, kw_only=True):
    """The right answer for one of the lesson's texts or seeds."""

    text: str
    question: str
    right: str


class NotesAnswer(Answer, frozen=True, kw_only=True):
    """A teacher's notes on a step, and its right answers."""

    title: str
    notes: tuple[str, ...]
    answers: tuple[SheetLine, ...]


class NotesRequest(OfLessonRequest[NotesAnswer], frozen=True, kw_only=True):
    """A teacher's notes on a step."""

    route: ClassVar[str] = "lesson_notes"
    seconds: ClassVar[float] = 60.0

    step: Annotated[int, Meta(ge=0, lt=MAX_STEPS)]


class HandInRequest(OfLessonRequest[FileAnswer], frozen=True, kw_only=True):
    """The hand-in file: a learner's answers step by step, with a digest."""

    route: ClassVar[str] = "lesson_hand_in"

    name: Annotated[str, Meta(max_length=100)] = ""
    answers: Annotated[tuple[Tries, ...], Meta(max_length=MAX_STEPS)]


class NamedHandIn(Struct, frozen=True, kw_only=True):
    """A hand-in file that a class gave to its teacher, and the name under which the table of grades lists it."""

    name: Annotated[str, Meta(pattern=r"\A[a-z0-9_-]{1,60}\.json\Z", description="the name of a JSON file")]
    file: Annotated[str, Meta(max_length=20_000)]


class CollectRequest(PageRequest[FileAnswer], frozen=True, kw_only=True):
    """The grades of hand-ins as a table, recomputed as by `headlight lesson collect`, or their files in one.

    A class may take longer than a request: the table has `count` of the files from `start` on. The others only tell
    which of them share a seed.
    """

    route: ClassVar[str] = "lesson_collect"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    files: Annotated[tuple[NamedHandIn, ...], Meta(max_length=MAX_COLLECTED)]
    format: Literal["csv", "zip"]
    start: Portion = 0
    count: Portion = MAX_COLLECTED
    has_head: bool = True
