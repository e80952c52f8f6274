"""A live page in a browser: how soon a file shows its first heads, and letters typed into it and the served page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from playwright.sync_api import Browser, Page

from headlight import find_checkpoint
from headlight_app.live.write import write_page
from tests.bench.measure import Times
from tests.bench.page import Explore, servers, visitor
from tests.bench.typing import CADENCES, DEEP_FIND, DRIVER, run, texts
from tests.browser import chromium
from tests.browser.conftest import new_context

MODEL = "stories-causal"
OPENINGS = 5
PAINTED = """async () => {
  const root = window.deepFind("instrument");
  while (!root?.dataset.painted) await new Promise((resolve) => setTimeout(resolve, 10));
}"""


def lines() -> Iterator[str]:
    """Two tables: the size and the opening of the file, and letters at steady cadences."""
    with TemporaryDirectory() as made, chromium.launched() as browser:
        file = Path(made) / "page.html"
        size = write_page(find_checkpoint(MODEL), file, "float16")
        opened = Times.of([opening(browser, file) for _ in range(OPENINGS)])
        yield f"\n{MODEL}: a file of {size / 1e6:.1f} MB, first heads {opened.middle / 1e3:.2f} s after it is opened\n"
        yield "| a letter every | in the file, median / p95 | never shown | served, median / p95 | never shown |"
        yield "|---|---:|---:|---:|---:|"
        live = painted(browser, file)
        with servers() as (headlight, _):
            served = Explore(visitor(browser, headlight))
            served.warm_up()
            served.page.evaluate(DEEP_FIND)
            for gap in CADENCES:
                yield f"| {gap:,} ms | {typed(live, gap)} | {typed(served.page, gap)} |"
                served.rest()


def opening(browser: Browser, file: Path) -> float:
    """Seconds from opening the file, in a window of its own, to its first heads."""
    began = perf_counter()
    page = painted(browser, file)
    seconds = perf_counter() - began
    page.context.close()
    return seconds


def painted(browser: Browser, file: Path) -> Page:
    """The page of the file, once its heads are painted."""
    page = new_context(browser).new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(file.as_uri())
    page.evaluate(DEEP_FIND)
    page.evaluate(PAINTED)
    return page


def typed(page: Page, gap: int) -> str:
    """The cells of letters typed every `gap` milliseconds."""
    found = run(page, DRIVER, {"texts": texts(gap), "gap": gap})
    times = Times.of([each / 1e3 for each in found["taken"]])
    return f"{times.middle:.0f} / {times.slow:.0f} ms | {found['lost']}"
