"""Views of all kinds are drawn on the screen, in all colours and on a phone; figures have two widths."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from headlight.views.kinds import TitledView, View
from tests.browser.views.samples import samples
from tests.browser.views.sheet import LOOKS, WIDTHS, change_look, listed_figures, open_sheet, save_figure
from tests.browser.visitor import Visitor

# The drawings of views, by their places, that are empty or reach beyond the panel.
MISDRAWN = """panel => [...panel.querySelectorAll("figure")].filter((figure) => {
  const [{ width, height, right }, room] = [figure.getBoundingClientRect(), panel.getBoundingClientRect()];
  return width < 20 || height < 10 || right > room.right + 1;
}).map((figure) => figure.dataset.testid)"""
# The texts and shapes of a figure that reach beyond its edges.
CUT = """svg => [...svg.querySelectorAll("text, rect, circle, image, path")].filter((part) => {
  const [{ left, right, bottom }, sheet] = [part.getBoundingClientRect(), svg.getBoundingClientRect()];
  return left < sheet.left - 1 || right > sheet.right + 1 || bottom > sheet.bottom + 1;
}).map((part) => part.textContent || part.localName)"""
# The pairs of upright texts of a figure that overlap by more than neighbouring lines of a text do.
COVERING = """svg => [...svg.querySelectorAll("text:not([transform])")].flatMap((one, place, all) => {
  const boxOf = (text) => text.getBoundingClientRect();
  return all.slice(0, place).filter((other) => {
    const [first, second] = [boxOf(one), boxOf(other)];
    const across = Math.min(first.right, second.right) - Math.max(first.left, second.left);
    const down = Math.min(first.bottom, second.bottom) - Math.max(first.top, second.top);
    return across > 1 && down > 0.4 * Math.min(first.height, second.height);
  }).map((other) => `${one.textContent} | ${other.textContent}`);
})"""
# The kinds that are used rather than looked at, which have no figure.
USED = {"choice", "input", "sound", "file"}
# The colours that tell numbers and groups: of bars and what they lie on, of tokens, and of legends.
STYLES = (".bar-track", ".bar-track i", ".when", ".when i", ".chip", ".kind", ".swatch-line")
COLOURS = """(panel, styles) => styles.map((style) =>
  [...panel.querySelectorAll(style)].map((part) => {
    const { backgroundColor, borderTopColor } = getComputedStyle(part, part.matches(".kind") ? "::before" : null);
    return style === ".swatch-line" ? borderTopColor : backgroundColor;
  }))"""


def kinds_of(parent: type[View]) -> Iterator[type[View]]:
    """All classes of views below another."""
    for kind in parent.__subclasses__():
        yield from kinds_of(kind)
        if kind is not TitledView:
            yield kind


def test_each_kind_has_a_sample() -> None:
    assert {type(view) for view in samples()} == set(kinds_of(View))


@pytest.mark.parametrize("look", LOOKS)
def test_each_kind_is_drawn_within_its_panel(visitor: Visitor, look: str) -> None:
    panel = open_sheet(visitor, samples())
    change_look(visitor.page, look)
    expect(panel.locator("figure")).to_have_count(len(samples()))
    assert panel.evaluate(MISDRAWN) == []


def test_forced_colours_leave_the_colours_that_tell_numbers_and_groups(visitor: Visitor) -> None:
    panel = open_sheet(visitor, samples())
    change_look(visitor.page, "forced")
    tracks, bars, wholes, spans, chips, kinds, lines = panel.evaluate(COLOURS, STYLES)
    assert not set(tracks) & set(bars) and not set(wholes) & set(spans)
    assert len(set(chips)) >= 6 and len(set(kinds)) == 2 and len(set(lines)) >= 2


def test_no_part_of_a_figure_reaches_beyond_its_edges_or_covers_a_text(visitor: Visitor, tmp_path: Path) -> None:
    views = samples()
    open_sheet(visitor, views)
    subjects = listed_figures(visitor.page)
    assert subjects[1:] == [view.title for view in views if view.kind not in USED]
    for width in WIDTHS:
        file = tmp_path / f"figure-{width}.svg"
        save_figure(visitor.page, subjects[0], width, file)
        drawn = visitor.page.context.new_page()
        drawn.set_content(file.read_text(encoding="utf-8"))
        svg = drawn.locator("svg").first
        assert (svg.evaluate(CUT), svg.evaluate(COVERING)) == ([], [])
        drawn.close()
