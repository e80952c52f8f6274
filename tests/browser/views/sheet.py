"""A sheet with a view of each kind, on the screen and, if it has one, as a figure.

`python -m tests.browser.views.sheet FOLDER` makes it: `sheet.html`, and a picture of it.

The views are those of a page whose answer they have been put into. The screen is taken light, dark, in forced colours
and as wide as a phone; the figures are those that the page saves, as wide as a column (85 mm) and a page (180 mm) of
print.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from headlight.views.encoding import plain, plain_rows
from headlight.views.kinds import View
from headlight.views.rows import Row
from headlight_app.contract.reply import Reply
from headlight_app.contract.views import ViewsAnswer
from headlight_app.export.answers.views import digest_of
from tests.browser import chromium
from tests.browser.server import serve
from tests.browser.views.samples import samples
from tests.browser.visitor import Visitor

WIDTHS = ("85", "180")  # millimetres
WIDE, PHONE, TALL = 1440, 390, 3_000  # pixels
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced": {"color_scheme": "dark", "forced_colors": "active"},
    "phone": {"color_scheme": "light", "forced_colors": "none"},
}
STYLE = "body { font: 14px sans-serif } div { display: flex; flex-wrap: wrap; gap: 8px; align-items: start }"


def open_sheet(visitor: Visitor, views: Sequence[View]) -> Locator:
    """A page of views that shows these."""
    rows = plain_rows(
        [Row((view,)) for view in views],
        with_tables=True,
        plain_view=lambda view: {"digest": digest_of(view)} | plain(view),
    )
    answer = Reply(ViewsAnswer(rows=rows, title="All kinds", about="samples", program={})).encode()
    visitor.page.route("**/views", lambda route: fulfil(route, answer))
    panel = visitor.open("model=stories-causal", "/positions").get_by_test_id("views")
    expect(panel.get_by_test_id(f"view-{views[-1].kind}").last).to_be_visible()
    return panel


def fulfil(route: Route, answer: bytes) -> None:
    """Answers a request with an encoded answer."""
    route.fulfill(body=answer, content_type="application/octet-stream")


def change_look(page: Page, look: str, height: int = 900) -> None:
    """Changes the colours and the size of the window."""
    page.emulate_media(**LOOKS[look])
    page.set_viewport_size({"width": PHONE if look == "phone" else WIDE, "height": height})


def listed_figures(page: Page) -> list[str]:
    """The titles of the figures that the page saves, that of all views first."""
    page.get_by_test_id("export-menu-button").click()
    subjects = page.get_by_test_id("figure-subject").locator("option")
    expect(subjects).not_to_have_count(0)
    page.keyboard.press("Escape")
    return subjects.all_text_contents()


def save_figure(page: Page, subject: str, width: str, file: Path) -> None:
    """A figure in a width in millimetres, as the page saves it."""
    page.get_by_test_id("export-menu-button").click()
    page.get_by_test_id("figure-subject").select_option(subject)
    page.get_by_test_id("figure-size").select_option(width)
    with page.expect_download() as caught:
        page.get_by_test_id("export-svg").click()
    page.keyboard.press("Escape")
    caught.value.save_as(file)


def main(folder: Path) -> None:
    """Save each view in each look, its figures, and the sheet of them, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    views = samples()
    with chromium.launched() as browser, serve(folder) as server:
        page = browser.new_page(viewport={"width": WIDE, "height": 900})
        panel = open_sheet(Visitor(page, server.url), views)
        figures = panel.locator("figure")
        for look in LOOKS:
            change_look(page, look, TALL)  # the page scrolls within its window, where a tall view would be cut
            page.wait_for_timeout(1_000)
            for place in range(len(views)):
                figures.nth(place).screenshot(path=folder / f"{place}-{look}.png")
        change_look(page, "light")
        titles = listed_figures(page)
        for width in WIDTHS:
            save_figure(page, titles[0], width, folder / f"all-{width}.svg")
            for place, view in enumerate(views):
                if view.title in titles:
                    save_figure(page, view.title, width, folder / f"{place}-{width}.svg")
        sheet = folder / "sheet.html"
        sheet.write_text("".join(html_of(folder, views)), encoding="utf-8")
        page.goto(sheet.absolute().as_uri())
        page.screenshot(path=folder / "sheet.png", full_page=True)
        browser.close()
    print(sheet)


def html_of(folder: Path, views: Sequence[View]) -> Iterator[str]:
    """The pictures of each view below its kind."""
    yield f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>"
    for place, view in enumerate(views):
        files = (*(f"{place}-{look}.png" for look in LOOKS), *(f"{place}-{width}.svg" for width in WIDTHS))
        shown = [file for file in files if (folder / file).exists()]
        yield f"<h2>{view.kind}: {escape(view.title)}</h2>{pictures(shown)}"
    yield f"<h2>all together</h2>{pictures(f'all-{width}.svg' for width in WIDTHS)}"


def pictures(files: Iterable[str]) -> str:
    """Images beside each other."""
    return f"<div>{''.join(f'<img src={file} alt={file}>' for file in files)}</div>"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
