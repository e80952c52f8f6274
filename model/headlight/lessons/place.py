"""A learner's place in a lesson: texts with computed numbers, and the address of the step's view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

from headlight.checkpoints.load import Checkpoint
from headlight.course.chapters import find_screen
from headlight.course.screen import Screen
from headlight.errors import DataError, HeadlightError, InputError
from headlight.lessons.expressions import evaluate, fill
from headlight.lessons.lesson import Lesson, Line, Step
from headlight.lessons.scope import Scope
from headlight.lessons.tables import Table
from headlight.views.rows import Row

T = TypeVar("T")
PAGES = ("explore", "compare", "generate", "positions", "tasks")
ARROW, MISTAKE = "=>", "EXPRESSION => SENTENCE"
Open = Callable[[str], Checkpoint]  # a model by its name


class LineError(DataError):
    """A line of a lesson that cannot be computed."""

    def __init__(self, line: Line | None, number: int, error: Exception) -> None:
        super().__init__(str(error))
        self.number = line.number if line else number


@dataclass(frozen=True)
class Place:
    """A learner's place: a step of a lesson, the model in use, and the seed of text and numbers."""

    lesson: Lesson
    step: Step
    model: str
    seed: int
    open: Open

    def scope(self) -> Scope:
        """The scope of the step's expressions. Raises LineError."""
        checkpoint = self.open(self.model) if self.model else None
        scope = Scope(checkpoint, self.lesson.text_of(self.seed), self.seed)
        for line in (*self.lesson.all("let"), *self.step.all("let")):
            name, expression = divided(line, "=", "NAME = EXPRESSION")
            scope = scope.with_(names={**scope.names, name: self.computed(line, partial(evaluate, expression, scope))})
        screen = self.screen
        if screen is None:
            return scope
        return scope.with_(rows=self.computed(self.step.first("screen"), partial(self._rows, screen, scope)))

    def computed(self, line: Line | None, compute: Callable[[], T]) -> T:
        """The result of `compute`; if it fails, the LineError has the number of the line."""
        try:
            return compute()
        except LineError:
            raise
        except HeadlightError as error:
            raise LineError(line, self.step.number, error) from None

    @property
    def screen(self) -> Screen | None:
        """The course screen of the step, if it has one."""
        line = self.step.first("screen")
        return self.computed(line, lambda: find_screen(*self._screen_names(line))) if line else None

    def _screen_names(self, line: Line) -> tuple[str, str]:
        chapter, _, screen = line.text.partition("/")
        return chapter.strip(), screen.strip()

    def inputs(self, scope: Scope) -> dict[str, str]:
        """The values of the controls of its screen."""
        given: dict[str, str] = {}
        for line in self.step.all("input"):
            name, template = divided(line, "=", "NAME = TEXT")
            given[name] = self.computed(line, partial(fill, template, scope, plain=True))
        return given

    def _rows(self, screen: Screen, scope: Scope) -> tuple[Row, ...]:
        """The rows of the screen for these inputs."""
        if screen.is_long:
            raise InputError("This screen computes for seconds, which is too long for a lesson.")
        values = screen.parse(self.inputs(scope))
        for name, control in screen.model_controls.items():
            values[name] = self.open(values[name])
            control.require(values[name].model.config)
        return screen.rows(**values)

    def view(self, scope: Scope) -> str:
        """The address of the step's view, relative to the app's own address; "" if it has none."""
        screen, view = self.step.first("screen"), self.step.first("view")
        if screen:
            return f"course?{urlencode(self._screen_query(screen, scope))}"
        if view is None:
            return ""
        page, _, query = self.computed(view, partial(fill, view.text, scope, plain=True)).partition("?")
        if page not in PAGES:
            sentence = (
                f"There is no page “{page}” to show here. Possible pages: {', '.join(PAGES)}; for the course, use "
                "`screen`."
            )
            raise LineError(view, view.number, DataError(sentence))
        given = {"model": self.model, "text": scope.text} if self.model else {}
        fields = {name: text for name, text in given.items() if text} | dict(parse_qsl(query))
        return f"{'' if page == 'explore' else page}?{urlencode(fields)}"

    def _screen_query(self, line: Line, scope: Scope) -> dict[str, str]:
        chapter, name = self._screen_names(line)
        inputs = urlencode({f"{name}.{control}": text for control, text in self.inputs(scope).items()})
        return {"chapter": chapter, "screen": name} | ({"course_inputs": inputs} if inputs else {})

    def filled(self, line: Line, scope: Scope) -> str:
        """The text of a line, with its numbers inserted."""
        return self.computed(line, partial(fill, line.text, scope))

    def prose(self, scope: Scope) -> tuple[str, ...]:
        """The paragraphs of the step."""
        return tuple(self.filled(line, scope) for line in self.step.prose)

    def notes(self, scope: Scope) -> tuple[str, ...]:
        """The notes for the teacher."""
        return tuple(self.filled(line, scope) for line in self.step.all("note"))

    def asked(self, scope: Scope) -> str:
        """The text of the question. Raises LineError if there is none."""
        line = self.step.first("question")
        if line is None:
            raise LineError(
                None, self.step.number, DataError(f"The step “{self.step.title}” has `ask` but no `question`.")
            )
        return self.filled(line, scope)

    def options(self, scope: Scope) -> dict[str, float]:
        """The numbers of the options, by their names."""
        sides = ((line, *divided(line, ARROW, f"NAME {ARROW} EXPRESSION")) for line in self.step.all("option"))
        filled = ((line, self.computed(line, partial(fill, name, scope)), number) for line, name, number in sides)
        return {name: self.number(line, expression, scope) for line, name, expression in filled}

    def mistakes(self, scope: Scope) -> list[tuple[Line, str, str]]:
        """The known mistakes: their lines, an expression or the name of an option, and the reply."""
        found = []
        for line in self.step.all("mistake"):
            named, said = (self.computed(line, partial(fill, side, scope)) for side in divided(line, ARROW, MISTAKE))
            found.append((line, named, said))
        return found

    def number(self, line: Line | None, expression: str, scope: Scope) -> float:
        """The number computed by an expression of a line. Raises LineError."""
        value = self.computed(line, partial(evaluate, expression, scope))
        if isinstance(value, bool | str | Table) or value != value or abs(value) == float("inf"):
            raise LineError(line, self.step.number, InputError(f"“{expression[:60]}” gives no single finite number."))
        return float(value)

    def table(self, line: Line | None, expression: str, scope: Scope) -> Table:
        """The table computed by an expression of a line, with one or two axes. Raises LineError."""
        value = self.computed(line, partial(evaluate, expression, scope))
        if not isinstance(value, Table) or len(value.axes) > 2:
            sentence = f"“{expression[:60]}” is not a table with one or two axes, so there is no place to point at."
            raise LineError(line, self.step.number, InputError(sentence))
        return value


def divided(line: Line, sign: str, form: str) -> tuple[str, str]:
    """The two sides of a line. Raises LineError if the sign between them is missing."""
    left, found, right = line.text.partition(f" {sign} ")
    if not found:
        raise LineError(line, line.number, DataError(f"“{line.key}” is written as {form}."))
    return left.strip(), right.strip()
