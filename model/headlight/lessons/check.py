"""Checks a lesson: computes every expression on each of its texts, as a learner would see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isclose
from typing import TypeVar

import numpy as np

from headlight.course.requirements import REQUIREMENTS
from headlight.errors import DataError, HeadlightError
from headlight.lessons.asks import question_of
from headlight.lessons.lesson import Lesson, Line, Step
from headlight.lessons.lesson_file import Fault, read_lesson
from headlight.lessons.place import LineError, Open, Place
from headlight.lessons.scope import Scope
from headlight.questions.kinds import Question
from headlight.questions.marking import mark
from headlight.views.words import three_digits

SEEDS = 3  # tried for a lesson on numbers alone
MARGIN = 0.02  # relative distance of the right number to the next; smaller ones are invisible
HINTS = 3  # of a question; if the kind of question has its own hint, that is the last of them
SHOWN = ("first", "after")
FILLED = ("question", "hint", "because", "note")  # texts with numbers in them
T = TypeVar("T")


def check_text(name: str, text: str, open_model: Open, model: str = "") -> tuple[Fault, ...]:
    """The faults of a lesson, by lines; `model` replaces its first model."""
    lesson, faults = read_lesson(name, text)
    return faults or tuple(sorted(set(_faults(lesson, open_model, model or lesson.first_model))))


def _faults(lesson: Lesson, open_model: Open, model: str) -> Iterator[Fault]:
    header = next(iter(lesson.lines)).number
    try:
        needs = REQUIREMENTS[lesson.needs]
        if model and not needs.suits(open_model(model).model.config):
            yield Fault(header, f"The lesson needs a model that {needs.words}; {model} is not suitable.")
            return
    except HeadlightError as error:
        line = lesson.first("model") or lesson.first("needs")
        yield Fault(line.number if line else header, str(error))
        return
    yield from _checked_steps(lesson, open_model, model)


def _checked_steps(lesson: Lesson, open_model: Open, model: str) -> Iterator[Fault]:
    seeds = range(max(SEEDS, len(lesson.all("text"))))
    differs, is_computed = False, True
    for step in lesson.steps:
        yield from _form_faults(step)
        questions: list[Question | None] = []
        for seed in seeds:
            question, errors = _tried(Place(lesson, step, model, seed, open_model))
            questions.append(question)
            if errors:
                yield from (Fault(error.number, _about(lesson, seed, str(error))) for error in errors)
                is_computed = False
                break
        asked = [each for each in questions if each]
        yield from _hint_faults(step, asked)
        differs = differs or len({_told(each) for each in asked}) > 1
    if is_computed and not differs and any(step.asks for step in lesson.steps):
        yield Fault(1, "Every learner has the same right answers. Add a `text`, or let an `input` depend on {seed}.")


def _tried(place: Place) -> tuple[Question | None, list[LineError]]:
    """The question of a step, and the errors in everything that a learner or teacher could see of it."""
    step, errors = place.step, list[LineError]()

    def attempt(compute: Callable[[], T]) -> T | None:
        try:
            return compute()
        except LineError as error:
            errors.append(error)
            return None

    scope = attempt(place.scope)
    if scope is None:
        return None, errors
    for line in (*step.prose, *(each for key in FILLED for each in step.all(key))):
        attempt(partial(place.filled, line, scope))
    attempt(partial(place.view, scope))
    question = attempt(partial(question_of, place, scope))
    if question and not mark(question, (question.right,)).is_right:
        errors.append(LineError(step.first("ask"), step.number, DataError("The right answer is marked wrong.")))
    if question:
        attempt(partial(_require_margin, place, scope))
    return question, errors


def _require_margin(place: Place, scope: Scope) -> None:
    """Raise LineError if the two best places or options are too close for a learner to distinguish."""
    line = place.step.first("ask")
    kind, _, expression = line.text.partition(" ") if line else ("", "", "")
    if kind not in ("largest", "smallest"):
        return
    values = place.table(line, expression, scope).values if expression else list(place.options(scope).values())
    numbers = sorted(np.asarray(values)[np.isfinite(values)].ravel().tolist(), reverse=kind == "largest")
    if len(numbers) > 1 and isclose(*numbers[:2], rel_tol=MARGIN):
        one, other = map(three_digits, numbers[:2])
        sentence = f"The two {kind} numbers, {one} and {other}, are too close to be distinguished."
        raise LineError(line, place.step.number, DataError(sentence))


def _told(question: Question) -> str:
    """The right answer as shown to a learner; for a map, its cell."""
    return question.right if question.kind == "point" else question.in_words(question.right)


def _about(lesson: Lesson, seed: int, sentence: str) -> str:
    text = lesson.text_of(seed)
    return f"{sentence} (with the text “{text[:40]}”)" if len(lesson.all("text")) > 1 else sentence


def _form_faults(step: Step) -> Iterator[Fault]:
    shown = step.first("shown")
    if shown and shown.text not in SHOWN:
        yield Fault(shown.number, f"A view is shown {' or '.join(SHOWN)} the answer, not “{shown.text[:20]}”.")
    if (view := step.first("view")) and step.first("screen"):
        yield Fault(view.number, "A step has a `view` or a `screen`, not both.")
    if step.text("ask") == "screen" and step.text("shown") != "after":
        yield Fault(
            step.number,
            "“ask: screen” asks for something that the screen shows, so the screen must be `shown: after` the answer.",
        )
    if not step.asks:
        loose = next((line for line in step.lines if line.key in ("question", "option", "mistake", "hint")), None)
        if loose:
            yield Fault(loose.number, f"“{loose.key}” belongs to a question; the step has no `ask`.")
    if not step.prose and not step.first("question"):
        yield Fault(step.number, f"The step “{step.title}” has neither a text nor a question.")


def _hint_faults(step: Step, questions: list[Question]) -> Iterator[Fault]:
    """Questions have three hints; the last one is that of the kind of question, if it has one."""
    if not questions or step.text("ask").split()[0] == "screen":
        return
    own = len(questions[0].last_hints)
    line: Line | None = step.first("ask")
    if len(step.all("hint")) + own != HINTS:
        wanted = HINTS - own
        last = " This kind of question adds the last one itself." if own else ""
        yield Fault(line.number if line else step.number, f"This question takes {wanted} lines `hint`.{last}")
