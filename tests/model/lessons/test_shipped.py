"""The shipped lessons: they have no faults, and another text has other right answers."""

from functools import lru_cache

import pytest

from headlight.lessons.asks import question_of
from headlight.lessons.check import check_text
from headlight.lessons.lesson_file import lessons, read_text
from headlight.lessons.place import Place
from headlight.paths import assets_dir
from headlight.questions.kinds import Question
from tests.model.lessons.conftest import open_shipped

FOLDER = assets_dir() / "lessons"
LESSONS = {name: lesson for name, lesson in lessons().items() if (FOLDER / f"{name}.md").exists()}
OTHER_MODELS = ("positions-decoder-rope", "ladder-7-depth")  # used as a learner's own checkpoint


@lru_cache(maxsize=128)
def questions(name: str, seed: int, model: str = "") -> tuple[Question, ...]:
    """All questions of a lesson for one learner's seed."""
    lesson = LESSONS[name]
    places = (Place(lesson, step, model or lesson.first_model, seed, open_shipped) for step in lesson.steps)
    return tuple(question for place in places if (question := question_of(place, place.scope())))


def test_there_are_twelve_or_more_of_five_to_ten_minutes_some_with_an_own_checkpoint() -> None:
    assert len(LESSONS) == len([*FOLDER.glob("*.md")]) >= 12
    assert all(5 <= lesson.minutes <= 10 for lesson in LESSONS.values())
    assert sum(lesson.chooses_model for lesson in LESSONS.values()) >= 3
    assert all(sum(step.asks for step in lesson.steps) >= 3 for lesson in LESSONS.values())
    assert all(step.all("note") or step.text("ask") == "screen" for lesson in LESSONS.values() for step in lesson.steps)


@pytest.mark.parametrize("name", LESSONS)
def test_nothing_is_wrong(name: str) -> None:
    assert check_text(name, read_text(FOLDER / f"{name}.md"), open_shipped) == ()


@pytest.mark.parametrize("name", LESSONS)
def test_another_text_has_other_right_answers(name: str) -> None:
    one, other = ([question.right for question in questions(name, seed)] for seed in (0, 1))
    assert one != other


@pytest.mark.parametrize("model", OTHER_MODELS)
@pytest.mark.parametrize("name", [name for name, lesson in LESSONS.items() if lesson.chooses_model])
def test_another_checkpoint_has_other_right_answers(name: str, model: str) -> None:
    assert check_text(name, read_text(FOLDER / f"{name}.md"), open_shipped, model) == ()
    one, other = ([question.right for question in questions(name, 0, which)] for which in ("", model))
    assert one != other


def test_no_number_that_is_asked_for_stands_in_the_question() -> None:
    numbers = [each for name in LESSONS for each in questions(name, 0) if each.kind == "number"]
    for question in numbers:
        told = f"{float(question.right):.2f}"
        assert told not in question.text or told == "0.00", question.text
