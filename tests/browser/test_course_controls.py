"""Each screen of the Course in a browser: one of its controls is changed, and its pictures with it.

Every kind of control has its turn within a chapter; one that only draws another question changes no picture.
tests/model/course/test_screens.py shows without a browser that each control changes what is computed, also on screens
that compute for seconds or read a file.
"""

from collections import Counter

import pytest
from playwright.sync_api import expect

from headlight.course.chapters import CHAPTERS
from tests.browser.test_course import course
from tests.browser.visitor import Visitor
from tests.model.course.test_screens import BEFORE, CONTROLS, ends, has_another_value, others

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


def change(path: str, changed: Counter[type]) -> list[tuple[str, list[tuple[str, str]], list[str]]]:
    """The control whose kind was changed least, what is chosen before, and the values to try; nothing without one."""
    found = {
        place: control
        for place, (_, name, control) in CONTROLS.items()
        if place == f"{path}.{name}" and has_another_value(control) and not control.title.startswith("Ask of another")
    }
    if not found:
        return []
    place = min(found, key=lambda place: changed[type(found[place])])
    control = found[place]
    changed[type(control)] += 1
    texts = [text for text in (*others(place, control), *ends(control)) if text != control.default]
    return [(CONTROLS[place][1], [BEFORE[place]] if place in BEFORE else [], texts)]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_control_changes_the_pictures_of_its_screen(visitor: Visitor, chapter: str) -> None:
    page, row = course(visitor, chapter=chapter), CHAPTERS[chapter]
    expect(page.get_by_test_id("chapter-title")).to_have_text(row.title)
    screens = page.get_by_test_id("screens")
    unchanged, changed = {}, Counter[type]()
    for name, screen in row.screens.items():
        if not screen.is_long and name != "pretraining":
            page.get_by_test_id(f"screen-{name}").wait_for()
            unchanged[name] = screens.evaluate(CHANGE_CONTROLS, [name, change(f"{chapter}/{name}", changed)])
    assert {name: controls for name, controls in unchanged.items() if controls} == {}
