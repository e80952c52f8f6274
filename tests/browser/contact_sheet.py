"""The figures that the pages save, at both widths, on one sheet to be looked at.

`python -m tests.browser.contact_sheet FOLDER` writes them and the sheet.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser import chromium
from tests.browser.chromium import ARGUMENTS
from tests.browser.server import serve
from tests.browser.visitor import Visitor

WIDTHS = ("85", "180")  # millimetres
MOST_SECONDS = 60
TEXTS = {
    "sentence": "The cat sat on the mat",
    "chinese": "猫坐在垫子上。",
    "emoji": "I 😀 you 👩‍👩‍👧, he said",
    "arabic": "جلست القطة على السجادة",
    "sixty": "One day a little girl named Lily went to the park with her mother and saw a big dog. " * 3,
    "one": "cat",
}


@dataclass(frozen=True)
class Case:
    """Figures of one page: its name, its address, and what is chosen in the menu by the name of each control."""

    name: str
    path: str
    choices: dict[str, str]
    chosen: dict[str, str] = field(default_factory=dict)


CASES = (
    *(
        Case(f"{plot}, {name}", "/", {"model": "stories-causal", "text": text, "plot": plot})
        for name, text in TEXTS.items()
        for plot in ("heatmap", "lines")
    ),
    Case("all heads", "/", {"model": "stories-causal", "text": TEXTS["sentence"]}, {"figure-subject": "heads"}),
    Case("three heads", "/", {"model": "stories-causal", "text": TEXTS["sentence"], "heads": "0.1;1.3;2.0"}),
    Case("labels", "/tasks", {"model": "sentiment"}),
    Case("translation", "/tasks", {"model": "translate"}),
    Case("caption", "/tasks", {"model": "caption"}),
    Case("compare", "/compare", {"model": "stories-causal"}),
    Case("generate", "/generate", {"model": "stories-causal"}),
    Case("positions", "/positions", {"model": "stories-causal"}),
)


def save_figures(page: Page, case: Case, folder: Path) -> Iterator[tuple[str, Path]]:
    """The figure of a page at each width, with what it is called."""
    if case.path == "/generate":
        for _ in range(4):
            page.get_by_test_id("step").click()
            page.wait_for_timeout(400)
    page.get_by_test_id("export-menu-button").click()
    for control, choice in case.chosen.items():
        page.get_by_test_id(control).select_option(choice)
    for width in WIDTHS:
        page.get_by_test_id("figure-width").select_option(width)
        with page.expect_download() as caught:
            page.get_by_test_id("export-svg").click()
        file = folder / f"{case.name.replace(', ', '-').replace(' ', '-')}-{width}.svg"
        caught.value.save_as(file)
        yield f"{case.name}, {width} mm", file


def contact_sheet(figures: list[tuple[str, Path]]) -> str:
    """An HTML page with all figures in their real sizes."""
    tiles = (
        f'<figure><figcaption>{name}</figcaption><img src="{file.name}" alt="{name}"></figure>'
        for name, file in figures
    )
    style = "body{background:#888;display:flex;flex-wrap:wrap;gap:8px;font:12px sans-serif}img{background:#fff}"
    return f"<!doctype html><meta charset=utf-8><style>{style}figure{{margin:0}}</style>{''.join(tiles)}"


def main(folder: Path) -> None:
    """Save all figures and the sheet into a folder."""
    path = chromium.find()
    if path is None:
        sys.exit(chromium.MISSING)
    folder.mkdir(parents=True, exist_ok=True)
    figures: list[tuple[str, Path]] = []
    with serve(folder) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        for case in CASES:
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            Visitor(page, server.url).open(urlencode(case.choices), case.path)
            expect(page.get_by_test_id("export-menu-button")).to_be_visible(timeout=1_000 * MOST_SECONDS)
            page.wait_for_timeout(2_000)
            figures += save_figures(page, case, folder)
            page.close()
        (folder / "sheet.html").write_text(contact_sheet(figures), encoding="utf-8")
        sheet = browser.new_page(viewport={"width": 1800, "height": 1000})
        sheet.goto((folder / "sheet.html").absolute().as_uri())
        sheet.screenshot(path=str(folder / "sheet.png"), full_page=True)
        browser.close()
    print(folder / "sheet.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
