"""Marks of hand-ins, which are recomputed from their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from headlight.errors import DataError, HeadlightError, counted
from headlight.lessons.asks import question_of
from headlight.lessons.hand_in_file import HandIn, read_hand_in
from headlight.lessons.lesson import Lesson
from headlight.lessons.lesson_file import lessons
from headlight.lessons.place import Open, Place
from headlight.paths import read_regular
from headlight.questions.marking import HINT, mark

MAX_BYTES = 200_000
CHANGED = "The digest does not fit: the file was changed after it was saved, or damaged in transfer."
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"  # a cell that begins with one of these is a formula; also the wide ones
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")  # a line break begins a row, even inside a name


@dataclass(frozen=True)
class Grade:
    """A line of the table of grades. `points` are right answers, `at_once` those of a first try without a hint."""

    file: str
    name: str = ""
    lesson: str = ""
    version: str = ""
    seed: str = ""
    model: str = ""
    points: str = ""
    of: str = ""
    at_once: str = ""
    problem: str = ""


def collect(files: Iterable[Path], open_model: Open) -> Iterator[Grade]:
    """The grades of files, one for each; problems of a file are stated in its row."""
    first_with: dict[tuple[str, int], str] = {}
    for path in files:
        try:
            grade = grade_of(path.name, read_regular(path, MAX_BYTES), open_model, first_with)
        except OSError as error:
            grade = Grade(path.name, problem=f"The file cannot be read: {error.strerror or 'no regular file'}.")
        yield grade


def first_with_seed(files: Iterable[tuple[str, bytes]]) -> dict[tuple[str, int], str]:
    """The name of the first file with each lesson and seed; what is no hand-in is left out."""
    first_with: dict[tuple[str, int], str] = {}
    for name, raw in files:
        with suppress(DataError):
            handed = read_hand_in(raw)
            first_with.setdefault((handed.lesson, handed.seed), name)
    return first_with


def grade_of(file: str, raw: bytes, open_model: Open, first_with: dict[tuple[str, int], str]) -> Grade:
    """The grade of one file; `first_with` records the first file with each seed."""
    try:
        handed = read_hand_in(raw)
    except DataError as error:
        return Grade(file, problem=str(error))
    known = {name: str(getattr(handed, name)) for name in ("name", "lesson", "version", "seed", "model")}
    problems = [] if handed.digest == handed.with_digest().digest else [CHANGED]
    earlier = first_with.setdefault((handed.lesson, handed.seed), file)
    if earlier != file:
        problems.append(f"It has the same seed as {earlier}: one may be a copy of the other.")
    try:
        points, of, at_once = marks(handed, open_model)
        known |= {"points": str(points), "of": str(of), "at_once": str(at_once)}
    except HeadlightError as error:
        problems.append(str(error))
    return Grade(file, problem=" ".join(problems), **known)


def marks(handed: HandIn, open_model: Open) -> tuple[int, int, int]:
    """The numbers of right answers, of all questions, and of answers right at once. Raises HeadlightError."""
    lesson = lessons()[handed.lesson]
    if handed.version != lesson.version:
        raise DataError(
            f"It was made with version {handed.version} of the lesson; the version here is {lesson.version}."
        )
    if len(handed.answers) != len(lesson.steps):
        raise DataError(
            f"It has answers to {counted(len(handed.answers), 'step')}; the lesson has {len(lesson.steps)}."
        )
    model = handed.model if lesson.chooses_model else lesson.first_model
    if {"/", "\\"} & set(model):  # an untrusted file must not choose a folder of this machine
        raise DataError(
            "It names its checkpoint by a path. Give --models the folder of that checkpoint on this machine."
        )
    points = of = at_once = 0
    for step, tries in zip(lesson.steps, handed.answers, strict=True):
        place = Place(lesson, step, model, handed.seed, open_model)
        question = question_of(place, place.scope()) if step.asks else None
        if question is None:
            continue
        found = mark(question, tries)
        of, points = of + 1, points + found.is_right
        at_once += found.is_right and HINT not in tries and len(tries) == 1
    return points, of, at_once


def hand_in(lesson: Lesson, seed: int, model: str, name: str, answers: tuple[tuple[str, ...], ...]) -> HandIn:
    """A learner's hand-in, with its digest."""
    fields: dict[str, Any] = {"seed": seed, "model": model, "name": name, "answers": answers}
    return HandIn(lesson=lesson.name, version=lesson.version, **fields).with_digest()


def head_of_grades() -> str:
    """The first line of the table of grades (CSV)."""
    return _table_line(field.name for field in fields(Grade))


def line_of_grade(grade: Grade) -> str:
    """A grade as a line of the table."""
    return _table_line(map(cell, astuple(grade)))


def _table_line(cells: Iterable[str]) -> str:
    return ",".join('"{}"'.format(each.replace('"', '""')) for each in cells) + "\n"


def cell(text: str) -> str:
    """A text as a table cell on one line that spreadsheets do not treat as a formula."""
    line = _CONTROL.sub(" ", text).strip()
    return f"'{line}" if line.startswith(tuple(_FORMULA)) else line
