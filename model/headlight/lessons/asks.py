"""The kinds of questions of a step: each builds one of the course's questions from computed numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from headlight.errors import DataError, InputError
from headlight.lessons.expressions import evaluate
from headlight.lessons.place import Place
from headlight.lessons.scope import Scope
from headlight.lessons.tables import Table
from headlight.questions.asking import ask_cell, ask_direction, ask_largest, ask_number, ask_whether, choose
from headlight.questions.kinds import Question, TypedNumber
from headlight.registry import Registry
from headlight.views.words import three_digits

MOST_OPTIONS = 40


def question_of(place: Place, scope: Scope) -> Question | None:
    """A step's question with its right answer, hints and reason; None if it has no question. Raises LineError."""
    line = place.step.first("ask")
    if line is None:
        return None
    kind, _, expression = line.text.partition(" ")
    question = place.computed(line, lambda: ASKS[kind](place, scope, expression.strip()))
    hints = tuple(place.filled(each, scope) for each in place.step.all("hint"))
    because = place.step.first("because")
    reason = place.filled(because, scope) if because else question.because
    return replace(question, hints=hints or question.hints, because=reason)


def _ask_number(place: Place, scope: Scope, expression: str) -> Question:
    answer = place.number(place.step.first("ask"), expression, scope)
    known = [(place.number(line, wrong, scope), says) for line, wrong, says in place.mistakes(scope)]
    tolerance = place.step.first("tolerance")
    question = ask_number(place.asked(scope), answer, *known)
    if tolerance is None:
        return question
    width = place.number(tolerance, tolerance.text, scope)
    far = tuple(each for each in question.mistakes if abs(float(each[0]) - answer) > width)
    return TypedNumber(text=question.text, answer=answer, tolerance=width, mistakes=far)


def _ask_place(place: Place, scope: Scope, expression: str, least: bool) -> Question:
    """Asks which place of a table, or which of several options, has the largest or smallest number."""
    text = place.asked(scope)
    if not expression:
        return _ask_option(place, scope, text, least)
    ask = place.step.first("ask")
    table = place.table(ask, expression, scope)
    right = table.place(least)
    known = [(place.table(line, wrong, scope).place(), says) for line, wrong, says in place.mistakes(scope)]
    says = dict(_numbers_of(table, least)) | {at: f"{said} {_told(table, at)}" for at, said in known}
    if len(table.axes) == 2:
        cells = tuple(((row, column), said) for (row, column), said in says.items())
        return ask_cell(text, table.options(0), _short(table.options(1), table.axes[1]), (right[0], right[1]), *cells)
    names = table.options(0)
    if len(names) > MOST_OPTIONS:
        raise InputError(
            f"There are {len(names)} places to choose from; at most {MOST_OPTIONS} are allowed in a lesson."
        )
    return choose(text, names, right[0], {names[at[0]]: said for at, said in says.items()})


def _numbers_of(table: Table, least: bool) -> Mapping[tuple[int, ...], str]:
    """The reply to each wrong place: its own number."""
    other = "smaller" if least else "larger"
    known = (at for at in np.ndindex(table.values.shape) if np.isfinite(table.values[at]))
    return {at: f"{_told(table, at)} Another number is {other}." for at in known}


def _told(table: Table, at: tuple[int, ...]) -> str:
    return f"“{table.name(at)}” has the value {three_digits(table.values[at])}."


def _short(labels: tuple[str, ...], axis: str) -> tuple[str, ...]:
    """Columns of a map: "3" instead of "head 3", since the row heading and the question name the axis."""
    return tuple(label.removeprefix(f"{axis} ") for label in labels)


def _ask_option(place: Place, scope: Scope, text: str, least: bool) -> Question:
    options = place.options(scope)
    if len(options) < 2:
        raise DataError("Give an expression after “ask”, or at least two lines “option”.")
    return ask_largest(text, options, {name: said for _, name, said in place.mistakes(scope)}, least=least)


def _ask_whether(place: Place, scope: Scope, expression: str) -> Question:
    holds = place.computed(place.step.first("ask"), partial(evaluate, expression, scope))
    if not isinstance(holds, bool):
        raise InputError(f"“{expression[:60]}” is neither true nor false. Compare two numbers, as in a > b.")
    mistake = place.step.first("mistake")
    return ask_whether(place.asked(scope), holds, place.filled(mistake, scope) if mistake else "")


def _ask_direction(place: Place, scope: Scope, expression: str) -> Question:
    notable = place.step.first("notable")
    if notable is None:
        raise DataError("A question of direction needs `notable`, the smallest change that counts.")
    change = place.number(place.step.first("ask"), expression, scope)
    question = ask_direction(place.asked(scope), change, place.number(notable, notable.text, scope))
    says = dict(question.mistakes) | {name: said for _, name, said in place.mistakes(scope)}
    return choose(question.text, question.options, question.options.index(question.right), says)


def _ask_screen(place: Place, scope: Scope, expression: str) -> Question:
    """The screen's own question."""
    found = next((row.question for row in scope.rows if row.question), None)
    if expression or found is None:
        raise DataError("“ask: screen” takes no expression, and needs a `screen` with a question.")
    text = place.step.first("question")
    return replace(found, text=place.filled(text, scope)) if text else found


ASKS: Registry[Callable[[Place, Scope, str], Question]] = Registry(
    "kind of question",
    {
        "number": _ask_number,
        "largest": lambda place, scope, expression: _ask_place(place, scope, expression, least=False),
        "smallest": lambda place, scope, expression: _ask_place(place, scope, expression, least=True),
        "whether": _ask_whether,
        "direction": _ask_direction,
        "screen": _ask_screen,
    },
)
