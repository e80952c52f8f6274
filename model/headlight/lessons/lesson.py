"""The structure of a lesson file: a header, and steps with their contents and questions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headlight.errors import DataError
from headlight.registry import Registry

OWN_CHOICE = "a checkpoint of your choice"
KEY = re.compile(r"([a-z]+):(?:\s+(.*))?$")


@dataclass(frozen=True)
class Line:
    """A key, its text, and its line number."""

    key: str
    text: str
    number: int


@dataclass(frozen=True)
class FieldRow:
    """A key of a header or a step: a description of its text, and how often it may occur at most."""

    description: str
    most: int = 1


HEADER: Registry[FieldRow] = Registry(
    "field of a lesson's header",
    {
        "title": FieldRow("the title of the lesson"),
        "question": FieldRow("what a learner may want to know who finds this lesson in the list"),
        "minutes": FieldRow("the duration, a whole number"),
        "version": FieldRow("a whole number, a larger one after each change of a question"),
        "model": FieldRow(f"the name of a model, or “{OWN_CHOICE}”"),
        "needs": FieldRow("the requirement on that checkpoint: a name of model/headlight/course/requirements.py"),
        "example": FieldRow("the shipped model with which such a lesson begins and is checked"),
        "place": FieldRow("the lesson's position in the list, a whole number"),
        "text": FieldRow("a text for the model; each learner gets one of several", 12),
        "let": FieldRow("NAME = EXPRESSION, for all steps", 12),
    },
)
STEP: Registry[FieldRow] = Registry(
    "field of a step",
    {
        "view": FieldRow("an address of Explore or another page, such as explore?tab=heads&layer=1"),
        "screen": FieldRow("a screen of the course, such as attention/steps"),
        "input": FieldRow("NAME = TEXT, the value of a control of that screen", 12),
        "shown": FieldRow("“first”, or “after” the answer"),
        "let": FieldRow("NAME = EXPRESSION", 12),
        "ask": FieldRow('the kind of question and its expression, such as largest metric("previous")'),
        "question": FieldRow("the question"),
        "option": FieldRow("NAME => EXPRESSION", 8),
        "mistake": FieldRow("EXPRESSION or NAME of an option => reply", 8),
        "tolerance": FieldRow("the allowed distance from the right number"),
        "notable": FieldRow("the smallest change that counts as a change"),
        "hint": FieldRow("a hint; each says more than the one before", 3),
        "because": FieldRow("the reason, shown with the right answer"),
        "note": FieldRow("a note that only the teacher sees", 8),
    },
)


@dataclass(frozen=True)
class Fields:
    """The lines with keys of a header or a step."""

    lines: tuple[Line, ...]

    def all(self, key: str) -> tuple[Line, ...]:
        """Every line with this key."""
        return tuple(line for line in self.lines if line.key == key)

    def first(self, key: str) -> Line | None:
        """The first line with this key, if there is one."""
        return next((line for line in self.lines if line.key == key), None)

    def text(self, key: str) -> str:
        """The text of the first line with this key, or "" if there is none."""
        line = self.first(key)
        return line.text if line else ""


@dataclass(frozen=True)
class Step(Fields):
    """A step: its title, paragraphs, and lines with keys; `number` is the line of the title."""

    title: str
    number: int
    prose: tuple[Line, ...]

    @property
    def asks(self) -> bool:
        """Whether it has a question."""
        return self.first("ask") is not None


@dataclass(frozen=True)
class Lesson(Fields):
    """A lesson: its name in addresses, the fields of its header, a short introduction, and its steps."""

    name: str
    prose: tuple[Line, ...]
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """The title."""
        return self.text("title")

    @property
    def about(self) -> str:
        """The introduction, which is the text before the first step."""
        return " ".join(line.text for line in self.prose)

    @property
    def minutes(self) -> int:
        """The duration in minutes."""
        return int(self.text("minutes"))

    @property
    def version(self) -> int:
        """The version number."""
        return int(self.text("version"))

    @property
    def place(self) -> int:
        """The position in the list, after all others by default."""
        return int(self.text("place") or 1_000_000)

    @property
    def chooses_model(self) -> bool:
        """Whether the learner opens a checkpoint of their own."""
        return self.text("model") == OWN_CHOICE

    @property
    def needs(self) -> str:
        """The requirement on its model."""
        return self.text("needs") or "one-stack"

    @property
    def first_model(self) -> str:
        """The first model; "" for a lesson on numbers alone."""
        return self.text("example") if self.chooses_model else self.text("model")

    def text_of(self, seed: int) -> str:
        """The text for a learner with this seed."""
        texts = self.all("text")
        return texts[seed % len(texts)].text if texts else ""

    def step(self, place: int) -> Step:
        """A step, counted from 0. Raises DataError."""
        if not 0 <= place < len(self.steps):
            raise DataError(f"The lesson “{self.title}” has {len(self.steps)} steps, so there is no step {place + 1}.")
        return self.steps[place]
