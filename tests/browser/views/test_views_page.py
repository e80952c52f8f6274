"""A page of views on the screen: legible on a phone, in panels as wide as their charts, and usable by keys."""

from playwright.sync_api import Page, expect

from tests.browser.visitor import Visitor

# The texts of charts that are smaller than 12 pixels on the screen.
SMALL = """views => [...views.querySelectorAll(".sheet-svg")].flatMap((sheet) => {
  const scale = sheet.getBoundingClientRect().width / sheet.viewBox.baseVal.width;
  const texts = [...sheet.querySelectorAll("text")];
  const small = texts.filter((text) => parseFloat(getComputedStyle(text).fontSize) * scale < 11.9);
  return small.map((text) => text.textContent);
})"""
# By how much lines are narrower than their panels, in pixels; a panel with a table spans the page.
NARROWER = """views => [...views.querySelectorAll(".view-row:not(:has(table)) .view-lines")].map((figure) => {
  const sheet = figure.querySelector(".sheet-svg");
  return Math.round(figure.getBoundingClientRect().width - sheet.getBoundingClientRect().width);
})"""


def open_positions(visitor: Visitor, width: int) -> Page:
    visitor.on_screen(width, 844)
    page = visitor.open("model=stories-causal&positional_encoding=sinusoidal", "/positions")
    expect(page.get_by_test_id("view-lines").first).to_be_visible()
    return page


def test_charts_are_as_wide_as_their_panels_and_legible_on_a_phone(shared_visitor: Visitor) -> None:
    for width in (390, 1440):
        views = open_positions(shared_visitor, width).get_by_test_id("views")
        assert views.evaluate(SMALL) == []
        assert all(-1 <= narrower <= 1 for narrower in views.evaluate(NARROWER))


def test_a_table_that_is_too_wide_is_scrolled_by_keys(shared_visitor: Visitor) -> None:
    page = open_positions(shared_visitor, 390)
    frame = page.get_by_role("region", name="Losses of decoders")
    frame.focus()
    page.keyboard.press("ArrowRight")
    expect(frame).not_to_have_js_property("scrollLeft", 0)


def test_numbers_that_are_read_do_not_cover_their_lines(shared_visitor: Visitor) -> None:
    page = open_positions(shared_visitor, 1440)
    chart = page.get_by_test_id("view-lines").first
    sheet, height = chart.locator(".sheet-svg"), chart.evaluate("chart => chart.offsetHeight")
    sheet.hover()
    reading = chart.locator(".legend")
    expect(reading).to_contain_text("position ")
    boxes = [element.bounding_box() for element in (sheet, reading)]
    assert boxes[0] and boxes[1] and boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert chart.evaluate("chart => chart.offsetHeight") == height
