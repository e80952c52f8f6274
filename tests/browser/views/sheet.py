"""A sheet with a view of each kind, on the screen and, if it has one, as a figure.

`python -m tests.browser.views.sheet FOLDER` makes it.

It is the panel of an analysis of Explore whose answer the views have been put into. The screen is taken light, dark and
in forced colours; the figures are those that the panel saves, as wide as a column (85 mm) and a page (180 mm) of print.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from headlight.views.encoding import plain
from headlight.views.kinds import View
from headlight.views.rows import Row
from headlight_app.contract.reply import Reply
from headlight_app.explore.contract import AnalysisAnswer
from tests.browser import chromium
from tests.browser.server import serve
from tests.browser.views.samples import samples
from tests.browser.visitor import Visitor

ANALYSIS = "logit_attribution"
WIDTHS = ("85", "180")  # millimetres
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced": {"color_scheme": "dark", "forced_colors": "active"},
}


def open_sheet(visitor: Visitor, views: Sequence[View]) -> Locator:
    """The panel of an analysis that shows these views."""
    rows = tuple(plain(Row((view,))) for view in views)
    answer = Reply(AnalysisAnswer(rows=rows)).encode()

    def fulfil(route: Route) -> None:
        asked = route.request.post_data_json or {}
        if asked.get("analysis") == ANALYSIS:
            route.fulfill(body=answer, content_type="application/octet-stream")
        else:
            route.fallback()

    visitor.page.route("**/analysis", fulfil)
    page = visitor.open(f"model=stories-causal&tab=layers&analysis={ANALYSIS}")
    panel = page.get_by_test_id("analysis-views")
    expect(panel.get_by_test_id(f"view-{views[-1].kind}").last).to_be_visible()
    return panel


def save_figure(page: Page, width: str, folder: Path) -> Path:
    """The figure of the panel in a width in millimetres, as the page saves it."""
    page.get_by_test_id("export-menu-button").click()
    page.get_by_test_id("figure-size").select_option(width)
    with page.expect_download() as caught:
        page.get_by_test_id("export-svg").click()
    page.keyboard.press("Escape")
    file = folder / f"figure-{width}.svg"
    caught.value.save_as(file)
    return file


def main(folder: Path) -> None:
    """Save the panel in each look, and its figures, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with chromium.launched() as browser, serve(folder) as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        panel = open_sheet(Visitor(page, server.url), samples())
        height = panel.evaluate("panel => panel.offsetHeight")
        page.set_viewport_size({"width": 1440, "height": height + 1_000})  # the page scrolls within its window
        for name, look in LOOKS.items():
            page.emulate_media(**look)
            page.wait_for_timeout(1_000)
            panel.screenshot(path=str(folder / f"screen-{name}.png"))
        figures = (save_figure(page, width, folder) for width in WIDTHS)
        images = "".join(f'<p><img src="{file.name}" alt="{file.stem}">' for file in figures)
        sheet = folder / "figures.html"
        sheet.write_text(f"<!doctype html><meta charset=utf-8>{images}", encoding="utf-8")
        page.goto(sheet.absolute().as_uri())
        page.screenshot(path=str(folder / "figures.png"), full_page=True)
        browser.close()
    print(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
