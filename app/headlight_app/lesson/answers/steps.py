"""Answers for lessons: steps with their questions, a teacher's notes, and the hand-in file of a learner."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import lru_cache, partial
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec
from cachetools import LRUCache

from headlight.course.requirements import REQUIREMENTS
from headlight.errors import InputError
from headlight.lessons.asks import question_of
from headlight.lessons.hand_in import first_with_seed, grade_of, hand_in, head_of_grades, line_of_grade
from headlight.lessons.lesson import Lesson
from headlight.lessons.lesson_file import lessons
from headlight.lessons.place import Place
from headlight.questions.kinds import Question
from headlight.questions.marking import mark
from headlight_app.contract.reply import FileAnswer, Reply
from headlight_app.course.contract import AskedQuestion
from headlight_app.inference.context import current_request
from headlight_app.inference.open_models import model_title, open_checkpoint, open_model
from headlight_app.lesson.contract import (
    CollectRequest,
    HandInRequest,
    LessonRow,
    LessonsAnswer,
    LessonsRequest,
    NotesAnswer,
    NotesRequest,
    OfLessonRequest,
    SheetLine,
    StepAnswer,
    StepRequest,
)

SEEDS = 3  # seeds whose answers a teacher sees if a lesson has no texts
_Computed = tuple[StepAnswer, Question | None]


def answer_lessons(request: LessonsRequest) -> Reply[LessonsAnswer]:
    """All lessons."""
    return Reply(LessonsAnswer(lessons=tuple(map(_row, lessons().values()))))


def _row(lesson: Lesson) -> LessonRow:
    return LessonRow(
        name=lesson.name,
        title=lesson.title,
        question=lesson.text("question"),
        about=lesson.about,
        minutes=lesson.minutes,
        version=lesson.version,
        steps=tuple(step.title for step in lesson.steps),
        asks=tuple(step.asks for step in lesson.steps),
        chooses_model=lesson.chooses_model,
        model=lesson.first_model,
        needs=lesson.needs,
    )


def _model(lesson: Lesson, asked: OfLessonRequest[Any]) -> str:
    """The model of the lesson, or the learner's choice. Raises InputError if the model does not suit the lesson."""
    name = (asked.model if lesson.chooses_model else "") or lesson.first_model
    needs = REQUIREMENTS[lesson.needs]
    if name and not needs.suits(open_checkpoint(name, asked.device).model.config):
        raise InputError(f"This lesson needs a model that {needs.words}. Choose another one.")
    return name


def _place(lesson: Lesson, asked: OfLessonRequest[Any], step: int, seed: int) -> Place:
    return Place(lesson, lesson.step(step), _model(lesson, asked), seed, partial(open_checkpoint, device=asked.device))


def answer_step(request: StepRequest) -> Reply[StepAnswer]:
    """A step after a learner's attempts. Raises HeadlightError."""
    answer, question = _computed(request)
    if question is None:
        return Reply(answer)
    found = mark(question, request.tries)
    seen = {name: getattr(question, name) for name in ("kind", "text", "options", "rows", "columns")}
    asked = msgspec.convert({"place": 0} | seen | asdict(found), AskedQuestion)
    waits = answer.opens_after and not found.is_settled
    return Reply(msgspec.structs.replace(answer, question=asked, view="" if waits else answer.view))


def _computed(request: StepRequest) -> _Computed:
    """The step, and its question with the right answer; cached, so that another attempt does not rerun the model."""
    lesson = lessons()[request.lesson]
    place = _place(lesson, request, request.step, request.seed)
    location = open_model(place.model, request.device)[0] if place.model else None
    key = (current_request().visitor, lesson, request.step, request.seed, place.model, location, request.device)
    if key not in _kept():
        scope = place.scope()
        answer = StepAnswer(
            title=place.step.title,
            prose=place.prose(scope),
            text=scope.text,
            view=place.view(scope),
            opens_after=place.step.text("shown") == "after",
            question=None,
        )
        _kept()[key] = answer, question_of(place, scope)
    return _kept()[key]


@lru_cache(maxsize=1)
def _kept() -> LRUCache[object, _Computed]:
    return LRUCache(256)


def answer_notes(request: NotesRequest) -> Reply[NotesAnswer]:
    """A teacher's notes on a step, with the right answer for each text. Raises HeadlightError."""
    lesson = lessons()[request.lesson]
    seeds = range(len(lesson.all("text")) or SEEDS)
    places = [_place(lesson, request, request.step, seed) for seed in seeds]
    lines = [line for place in places if (line := _sheet_line(place))]
    first = places[0]
    return Reply(NotesAnswer(title=first.step.title, notes=first.notes(first.scope()), answers=tuple(lines)))


def _sheet_line(place: Place) -> SheetLine | None:
    question = question_of(place, scope := place.scope())
    if question is None:
        return None
    text = scope.text or f"numbers of seed {place.seed}"
    return SheetLine(text=text, question=question.text, right=question.in_words(question.right))


def answer_hand_in(request: HandInRequest) -> Reply[FileAnswer]:
    """The hand-in file of a learner. Raises HeadlightError."""
    lesson = lessons()[request.lesson]
    model = model_title(_model(lesson, request))
    made = hand_in(lesson, request.seed, model, request.name.strip(), request.answers)
    whose = re.sub(r"[^\w-]+", "-", made.name).strip("-")[:40]
    name = "-".join(filter(None, (lesson.name, whose)))
    return Reply(FileAnswer(name=f"{name}.json", type="application/json"), made.encode())


def answer_collect(request: CollectRequest) -> Reply[FileAnswer]:
    """The table of grades, or an archive of the hand-ins as they came. Faults of a file are said in its row."""
    if request.format == "zip":
        archive = BytesIO()
        with ZipFile(archive, "w", ZIP_DEFLATED) as files:
            for each in request.files:
                files.writestr(each.name, each.file)
        return Reply(FileAnswer(name="hand-ins.zip", type="application/zip"), archive.getvalue())
    first_with = first_with_seed((each.name, each.file.encode()) for each in request.files)
    portion = request.files[request.start : request.start + request.count]
    grades = (grade_of(each.name, each.file.encode(), open_checkpoint, first_with) for each in portion)
    head = head_of_grades() if request.has_head else ""
    table = "".join((head, *map(line_of_grade, grades)))
    return Reply(FileAnswer(name="grades.csv", type="text/csv"), table.encode())
