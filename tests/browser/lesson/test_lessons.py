"""Lessons for a student and a teacher: answered right and wrong, by keys, handed in, on a phone."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from headlight.lessons.asks import question_of
from headlight.lessons.hand_in import grade_of
from headlight.lessons.lesson_file import lessons
from headlight.lessons.place import Place
from headlight.questions.kinds import Question
from tests.browser.conftest import Visit
from tests.browser.reach import sizes, smaller
from tests.browser.visitor import TOO_WIDE, Visitor
from tests.model.lessons.conftest import open_shipped

SEED = 1
PENCIL, HEADS, OWN = "attention-with-a-pencil", "heads-that-look-back", "heads-of-your-checkpoint"


def question(page: Page, name: str, step: int) -> Question:
    """A question of the open lesson, with its answer for this browser's seed."""
    seed = json.loads(page.evaluate(f"localStorage.getItem('headlight-lesson-{name}')"))["seed"]
    lesson = lessons()[name]
    place = Place(lesson, lesson.steps[step], lesson.first_model, seed, open_shipped)
    found = question_of(place, place.scope())
    assert found
    return found


def fix_seed(page: Page, name: str) -> None:
    """Sets the numbers of a lesson before it is drawn; at one seed in fifty its first question has no known mistake."""
    key = f"headlight-lesson-{name}"
    change = "([key, seed]) => localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage[key]), seed }))"
    page.evaluate(change, [key, SEED])


def asked(page: Page) -> Locator:
    """The question of the open step, once it is loaded."""
    expect(page.get_by_test_id("step")).to_have_attribute("aria-busy", "false")
    return page.get_by_test_id("step").get_by_test_id("question")


def answer(page: Page, text: str) -> None:
    """Types an answer and submits it with the Enter key."""
    asked(page).get_by_test_id("answer").fill(text)
    page.keyboard.press("Enter")


@pytest.mark.journey
def test_a_lesson_is_played_wrong_and_right_and_handed_in(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(path="/lesson")
    expect(page.get_by_test_id(f"lesson-{PENCIL}")).to_be_visible()
    fix_seed(page, PENCIL)
    page.get_by_test_id(f"lesson-{PENCIL}").click()
    expect(asked(page)).to_be_visible()
    first = question(page, PENCIL, 0)
    expect(page.get_by_test_id("step-view")).to_contain_text("once you have answered")
    answer(page, first.mistakes[0][0])
    expect(asked(page).get_by_test_id("said")).to_contain_text(first.mistakes[0][1])
    asked(page).get_by_test_id("hint").click()
    expect(asked(page).locator(".hint")).to_have_text(first.hints[0])
    answer(page, first.right)
    expect(asked(page).get_by_test_id("said")).to_contain_text("Right.")
    shown = page.frame_locator("iframe").get_by_test_id("screen-steps")
    expect(shown.get_by_test_id("view-matrix").first).to_be_visible()
    expect(shown.get_by_test_id("question")).to_have_count(0)
    page.get_by_test_id("next-step").click()
    expect(page.get_by_test_id("step-title")).to_be_focused()
    for wrong in ("123", "456"):
        answer(page, wrong)
    expect(asked(page).get_by_test_id("said")).to_contain_text("The answer is")
    page.reload()  # the progress survives a reload
    shared_visitor.settle()
    expect(page.get_by_test_id("step-title")).to_contain_text("2.")
    expect(asked(page).get_by_test_id("said")).to_contain_text("The answer is")
    for step in (2, 3):
        page.get_by_test_id("next-step").click()
        answer(page, question(page, PENCIL, step).right)
        expect(asked(page).get_by_test_id("said")).to_contain_text("Right.")
    expect(page.get_by_test_id("dot-0")).to_have_accessible_name(re.compile("answered"))
    expect(page.get_by_text("4 of 4 questions are settled, 3 of them correctly.")).to_be_visible()
    hand_in_as_ada(page)


def hand_in_as_ada(page: Page) -> None:
    """Saves the file, and grades it."""
    page.get_by_test_id("hand-in-name").fill("Ada")
    with page.expect_download() as started:
        page.get_by_test_id("hand-in").click()
    grade = grade_of("ada.json", started.value.path().read_bytes(), open_shipped, {})
    assert (grade.name, grade.points, grade.of, grade.at_once, grade.problem) == ("Ada", "3", "4", "2", "")


def test_keys_go_through_a_lesson_beside_its_view(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(f"lesson={HEADS}", "/lesson")
    expect(asked(page)).to_be_visible()
    right = question(page, HEADS, 0)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_test_id("head-0-0")).to_be_visible()
    row, column = map(int, right.right.split(","))
    asked(page).get_by_label("Row layer 0, column 0", exact=True).focus()
    page.keyboard.press("Enter")
    expect(asked(page).get_by_test_id("said")).to_contain_text("Another number is larger.")
    for key, times in (("ArrowDown", row), ("ArrowRight", column)):
        for _ in range(times):
            page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(asked(page).get_by_test_id("said")).to_contain_text("Right.")
    expect(page.get_by_test_id("announced")).to_contain_text("Right.")
    expect(frame.get_by_test_id("head-0-0")).to_be_visible()  # the view is still there
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("next-step")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("step-title")).to_have_text("2. Read one weight")
    expect(frame.get_by_test_id("head-title")).to_have_text(f"Layer {row} · Head {column}")
    notes = [line.text for step in lessons()[HEADS].steps for line in step.all("note")]
    content = page.content()
    assert not any(note[:30] in content for note in notes)
    expect(page.get_by_test_id("notes")).to_have_count(0)


def test_a_teacher_has_the_notes_in_a_second_window(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(f"lesson={HEADS}&presenter=1", "/lesson")
    expect_question_beside_view(page)
    with page.context.expect_page() as opened:
        page.get_by_test_id("notes").click()
    second = opened.value
    sheet = second.get_by_test_id("notes-1")
    expect(sheet).to_contain_text("answers within 0.02 count")
    expect(sheet.get_by_role("row")).to_have_count(5)
    expect(second.get_by_test_id("question")).to_have_count(0)
    second.close()


def expect_question_beside_view(page: Page) -> None:
    """Waits until the question and its view are both on the screen of a small projector."""
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(page.locator(".lessons")).to_have_class(re.compile("presenter"))
    page.get_by_test_id("dot-1").click()
    for part in (asked(page), page.frame_locator("iframe").get_by_test_id("head-canvas")):
        expect(part).to_be_in_viewport(ratio=0.99)
    page.get_by_test_id("dot-0").click()


def test_on_a_phone_an_own_checkpoint_is_chosen(visit: Visit) -> None:
    page = visit(width=390, height=844, touch=True).open(f"lesson={OWN}", "/lesson")
    expect(asked(page)).to_be_visible()
    found = sizes(page)
    assert smaller(found["texts"], 12) == [] and smaller(found["sides"], 24) == [] and found["unnamed"] == []
    assert page.evaluate(TOO_WIDE) <= 0
    page.get_by_test_id("lesson-model").select_option("ladder-7-depth")
    answer(page, "16")
    expect(asked(page).get_by_test_id("said")).to_contain_text("Right. 4 layers with 4 heads each.")
    expect(page.frame_locator("iframe").get_by_test_id("head-3-3")).to_be_attached()
