"""Each screen of the Course in a browser: a control of each kind is changed, and its pictures with it.

tests/model/course/test_screens.py shows without a browser that each control changes what is computed, also on screens
that compute for seconds ("pretraining" labels 120 reviews twice for each change) or read a file.
"""

import pytest
from playwright.sync_api import expect

from headlight.course.chapters import CHAPTERS
from tests.browser.test_course import SHOW_AT_ONCE
from tests.browser.visitor import Visitor
from tests.model.course.test_screens import CONTROLS, before, ends, has_another_value, others

# Within the page, since each step from here would take longer than a screen's answer.
CHANGE_CONTROLS = """async (screens, [name, changes]) => {
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
    while (screen.dataset.state !== "ready") await new Promise((go) => setTimeout(go, 5));
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
    """A control of each kind of a screen, what is chosen before, and the values to try."""
    found: dict[type, tuple[str, list[tuple[str, str]], list[str]]] = {}
    for place, (_, name, control) in CONTROLS.items():
        draws_question_alone = control.title.startswith("Ask of another")
        if place == f"{path}.{name}" and has_another_value(control) and not draws_question_alone:
            texts = [text for text in (*others(place, control), *ends(control)) if text != control.default]
            found.setdefault(type(control), (name, list(before(place)), texts))
    return list(found.values())


@pytest.fixture(scope="module")
def visitor(window: Visitor) -> Visitor:
    window.page.add_init_script(SHOW_AT_ONCE)
    window.open(path="/course")
    return window


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_control_of_each_kind_changes_the_pictures_of_its_screen(visitor: Visitor, chapter: str) -> None:
    page, row = visitor.go(f"chapter={chapter}", "/course"), CHAPTERS[chapter]
    expect(page.get_by_test_id("chapter-title")).to_have_text(row.title)
    screens = page.get_by_test_id("screens")
    unchanged = {}
    for name, screen in row.screens.items():
        if not screen.is_long and name != "pretraining":
            page.get_by_test_id(f"screen-{name}").wait_for()
            unchanged[name] = screens.evaluate(CHANGE_CONTROLS, [name, changes(f"{chapter}/{name}")])
    assert {name: controls for name, controls in unchanged.items() if controls} == {}
    visitor.assert_clean()
