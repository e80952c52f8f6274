"""All screens of the Course in a browser: a control is changed, and the screen's pictures with it.

tests/model/course/test_screens.py changes each control, models and what runs for seconds too, and needs no browser.
"""

from __future__ import annotations

from playwright.sync_api import expect

from model.course.chapters import CHAPTERS
from tests.browser.test_course import course
from tests.browser.visitor import Visitor

# Within the page, since each step from here would take longer than a screen's answer.
CHANGE_CONTROLS = """async (screens) => {
  const CHANGES = {
    matrix: (control) => {
      const cell = control.querySelector("td input");
      if (cell.type === "checkbox") cell.click();
      else type(cell, cell.value === "3" ? "2" : "3");
    },
    choice: (control) => choose(control.querySelector("select")),
    seed: (control) => control.querySelector("button").click(),
    number: (control) => type(control.querySelector("input.figure"), next(control.querySelector("input"))),
  };
  const type = (field, text) => {
    field.value = text;
    field.dispatchEvent(new Event("input"));
  };
  const next = ({ value, step, max }) =>
    String(Number((Number(value) + (Number(value) + Number(step) <= Number(max) ? 1 : -1) * Number(step)).toFixed(4)));
  const choose = (select) => {
    select.selectedIndex = select.selectedIndex ? 0 : select.options.length - 1;
    select.dispatchEvent(new Event("change"));
  };
  const answered = async ({ dataset }) => {
    while (dataset.state !== "ready") await new Promise((go) => setTimeout(go, 10));
  };
  const unchanged = [];
  for (const screen of screens.querySelectorAll(".screen")) {
    if (!screen.querySelector(".run").hidden) continue;
    screen.scrollIntoView();
    await answered(screen);
    const kind = Object.keys(CHANGES).find((each) => screen.querySelector(`.control.${each}`));
    if (!kind) continue;
    const rows = screen.querySelector(".rows");
    const before = rows.innerHTML;
    CHANGES[kind](screen.querySelector(`.control.${kind}`));
    await answered(screen);
    if (rows.innerHTML === before) unchanged.push(`${screen.dataset.testid} ${kind}`);
  }
  return unchanged;
}"""


def test_a_control_of_each_screen_changes_its_pictures(visitor: Visitor) -> None:
    page = course(visitor)
    unchanged: list[str] = []
    for chapter, row in CHAPTERS.items():
        page.get_by_test_id("contents").get_by_role("button", name=row.title, exact=True).click()
        expect(page.get_by_test_id("chapter-title")).to_have_text(row.title)
        page.get_by_test_id(f"screen-{next(iter(row.screens))}").wait_for()
        unchanged += [f"{chapter}: {each}" for each in page.get_by_test_id("screens").evaluate(CHANGE_CONTROLS)]
    assert unchanged == []
