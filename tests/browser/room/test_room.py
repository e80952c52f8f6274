"""A room with a teacher at the projector and two students who answer."""

import csv
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.course.test_course import screen
from tests.browser.lesson.test_lessons import HEADS, PENCIL, answer, asked, fix_seed, question
from tests.browser.test_accessibility import AXE, assert_without_finding
from tests.browser.visitor import Visitor, expect_to_fit

VISITS = "**/api/room_visit"
COUNT_CLICKS = """addEventListener("click", ({ isTrusted }) => {
  if (isTrusted) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true);"""


def sheet(visitor: Visitor) -> Page:
    """The page with the sheet of rooms, at a chapter of the course."""
    page = visitor.open("chapter=attention&presenter=1", "/course")
    page.get_by_test_id("room-button").click()
    expect(page.get_by_test_id("room-address")).to_contain_text(visitor.url.removeprefix("http://"))
    return page


def opened_room(teacher: Visitor) -> str:
    """The link of a room that a teacher opens."""
    page = sheet(teacher)
    page.get_by_test_id("room-open").click()
    expect(page.get_by_test_id("room-title")).to_contain_text("Room ")
    return f"http://{page.get_by_test_id('room-address').inner_text()}"


def joined(student: Visitor, number: int) -> Page:
    """The student's page, once it shows the student's number."""
    expect(student.page.get_by_test_id("room-said")).to_contain_text(f"You are number {number}.")
    return student.page


def expect_bars(teacher: Page, *bars: str) -> None:
    expect(teacher.get_by_test_id("room-answers").locator("li")).to_have_text(bars)


def test_a_class_answers_and_the_projector_shows_first_answers_without_names(visit: Visit) -> None:
    at_projector, with_phone, with_laptop = visit(width=1280, height=720), visit(width=390, height=844), visit()
    link = opened_room(at_projector)
    teacher = at_projector.page
    with_phone.page.goto(link)
    anna = joined(with_phone, 1)
    sheet(with_laptop).get_by_test_id("room-code").fill(link[-5:].lower())
    with_laptop.page.keyboard.press("Enter")
    ben = joined(with_laptop, 2)
    expect_to_fit(anna, "room-line")
    screen(anna, "look-up").get_by_role("button", name="entry 2").click()
    expect_bars(teacher, "entry 00", "entry 10", "entry 21")
    of_ben = screen(ben, "look-up")
    of_ben.get_by_test_id("hint").click()
    of_ben.get_by_role("button", name="entry 1").click()
    expect_bars(teacher, "entry 00", "entry 11", "entry 21")
    of_ben.get_by_role("button", name="entry 0").click()
    expect(of_ben.get_by_test_id("said")).to_contain_text("Right.")
    expect(teacher.get_by_test_id("room-places")).to_have_text("2 4.1 A look-up that became soft")
    expect_to_fit(teacher, "room-sheet")
    reload_and_lose_the_network(with_laptop)
    expect_bars(teacher, "entry 00", "entry 11", "entry 21")
    show_a_view(teacher, anna, ben)
    play_lessons(with_phone, with_laptop, teacher)
    teacher.evaluate(AXE.read_text(encoding="utf-8"))
    assert_without_finding(teacher, teacher.get_by_test_id("room"))
    end(teacher, anna)


@pytest.mark.journey
def test_from_the_opened_page_to_the_grades_of_the_class_a_teacher_clicks_ten_times_at_most(visit: Visit) -> None:
    at_projector, with_phone, with_laptop = visit(width=1280, height=720), visit(width=390, height=844), visit()
    at_projector.run_always(COUNT_CLICKS)
    teacher = at_projector.open()
    teacher.get_by_test_id("room-button").click()
    teacher.get_by_test_id("room-open").click()
    expect(teacher.get_by_test_id("room-title")).to_contain_text("Room ")
    link = f"http://{teacher.get_by_test_id('room-address').inner_text()}"
    for number, student in enumerate((with_phone, with_laptop), 1):
        student.page.goto(link)
        joined(student, number)
    expect_inside(teacher, "room-end", "room-here", "room-timer")
    teacher.get_by_test_id("room-close").click()
    teacher.get_by_role("link", name="Course").click()
    teacher.get_by_role("link", name="Lessons").click()
    teacher.get_by_test_id(f"lesson-{PENCIL}").click()
    expect(asked(teacher)).to_be_visible()
    at_projector.settle()
    teacher.get_by_test_id("room-bring").click()
    expect(with_phone.page.get_by_test_id("room-said")).to_contain_text("Your teacher has brought the class here.")
    for student, name in ((with_phone, "Ann"), (with_laptop, "Ben")):
        hand_in(student, name)
    teacher.get_by_test_id("room-button").click()
    expect(teacher.get_by_test_id("room-handed")).to_have_text("2 hand-ins:")
    expect_inside(teacher, "room-end", "room-grades", "room-results")
    with teacher.expect_download() as grades:
        teacher.get_by_test_id("room-grades").click()
    assert int(teacher.evaluate("sessionStorage.clicks")) <= 10
    rows = csv.DictReader(grades.value.path().read_text(encoding="utf-8").splitlines())
    assert [(row["name"], row["points"], row["problem"]) for row in rows] == [("Ann", "1", ""), ("Ben", "0", "")]
    mark_the_answers(teacher)
    open_the_work_of_a_student(teacher, with_phone.page)


def hand_in(student: Visitor, name: str) -> None:
    """The student, who was brought to the lesson, answers its first question and hands in at its last step."""
    page = student.page
    expect(asked(page)).to_be_visible()
    first = question(page, PENCIL, 0)
    answer(page, first.right if name == "Ann" else "123456")
    expect(asked(page).get_by_test_id("said")).not_to_be_empty()
    page.get_by_test_id("dot-3").click()
    page.get_by_test_id("hand-in-name").fill(name)
    page.get_by_test_id("hand-in").click()
    expect(page.get_by_test_id("handed-in")).to_contain_text("It stays in the room until your teacher ends the room")


def expect_inside(page: Page, *parts: str) -> None:
    """Waits until these parts of the sheet are within the window, without scrolling."""
    for part in parts:
        expect(page.get_by_test_id(part)).to_be_in_viewport(ratio=1)


def mark_the_answers(teacher: Page) -> None:
    """Each student has other numbers, so that only the marks can be counted."""
    expect_bars(teacher, "answered2")
    teacher.get_by_test_id("room-mark").click()
    expect(teacher.get_by_test_id("room-answers")).to_contain_text("✓ right1")


def open_the_work_of_a_student(teacher: Page, shown: Page) -> None:
    """The teacher sees the step of the student with the answers, and keeps nothing of it."""
    teacher.get_by_test_id("room-number").fill("1")
    teacher.get_by_test_id("room-number").press("Enter")
    shown.get_by_test_id("room-agree").click()
    shown.get_by_test_id("dot-0").click()
    kept = teacher.evaluate(f"localStorage['headlight-lesson-{PENCIL}']")
    view = teacher.get_by_test_id("room-view")
    expect(view).to_have_attribute("href", re.compile("lesson_step=1"))
    with teacher.expect_popup() as opened:
        view.click()
    expect(asked(opened.value).get_by_test_id("said")).to_contain_text("Right.")
    assert teacher.evaluate(f"localStorage['headlight-lesson-{PENCIL}']") == kept
    opened.value.close()


def reload_and_lose_the_network(student: Visitor) -> None:
    """The student keeps their number."""
    student.provoked = "ERR_FAILED"
    page, said = student.page, student.page.get_by_test_id("room-said")
    page.reload()
    expect(said).to_contain_text("You are number 2.")
    page.route(VISITS, lambda route: route.abort())
    expect(said).to_contain_text("waiting for the network")
    page.unroute(VISITS)
    expect(said).to_contain_text("You are number 2.")


def play_lessons(by_keys: Visitor, by_pointing: Visitor, teacher: Page) -> None:
    """Two students answer a lesson each, wrong and then right; the teacher sees their locations and first answers."""
    page = by_keys.open(path="/lesson")
    expect(page.get_by_test_id(f"lesson-{PENCIL}")).to_be_visible()
    fix_seed(page, PENCIL)
    by_keys.open(f"lesson={PENCIL}", "/lesson")
    expect(asked(page)).to_be_visible()
    typed = question(page, PENCIL, 0)
    for given, said in ((typed.mistakes[0][0], typed.mistakes[0][1]), (typed.right, "Right.")):
        answer(page, given)
        expect(asked(page).get_by_test_id("said")).to_contain_text(said)
    expect(teacher.get_by_test_id("room-places")).to_contain_text("Attention with a pencil, step 1")
    expect(teacher.get_by_test_id("room-answers").first).to_contain_text("a number, not shown1")
    teacher.get_by_test_id("room-mark").click()
    expect_bars(teacher, f"✗ {typed.mistakes[0][1]}1")
    expect(teacher.get_by_test_id("room-right")).to_contain_text(typed.because)
    page = by_pointing.open(f"lesson={HEADS}", "/lesson")
    expect(asked(page)).to_be_visible()
    right = question(page, HEADS, 0).right
    wrong = "0,1" if right != "0,1" else "0,2"
    for given, said in ((wrong, "Another number is larger."), (right, "Right.")):
        row, column = given.split(",")
        asked(page).get_by_label(f"Row layer {row}, column {column}", exact=True).click()
        expect(asked(page).get_by_test_id("said")).to_contain_text(said)
    expect(teacher.get_by_test_id("room-places")).to_contain_text("The head that looks one word back, step 1")
    expect(teacher.get_by_test_id("room-answers").first).to_contain_text(f"layer 0 → {wrong[2:]}1")


def show_a_view(teacher: Page, shown: Page, other: Page) -> None:
    """The student whose view is shown is notified, the other is not."""
    expect(teacher.get_by_test_id("room-view")).to_be_hidden()
    teacher.get_by_test_id("room-number").fill("1")
    teacher.get_by_test_id("room-number").press("Enter")
    view = teacher.get_by_test_id("room-view")
    expect(shown.get_by_test_id("room-said")).to_contain_text("Your teacher asks to show your view to the class.")
    expect(view).to_be_hidden()
    shown.get_by_test_id("room-agree").click()
    expect(view).to_have_text("Open the view of student 1")
    expect(view).to_have_attribute("href", "/course?chapter=attention&presenter=1")
    expect(shown.get_by_test_id("room-said")).to_contain_text("Your teacher shows your view to the class.")
    expect(other.get_by_test_id("room-said")).not_to_contain_text("shows your view")
    teacher.get_by_test_id("room-unshow").click()
    expect(view).to_be_hidden()


def end(teacher: Page, student: Page) -> None:
    """The room closes, for the teacher at once and for a student with a message."""
    teacher.get_by_test_id("room-end").focus()
    teacher.keyboard.press("Enter")
    expect(teacher.get_by_test_id("room-end")).to_contain_text("forget all answers?")
    teacher.keyboard.press("Enter")
    expect(teacher.get_by_test_id("room-sheet")).to_be_hidden()
    expect(teacher.get_by_test_id("room-button")).to_have_text("Class")
    expect(student.get_by_test_id("room-said")).to_contain_text("it has ended")
    student.get_by_role("button", name="Close").click()
    expect(student.get_by_test_id("room-line")).to_be_hidden()
    student.reload()
    expect(asked(student)).to_be_visible()
    expect(student.get_by_test_id("room-line")).to_be_hidden()
