"""The figures that the pages save, in every size, on sheets for visual inspection.

`python -m tests.browser.contact_sheet FOLDER [WORD]` writes them and the sheets; with a word, only the figures with it
in their name.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, expect

from tests.browser import chromium
from tests.browser.server import serve
from tests.browser.visitor import Visitor

SIZES = ("85", "180", "16:9", "1:1")
MOST_SECONDS = 60
PER_SHEET = 12  # figures
TEXTS = {
    "sentence": "The cat sat on the mat",
    "chinese": "猫坐在垫子上。",
    "emoji": "I 😀 you 👩‍👩‍👧, he said",
    "arabic": "جلست القطة على السجادة",
    "sixty": "One day a little girl named Lily went to the park with her mother and saw a big dog. " * 3,
    "one": "cat",
}
PLOTS = ("heatmap", "lines", "text", "table", "qk_projection")
UNREADABLE = (("table", "arabic"), ("table", "sixty"))  # tables that the page does not draw
ANALYSES = ("logit_lens", "logit_attribution", "information_flow", "head_ablation", "head_search")


def _press(test_id: str, seconds: float) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.get_by_test_id(test_id).click()
        page.wait_for_timeout(1_000 * seconds)

    return act


def _generate(page: Page) -> None:
    for _ in range(4):
        _press("step", 0.4)(page)


@dataclass(frozen=True)
class Case:
    """Figures of one page: its name, its address, the actions before export, and the subject chosen for the figure."""

    name: str
    path: str
    choices: dict[str, str]
    act: Callable[[Page], None] = field(default=lambda page: None)
    subject: str = ""


def _explore(name: str, text: str, subject: str = "", **choices: str) -> Case:
    asked = {"model": "stories-causal", "text": TEXTS[text], **choices}
    act = {name: _press("analysis-start", 8) for name in ("head_ablation", "head_search")}.get(
        choices.get("analysis", "")
    )
    return Case(f"{name}, {text}", "/", asked, act or (lambda page: None), subject)


CASES = (
    *(_explore(plot, text, plot=plot) for text in TEXTS for plot in PLOTS if (plot, text) not in UNREADABLE),
    *(_explore(each, text, tab="layers", analysis=each) for text in ("sentence", "sixty") for each in ANALYSES),
    *(_explore("logit_lens", text, tab="layers") for text in ("chinese", "emoji", "arabic", "one")),
    _explore("all heads", "sentence", "all heads, with each layer's numbers"),
    _explore("three heads", "sentence", heads="0.1;1.3;2.0"),
    _explore("three heads as lines", "sentence", heads="0.1;1.3;2.0", plot="lines"),
    _explore("a part", "sixty", zoom="10-20/0-20"),
    Case("image", "/", {"model": "caption"}),
    *(Case(task, "/tasks", {"model": task}) for task in ("sentiment", "translate", "caption", "sort")),
    Case("compare", "/compare", {"model": "stories-causal"}),
    Case("compare, one panel", "/compare", {"model": "stories-causal"}, subject="B − A"),
    Case("compare sixty", "/compare", {"model": "stories-causal", "text": TEXTS["sixty"]}),
    Case("generate", "/generate", {"model": "stories-causal"}, _generate),
    *(
        Case(f"positions {encoding}", "/positions", {"model": "stories-causal", "positional_encoding": encoding})
        for encoding in ("rope", "alibi", "sinusoidal")
    ),
    Case("losses", "/positions", {"model": "stories-causal"}, subject="Loss of decoders over the length of the text"),
)


def save_figures(page: Page, case: Case, folder: Path) -> Iterator[tuple[str, Path]]:
    """The figure of a page in each size, with its name."""
    case.act(page)
    page.get_by_test_id("export-menu-button").click()
    page.wait_for_timeout(1_000)  # until the options are listed
    if case.subject:
        page.get_by_test_id("figure-subject").select_option(case.subject)
    for size in SIZES:
        page.get_by_test_id("figure-size").select_option(size)
        with page.expect_download() as caught:
            page.get_by_test_id("export-svg").click()
        file = folder / f"{case.name.replace(', ', '-').replace(' ', '-')}-{size.replace(':', 'x')}.svg"
        caught.value.save_as(file)
        yield f"{case.name}, {size}", file


def contact_sheet(figures: list[tuple[str, Path]]) -> str:
    """An HTML page with all figures in their real sizes."""
    tiles = (
        f'<figure><figcaption>{name}</figcaption><img src="{file.name}" alt="{name}"></figure>'
        for name, file in figures
    )
    style = "body{background:#888;display:flex;flex-wrap:wrap;gap:8px;font:12px sans-serif}img{background:#fff}"
    return f"<!doctype html><meta charset=utf-8><style>{style}figure{{margin:0}}</style>{''.join(tiles)}"


def _figures(browser: Browser, address: str, cases: list[Case], folder: Path) -> list[tuple[str, Path]]:
    figures: list[tuple[str, Path]] = []
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    for case in cases:
        page = context.new_page()
        try:
            Visitor(page, address).open(urlencode(case.choices), case.path)
            expect(page.get_by_test_id("export-menu-button")).to_be_visible(timeout=1_000 * MOST_SECONDS)
            page.wait_for_timeout(2_000)
            figures += save_figures(page, case, folder)
        except Exception as problem:
            print(f"{case.name}: {problem} {page.get_by_test_id('export-status').all_inner_texts()}")
        page.close()
    return figures


def main(folder: Path, word: str = "") -> None:
    """Save all figures and the sheets into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with chromium.launched() as browser, serve(folder) as server:
        figures = _figures(browser, server.url, [case for case in CASES if word in case.name], folder)
        for first in range(0, len(figures), PER_SHEET):
            file = folder / f"sheet-{first // PER_SHEET}.html"
            file.write_text(contact_sheet(figures[first : first + PER_SHEET]), encoding="utf-8")
            sheet = browser.new_page(viewport={"width": 1600, "height": 1000})
            sheet.goto(file.absolute().as_uri())
            sheet.screenshot(path=str(file.with_suffix(".png")), full_page=True)
            sheet.close()
        browser.close()
    print(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
