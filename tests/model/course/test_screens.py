"""Every screen of the course, as its row defines it: its defaults work, and bad values get a message."""

import inspect
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import md5
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from headlight import find_checkpoint, load
from headlight.checkpoints import Checkpoint
from headlight.config import Config
from headlight.course.chapters import CHAPTERS, CORE_PATH, find_screen
from headlight.course.controls import (
    ChoiceControl,
    Control,
    MatrixControl,
    ModelControl,
    NumberControl,
    PartControl,
    RecordingControl,
    SeedControl,
    TextControl,
)
from headlight.course.moved import MOVED, follow
from headlight.course.requirements import PARTS, REQUIREMENTS, require_part
from headlight.course.screen import Screen
from headlight.course.withholding import withhold
from headlight.errors import HeadlightError, InputError
from headlight.questions.asking import (
    ask_design,
    ask_whether,
    choose,
)
from headlight.questions.kinds import CHECK, KINDS, Choice, Goal, Question, TypedNumber
from headlight.questions.marking import GIVE_UP, HINT, mark
from headlight.views.encoding import plain
from headlight.views.kinds import Equations, Verdict
from headlight.views.rows import Row
from headlight.views.rows import row as make_row
from headlight.views.words import percent
from tests.sampling import first_of_each, parameter_set
from tests.shown_numbers import odd_numbers

pytestmark = pytest.mark.usefixtures("one_round")
SCREENS = {f"{chapter}/{name}": screen for chapter, row in CHAPTERS.items() for name, screen in row.screens.items()}
CONTROLS = {
    f"{path}.{name}": (screen, name, control)
    for path, screen in SCREENS.items()
    for name, control in screen.controls.items()
}
SHIPPED = ("ladder-7-depth", "positions-decoder-none", "positions-encoder-none", "translate", "stories-masked")
# Inputs for which a control visibly changes the screen, if small changes of the default would not.
SENSIBLE = {
    "architectures/summary.text": "Ben sang. In the barn, Nora sat on the drum. The drum was in the barn. Tim slept.",
    "block/last-steps.word": "bed",
    "tokens/context.word": "the",
    **{f"{chapter}/order.one": "dog chased cat" for chapter in ("positions", "first-reading")},
    **{f"{chapter}/order.other": "chased cat dog" for chapter in ("positions", "first-reading")},
    "beyond-text/graph.edges": "C1-H4",
    "beyond-text/graph.node": "C1",
    "beyond-text/sound.sounds": "C4, E4, G4, C4, A4",
    "beyond-text/melody.sounds": "C4, E4, G4",
}
SEEING = ("image", "image-to-text")
SMALL = ("ladder-1-attention", "entities")  # few layers and heads, or labels instead of tokens
# Screens whose answer is a law, or the same for every shipped model and every value tried.
STEADY = {
    *(f"positions/{name}" for name in ("order", "rope")),
    *(f"block/{name}" for name in ("averages", "residual")),
    "beyond-text/vision-model",
    *(f"first-reading/{name}" for name in ("order", "position-vectors")),
    "heads/cost",
    "architectures/configurations",
}
FORMULAS = Path(__file__).parents[3] / "app/headlight_app/ui/frontend/formulas/formula.ts"
OPTION = re.compile(r"[\d,]+(?:\.(\d+))?( %)?")  # a number
RESULT = re.compile(r".*[=≈] (−?[\d.]*\d)")
EXPONENT = re.compile(r"\d[eE][+−-]\d")
COMMAND = re.compile(r"\\([A-Za-z]+)")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@lru_cache(maxsize=1)
def drawn_commands() -> set[str]:
    """The LaTeX commands that the page can render."""
    return set(re.findall(r"[A-Za-z]+", FORMULAS.read_text(encoding="utf-8")))


@lru_cache(maxsize=8)
def opened(name: str) -> Checkpoint:
    """A shipped model."""
    return load(find_checkpoint(name))


def values(screen: Screen, **inputs: str) -> dict[str, Any]:
    """The arguments of `compute`, with opened models."""
    found = screen.parse(inputs)
    return found | {name: opened(found[name]) for name in screen.model_controls}


def brief(screen: Screen) -> dict[str, str]:
    """The inputs of the shortest training, if the screen trains."""
    steps = screen.controls.get("steps")
    return {"steps": f"{steps.low:g}"} if isinstance(steps, NumberControl) else {}


@cache
def first_rows(path: str) -> tuple[Row, ...]:
    """The initial rows of a screen, computed once for all its tests."""
    screen = SCREENS[path]
    return screen.rows(**values(screen, **(brief(screen) if screen.is_long else {})))


@pytest.mark.parametrize("path", SCREENS)
def test_a_screen_shows_something_to_those_who_only_scroll(path: str) -> None:
    screen, rows = SCREENS[path], first_rows(path)
    assert rows and all(isinstance(row, Row) and row.views for row in rows)
    assert json.loads(json.dumps(plain(rows), allow_nan=False)), "rows are valid JSON"
    assert any(row.question for row in rows), "each screen asks a question first"
    for row in rows:
        if row.question:
            check_question(row.question)
    assert [row.folded for row in rows] == sorted(row.folded for row in rows), "folded rows come last"
    first = next((row for row in rows if row.folded), None)
    assert first is None or (first.title and not any(row.question for row in rows if row.folded))
    said = [row.text for row in rows] + [view.text for row in rows for view in row.views if isinstance(view, Verdict)]
    assert not [text for text in said if EXPONENT.search(text)], "numbers in sentences are written out"
    shown = [picture.lines for row in rows for picture in row.views if isinstance(picture, Equations)]
    for formula in (*screen.formulas, *(line for lines in shown for line in lines)):
        assert formula.count("{") == formula.count("}"), formula
        assert set(COMMAND.findall(formula)) <= drawn_commands(), formula


@pytest.mark.parametrize("path", SCREENS)
def test_numbers_are_written_in_one_way(path: str) -> None:
    assert odd_numbers(first_rows(path)) == []


def check_question(question: Question) -> None:
    """The right answer is accepted, each known mistake is refused with its own message; hints do not reveal it."""
    assert len(set(question.options)) == len(question.options)
    assert question.is_answer(question.right)
    assert mark(question, (question.right,)).is_right is not isinstance(question, Goal), "no goal is reached at first"
    assert KINDS[question.kind] is type(question)
    assert len(dict(question.mistakes)) == len(question.mistakes)
    check_told(question)
    for answer, says in question.mistakes:
        found = mark(question, (answer,))
        assert not found.is_right and says in found.said and says.endswith(".")
    hints = (*question.hints, *question.last_hints)
    assert question.options[2:] == () or hints
    assert f"It is not “{question.right}”." not in hints


def check_told(question: Question) -> None:
    """The right option is the computed number, in the option's digits; a calculation ends with the right number."""
    if isinstance(question, Choice) and question.number is not None:
        if option := OPTION.fullmatch(question.right.replace("−", "")):
            places = len(option[1] or "")
            written = percent(question.number, places) if option[2] else f"{question.number:,.{places}f}"
            assert written.replace("-", "−") == question.right, question
    elif isinstance(question, TypedNumber) and (result := RESULT.match(question.because)):
        assert float(result[1].replace("−", "-")) == pytest.approx(question.answer, abs=0.006), question


@pytest.mark.parametrize("path", SCREENS)
def test_a_row_says_all_there_is_to_say(path: str) -> None:
    screen = SCREENS[path]
    assert all(NAME.fullmatch(part) for part in path.split("/")), "names are part of URLs"
    assert screen.title and 1 <= len(re.findall(r"[.?!](?:\s|$)", screen.lesson)) <= 3
    if callable(screen.compute):
        assert list(inspect.signature(screen.compute).parameters) == list(screen.controls)
    else:
        chooser, *others = screen.controls
        assert all(screen.controls[chooser].parse(way) == way for way in screen.compute), "each one can be chosen"
        taken = {name for way in screen.compute.values() for name in inspect.signature(way).parameters}
        assert taken - {chooser} == set(others)
    for control in screen.controls.values():
        other, _, shown_with = control.when.partition("=")
        for value in shown_with.split(",") if other else ():
            assert screen.controls[other].parse(value) == value, "a value that shows a control can be chosen"
    assert screen.code and all(inspect.getsource(part) for part in screen.code)


@pytest.mark.parametrize("path", SCREENS)
def test_a_link_to_another_page_says_something(path: str) -> None:
    screen = SCREENS[path]
    for link in screen.links(screen.parse({})).values():
        assert link and all(isinstance(text, str) for text in link.values())


def bad_values(control: Control) -> list[str]:
    """Texts that the control cannot read."""
    match control:
        case MatrixControl():
            cells = control.default.partition(",") if "," in control.default else control.default.partition(";")
            odd = [f"{text}{cells[1]}{cells[2]}" for text in ("", "NaN", "1e9", "-inf", "two", "<b>", "0x1")]
            return ["", ";" * 40, f"{control.default};1,2,3,4,5,6,7,8,9", *odd]
        case NumberControl():
            return ["", "NaN", "1e9", "-1e9", "inf", "two", "1;2"]
        case ChoiceControl():
            return ["", "no such choice"]
        case TextControl():
            return ["", "   ", "x" * (control.longest + 1)]
        case _:
            return []


def kind_in_chapter(path: str) -> tuple[str, type[Control]]:
    """The chapter and the kind of a control."""
    return path.partition("/")[0], type(CONTROLS[path][2])


@pytest.mark.parametrize("path", first_of_each(CONTROLS, kind_in_chapter))
def test_a_bad_value_gets_a_sentence_that_names_the_control(path: str) -> None:
    screen, name, control = CONTROLS[path]
    for text in bad_values(control):
        with pytest.raises(InputError) as said:
            screen.parse({name: text})
        assert control.title in str(said.value) and str(said.value).endswith("."), said.value


def ends(control: Control) -> list[str]:
    """Texts at the limits of what the control can read."""
    match control:
        case MatrixControl(switches=True) if len(control.default) == 1:
            return ["0", "1"]
        case MatrixControl():
            return [
                re.sub(r"[^,;]+", number, control.default) for number in ("0", f"{control.high:g}", f"{control.low:g}")
            ]
        case NumberControl():
            return [f"{control.low:g}", f"{control.high:g}"]
        case ChoiceControl():
            return list(control.options)
        case TextControl():
            return ["x", "<b>$x$</b> \\frac{1}{2}", "שלום \N{GRINNING FACE}"]
        case _:
            return []


def others(path: str, control: Control) -> list[str]:
    """Other values that a learner may choose."""
    match control:
        case MatrixControl():
            return [re.sub(r"[^,;]+", number, control.default, count=1) for number in ("0", "1")]
        case SeedControl():
            return [str(seed) for seed in range(2, 8)]
        case NumberControl() if control.title.startswith("Steps"):
            return [f"{control.low + 1:g}", f"{control.low + 4 * control.step:g}"]
        case NumberControl():
            return [f"{float(control.default) + sign * control.step:g}" for sign in (1, -1)]
        case ChoiceControl():
            return list(control.options)
        case TextControl():
            return [SENSIBLE.get(path, control.default[:-1]), control.default.replace("a", "o", 1)]
        case ModelControl():
            return [name for name in SHIPPED if fits(control, name)]
        case _:
            return []


def fits(control: ModelControl, name: str) -> bool:
    """Whether a screen's model picker offers a model."""
    try:
        control.require(opened(name).model.config)
    except InputError:
        return False
    return True


@cache
def shown(path: str, *changed: tuple[str, str]) -> tuple[str, tuple[str, ...]]:
    """A digest of a screen with these inputs changed, and its right answers. Raises HeadlightError.

    For a goal the answer is its message about what is missing.
    """
    screen = SCREENS[path]
    inputs = brief(screen) | dict(changed)
    rows = (
        first_rows(path) if not changed and (screen.is_long or not inputs) else screen.rows(**values(screen, **inputs))
    )
    digest = md5(json.dumps(plain(rows), allow_nan=False).encode(), usedforsecurity=False).hexdigest()
    questions = [row.question for row in rows if row.question]
    for question in questions:
        check_told(question)
    return digest, tuple(each.told if isinstance(each, Goal) else each.right for each in questions)


def before(path: str) -> tuple[tuple[str, str], ...]:
    """The input that must be set first for a control to be shown."""
    screen, _, control = CONTROLS[path]
    other, _, shown_with = control.when.partition("=")
    values = shown_with.split(",")
    return ((other, values[0]),) if other and screen.controls[other].default not in values else ()


def has_another_value(control: Control) -> bool:
    """Whether another value exists without uploading a file: only one image model is shipped."""
    is_vision_model = isinstance(control, ModelControl) and control.needs in SEEING
    return not is_vision_model and not isinstance(control, RecordingControl)


@pytest.mark.parametrize("path", first_of_each(CONTROLS, kind_in_chapter))
def test_each_control_changes_what_is_shown_and_its_ends_compute_or_say_why_not(
    path: str, request: pytest.FixtureRequest
) -> None:
    row, name, control = CONTROLS[path]
    screen = path.removesuffix(f".{name}")
    first_rows(screen)  # shapes are checked with the defaults only
    request.getfixturevalue("unchecked_shapes_in_test")
    needed = [] if row.is_long else ends(control)  # slow screens would take minutes at the limits
    answers = {shown(screen, *before(path))}
    for number, text in enumerate((*needed, *others(path, control))):
        if text == control.default or (number >= len(needed) and len(answers) > 1):
            continue
        try:
            answers.add(shown(screen, *before(path), (name, text)))
        except HeadlightError as error:
            assert str(error).endswith(".")
    assert len(answers) > 1 or not has_another_value(control)


@pytest.mark.parametrize("path", [path for path, screen in SCREENS.items() if not screen.is_long])
def test_another_value_changes_the_right_answer(path: str, request: pytest.FixtureRequest) -> None:
    """Mostly reuses the values of the test above."""
    _, right = shown(path)
    request.getfixturevalue("unchecked_shapes_in_test")
    assert any(answers not in ((), right) for answers in right_answers_elsewhere(path)) == (path not in STEADY)


def right_answers_elsewhere(path: str) -> Iterator[tuple[str, ...]]:
    """The right answers of a screen with other values of one control at a time."""
    for name, control in SCREENS[path].controls.items():
        for text in (*ends(control), *others(f"{path}.{name}", control)):
            with suppress(HeadlightError):
                yield shown(path, *before(f"{path}.{name}"), (name, text))[1]


@pytest.mark.parametrize("path", SCREENS)
def test_a_goal_is_reached_by_its_solution_and_not_before(path: str) -> None:
    screen = SCREENS[path]
    for place, goal in enumerate(row.question for row in first_rows(path)):
        if isinstance(goal, Goal):
            missed = mark(goal, (CHECK,))
            assert not missed.is_settled and missed.ruled_out and goal.told in missed.said
            assert mark(goal, (GIVE_UP,)).said == goal.because, "giving up shows the reason"
            reached = screen.rows(**values(screen, **goal.solution))[place].question
            assert isinstance(reached, Goal) and mark(reached, (CHECK,)).is_right and not mark(reached, ()).is_settled


def test_each_kind_of_question_is_asked_by_two_screens_and_more() -> None:
    asked = [row.question.kind for path in SCREENS for row in first_rows(path) if row.question]
    assert {kind for kind in KINDS if asked.count(kind) >= 2} == set(KINDS)


def test_rows_that_tell_the_answer_are_withheld() -> None:
    asked = choose("?", ("a", "b"), 1)
    rows = (make_row(title="before"), make_row(title="asked", question=asked), make_row(title="after"))
    shown, (found,) = withhold(rows, ())
    assert [each.title for each in shown] == ["before"] and found.place == 1 and not found.mark.is_settled
    shown, _ = withhold(rows, ("b",))
    assert [each.title for each in shown] == ["before", "asked", "after"] and not any(each.question for each in shown)
    assert withhold(rows[:1], ())[1] == ()


def test_questions_come_one_after_another_and_a_design_is_seen_while_it_is_made() -> None:
    design = ask_design("?", False, "Not yet.", solution={})
    rows = tuple(
        make_row(title=str(at), question=each) for at, each in enumerate((ask_whether("?", True), design, None))
    )
    assert [len(withhold(rows, tries)[0]) for tries in ((), ("no",), ("yes",), (GIVE_UP,), (HINT, "yes", CHECK))] == [
        0, 2, 2, 2, 2,
    ]  # fmt: skip
    shown, asked = withhold(rows, ("yes", CHECK, GIVE_UP))
    assert len(shown) == 3 and [each.mark.is_right for each in asked] == [True, False]


def test_the_core_path_is_of_screens_that_ask() -> None:
    assert len(set(CORE_PATH)) == len(CORE_PATH) == 20
    for path in CORE_PATH:
        assert any(each.question for each in first_rows(path)), path


@pytest.mark.parametrize("path", MOVED)
def test_a_screen_that_has_moved_is_found_with_what_it_showed(path: str) -> None:
    chapter, name = path.split("/")
    assert path not in SCREENS
    moved = follow(chapter, name, "")
    screen = find_screen(*moved[:2])
    assert screen.parse({key.partition(".")[2]: text for key, text in parse_qsl(moved[2])})
    assert set(MOVED[path].renamed.values()) - {""} <= set(screen.controls)


def test_what_a_moved_link_says_is_kept() -> None:
    inputs = "shuffled.text=a+b&shuffled.seed=3&order.one=c"
    assert follow("positions", "shuffled", inputs) == (
        "positions", "order", "order.one=a+b&order.seed=3&order.order=drawn"
    )  # fmt: skip
    assert follow("positions", "order", inputs) == ("positions", "order", inputs)
    inputs = "random.draw=normal&random.examples=2&random.tokens=5"
    assert follow("attention", "random", inputs)[2] == "scale.draw=normal&scale.keys=5", "other inputs are dropped"


def test_what_no_screen_has_is_said() -> None:
    screen = SCREENS["attention/look-up"]
    with pytest.raises(InputError, match="no input 'nothing'"):
        screen.parse({"nothing": "1"})
    with pytest.raises(InputError, match="longer than"):
        screen.parse({"keys": "1," * 3_000})


def test_a_model_that_a_screen_cannot_run_on_is_refused() -> None:
    config = Config(vocabulary_size=2, context_length=2, d_model=2, layers=1, heads=1)
    ModelControl(default="").require(config)
    for needs, sentence in (("encoder", "is an encoder and reads text"), ("fills-masks", "fills"), ("image", "images")):
        with pytest.raises(InputError, match=f"needs a model that .*{sentence}.* Choose another model"):
            ModelControl(default="", needs=needs).require(config)


ON_MODELS = [path for path, screen in SCREENS.items() if "model" in screen.model_controls]


# In the short run the models take turns.
@pytest.mark.parametrize(
    ("path", "model"),
    [
        parameter_set(path, model, full=(place + turn) % len(SMALL) > 0)
        for place, path in enumerate(ON_MODELS)
        for turn, model in enumerate(SMALL)
    ],
)
def test_a_model_that_is_listed_answers_the_screen_as_it_opens(path: str, model: str) -> None:
    """As on the page: a missing layer or head is replaced by the model's last one."""
    screen, config = SCREENS[path], opened(model).model.config
    if screen.is_long or not REQUIREMENTS[screen.model_controls["model"].needs].suits(config):
        return
    parts = {name: control for name, control in screen.controls.items() if isinstance(control, PartControl)}
    last = {name: PARTS[control.part](config) - 1 for name, control in parts.items()}
    fitted = {name: str(min(int(parts[name].default), most)) for name, most in last.items()}
    assert screen.rows(**values(screen, model=model, **fitted))


def test_layers_and_heads_are_those_of_the_control_named_model() -> None:
    for screen in SCREENS.values():
        if any(isinstance(control, PartControl) for control in screen.controls.values()):
            assert isinstance(screen.controls["model"], ModelControl)
    config = Config(vocabulary_size=2, context_length=2, d_model=2, layers=1, heads=2)
    assert require_part(config, "head", 1) == 1
    for part, index, sentence in (("layer", 1, "it has layer 0 alone"), ("head", 2, "it has heads 0 to 1")):
        with pytest.raises(InputError, match=f"There is no {part} {index} in this model: {sentence}."):
            require_part(config, part, index)
