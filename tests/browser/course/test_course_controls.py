"""Each screen of the Course in a browser: a control of each kind changes the pictures.

tests/model/course/test_screens.py shows without a browser that each control changes the result, also on screens that
compute for seconds ("pretraining" labels 120 reviews twice for each change) or read a file.
"""

import re

import pytest
from playwright.sync_api import Locator, expect

from headlight.course.chapters import CHAPTERS
from headlight.questions.kinds import Choice, Draw, Goal, Order, Point, Question
from tests.browser.course.test_course import course, screen
from tests.browser.journeys import with_journeys
from tests.browser.visitor import PATIENCE, Visitor
from tests.model.course.test_screens import CONTROLS, before, ends, first_rows, has_another_value, others

# Runs in the page, since each step from Python would take longer than a screen's answer.
CHANGE_CONTROLS = """async (screens, [name, changes, seconds]) => {
  const screen = screens.querySelector(`[data-testid=screen-${name}]`);
  const rows = screen.querySelector(".rows");
  const field = (control) => screen.querySelector(`[data-testid=input-${control}]`);
  const type = (input, text) => {
    input.value = text;
    input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
  };
  const fillCells = (table, text) => {
    const cells = [...table.querySelectorAll("td input")];
    for (const [at, number] of text.split(/[,;]/).entries()) {
      if (cells[at].type === "checkbox") {
        if (cells[at].checked !== (number !== "0")) cells[at].click();
      } else if (cells[at].value !== number) type(cells[at], number);
    }
  };
  const change = (control, text) => (field(control).value === undefined ? fillCells : type)(field(control), text);
  const answered = async () => {
    const latest = performance.now() + 1000 * seconds;
    while (screen.dataset.state !== "ready") {
      if (!screen.isConnected) throw new Error(`${name} was redrawn and gets no more answers`);
      if (performance.now() > latest) throw new Error(`${name} stays ${screen.dataset.state}`);
      await new Promise((go) => setTimeout(go, 5));
    }
  };
  const shown = () => rows.innerHTML + [...rows.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL());
  screen.scrollIntoView();
  await answered();
  const unchanged = [];
  for (const [control, before, texts] of changes) {
    for (const [other, text] of before) change(other, text);
    await answered();
    const first = shown();
    for (const text of texts) {
      change(control, text);
      await answered();
      if (shown() !== first) break;
    }
    if (shown() === first) unchanged.push(control);
    const reset = screen.querySelector("[data-testid=reset]");
    if (!reset.hidden) reset.click();
    await answered();
  }
  return unchanged;
}"""


def changes(path: str) -> list[tuple[str, list[tuple[str, str]], list[str]]]:
    """A control of each kind of a screen, the choices to make before, and the values to try."""
    found: dict[type, tuple[str, list[tuple[str, str]], list[str]]] = {}
    for place, (_, name, control) in CONTROLS.items():
        draws_question_alone = control.title.startswith("Ask about another")
        if place == f"{path}.{name}" and has_another_value(control) and not draws_question_alone:
            texts = [text for text in (*others(place, control), *ends(control)) if text != control.default]
            found.setdefault(type(control), (name, list(before(place)), texts))
    return list(found.values())


@pytest.mark.parametrize("chapter", with_journeys(CHAPTERS, "heads"))
def test_a_control_of_each_kind_changes_the_pictures_of_its_screen(shared_visitor: Visitor, chapter: str) -> None:
    page, row = course(shared_visitor, chapter=chapter), CHAPTERS[chapter]
    expect(page.get_by_test_id("chapter-title")).to_have_text(row.title)
    screens = page.get_by_test_id("screens")
    unchanged = {}
    for name, each in row.screens.items():
        if not each.is_long and name != "pretraining":
            page.get_by_test_id(f"screen-{name}").wait_for()
            unchanged[name] = screens.evaluate(CHANGE_CONTROLS, [name, changes(f"{chapter}/{name}"), PATIENCE])
    assert {name: controls for name, controls in unchanged.items() if controls} == {}


def wrong_answer(question: Question) -> str:
    """The answer of a known mistake, or any other wrong one."""
    if question.mistakes:
        return question.mistakes[0][0]
    match question:
        case Choice():
            return next(option for option in question.options if option != question.right)
        case Point():
            return "0,0" if question.right != "0,0" else "0,1"
        case Draw():
            return question.right.translate(str.maketrans("01", "10"))
        case Goal():
            return question.right  # without having changed anything
        case Order():
            return ",".join(reversed(question.right.split(",")))
        case _:
            return "987654"


def give(found: Locator, question: Question, answer: str) -> None:
    """Gives an answer on the page."""
    asked = found.get_by_test_id("question").last
    match question:
        case Goal():
            pass
        case Choice():
            asked.get_by_role("button", name=answer, exact=True).click()
        case Point():
            row, column = map(int, answer.split(","))
            asked.get_by_label(f"Row {question.rows[row]}, column {question.columns[column]}", exact=True).click()
        case Draw():
            for box, tick in zip(asked.get_by_role("checkbox").all(), answer.replace(";", ",").split(","), strict=True):
                box.set_checked(tick == "1")
        case Order():
            for place, step in enumerate(answer.split(",")):
                while step_at(asked, question.options[int(step)]) > place:
                    asked.get_by_label(f"{question.options[int(step)]}: earlier", exact=True).click()
        case _:
            asked.get_by_test_id("answer").fill(answer)
    if not isinstance(question, Choice | Point):
        asked.get_by_role("button", name="Check").click()


def fill(found: Locator, control: str, text: str) -> None:
    """Types a value of a control, a matrix cell by cell."""
    field = found.get_by_test_id(f"input-{control}")
    if cells := field.locator("td input").all():
        for cell, number in zip(cells, text.replace(";", ",").split(","), strict=True):
            cell.fill(number)
    elif field.locator("option").count():
        field.select_option(text)
    else:
        field.fill(text)


def set_below(text: str) -> str:
    """A sentence as the page shows it: W_O without its underscore."""
    return re.sub(r"(?<=\b[A-Za-z])_(?=[A-Za-z])", "", text)


def step_at(asked: Locator, step: str) -> int:
    """The place of a step in the list."""
    return asked.locator("li > span").all_inner_texts().index(step)


@pytest.mark.parametrize("chapter", with_journeys(CHAPTERS, "heads"))
def test_each_screen_is_answered_wrong_and_then_right(shared_visitor: Visitor, chapter: str) -> None:
    page = shared_visitor.open(f"chapter={chapter}", "/course")
    for name, row in CHAPTERS[chapter].screens.items():
        rows = () if row.is_long else first_rows(f"{chapter}/{name}")
        for place, question in enumerate(each.question for each in rows if each.question):
            found = screen(page, name)
            expect(found.locator(".asked").nth(place)).to_have_text(set_below(question.text))
            said = found.get_by_test_id("said").nth(place)
            give(found, question, wrong_answer(question))
            expect(said).to_have_attribute("data-right", "false")
            if isinstance(question, Goal):
                for control, text in question.solution.items():
                    fill(found, control, text)
                expect(found).to_have_attribute("data-state", "ready")
            if question.tries > 1:
                give(found, question, question.right)
                expect(said).to_have_attribute("data-right", "true")
            expect(found.locator(".question.settled")).to_have_count(place + 1)
