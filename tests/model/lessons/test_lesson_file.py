"""Lesson files are read, and each fault is reported with its line."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headlight.lessons
from headlight.checkpoints.load import Checkpoint
from headlight.lessons.check import check_text
from headlight.lessons.lesson_file import read_lesson
from tests.model.lessons.conftest import LESSON

QUESTION = LESSON[LESSON.index("- ask") : LESSON.index("- hint")]
Opened = Callable[[str], Checkpoint]


def test_what_a_lesson_says(text: str) -> None:
    lesson, faults = read_lesson("short", text)
    assert faults == () and (lesson.title, lesson.minutes, lesson.version) == ("A short lesson", 5, 3)
    assert lesson.about == "What it is about." and [step.title for step in lesson.steps] == ["One step"]
    assert lesson.steps[0].text("hint") == "It is a cell of the last row."
    assert {lesson.text_of(seed) for seed in range(9)} == {line.text for line in lesson.all("text")}


def test_a_lesson_without_a_fault(text: str, opened: Opened) -> None:
    assert check_text("short", text, opened) == ()


def test_the_lesson_of_the_readme_has_no_fault(opened: Opened) -> None:
    readme = Path(headlight.lessons.__file__).with_name("README.md").read_text("utf-8")
    assert check_text("readme", "\n".join(re.findall(r"(?m)^ {4}(.*)$", readme)), opened) == ()


@pytest.mark.parametrize(
    ("replaced", "by", "line", "sentence"),
    [
        ("title: A short lesson\n", "", 1, "has no title"),
        ("minutes: 5", "minutes: five", 3, "“five” is not a valid value of minutes"),
        ("version: 3", "verzion: 3", 4, "Did you mean 'version'"),
        ("model: ladder-7-depth", "model: ladder-7-dept", 5, "ladder-7-dept"),
        ("model: ladder-7-depth", "model: a checkpoint of your choice", 5, "names an `example`"),
        ("let: L = place", "let: L : place", 8, "NAME = EXPRESSION"),
        ("let: L = place(metric", "let: L = plase(metric", 8, "Did you mean 'place'"),
        ("{tokens():.0f} tokens", "{tokens()[0]} tokens", 15, "is not a table"),
        ("- view: explore?", "- view: explain?", 17, "no page “explain”"),
        ("- ask: number weights", "- ask: numbr weights", 18, "Did you mean 'number'"),
        ("- ask: number weights(L, 1)[-1, 0]", "- ask: number weights(L, 1)", 18, "no single finite number"),
        ("- question: How", "- qestion: How", 19, "Did you mean 'question'"),
        ("- mistake: weights(L, 1)[-1, 1] =>", "- mistake: weights(L, 1)[-1, 1] ->", 20, "EXPRESSION => SENTENCE"),
        ("- mistake: weights(L, 1)[-1, 1]", "- mistake: weights(L, 7)[-1, 1]", 20, "no head 7"),
        ("- hint: It is the first cell there.\n", "", 18, "takes 2 lines `hint`"),
        ("- because: It is {weights", "- because: It is {weigths", 24, "Did you mean 'weights'"),
        ("- note: Nobody", "- shown: later\n- note: Nobody", 25, "not “later”"),
        ("- note: Nobody", "- screen: attention/steps\n- note: Nobody", 17, "not both"),
        ("- ask: number weights(L, 1)[-1, 0]\n", "", 18, "has no `ask`"),
        ("## One step", "One step", 9, "A lesson has steps"),
        ("text: a small bird sang in the tree\n", "", 1, "Every learner has the same right answers"),
        (QUESTION, "- ask: largest 0 * weights(0, 0)[0]\n- question: Which?\n", 18, "too close"),
    ],
)
def test_each_fault_has_its_line(text: str, opened: Opened, replaced: str, by: str, line: int, sentence: str) -> None:
    assert replaced in text
    faults = check_text("short", text.replace(replaced, by), opened)
    assert any(fault.line == line and sentence in fault.sentence for fault in faults), faults


LINES = [
    *LESSON.splitlines(),
    "---",
    "",
    "# ",
    "## Two",
    "- ask: largest",
    "- option: a => 1",
    "  more",
    "- hint:",
    "- : x",
    "title:",
]


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=30), max_size=30).map("\n".join))
def test_any_text_is_a_lesson_or_has_faults(text: str) -> None:
    lesson, faults = read_lesson("any", text)
    last = len(text.splitlines()) + 1
    assert all(1 <= fault.line <= last and fault.sentence.endswith((".", "?")) for fault in faults)
    assert faults or (lesson.title and lesson.steps and lesson.minutes > 0 and lesson.version > 0)
