"""From an input event to the painted change, in a real browser: Explore next to a Streamlit script that does nothing.

Every clock starts at the event inside the page and ends two animation frames after the watched value changes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count, cycle, product
from pathlib import Path
from re import findall
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Locator, Page, expect

from tests.bench.measure import Ratio, Times, race
from tests.browser import chromium
from tests.browser.conftest import new_context
from tests.browser.server import Server, serve, started
from tests.browser.visitor import Visitor

MODEL = "stories-causal"
SENTENCE = (
    "Once upon a time there was a little girl who lived with her mother near the forest, "
    "and every day she went to the river to look at the small"
)  # 32 tokens
EMPTY = """
import streamlit as st

st.session_state.runs = st.session_state.get("runs", 0) + 1
st.button("Again")
st.text(f"Run {st.session_state.runs}")
"""
YARDSTICK = "an empty rerun"
TURNS = 10
QUIET = 3_500  # milliseconds; longer than the page's delay before it sends choices to Streamlit

# The first frame with the change paints it; in the next frame it is on the screen.
WATCH = """element => {
  const look = %s;
  window.painted = new Promise((resolve) => {
    const start = () => {
      const began = performance.now();
      const before = look(element);
      const later = () => resolve(performance.now() - began);
      const check = () => requestAnimationFrame(look(element) === before ? check : later);
      requestAnimationFrame(check);
    };
    addEventListener("%s", start, { capture: true, once: true });
  });
}"""
ANSWER = "root => root.dataset.painted"
TITLE = CAPTION = "element => element.textContent"
PICTURE = "stage => stage.dataset.picture"
# The title of the last head with exact numbers: only then can the table be copied.
EXACT = """root => {
  const find = (name) => root.querySelector(`[data-testid="${name}"]`);
  if (!find("sheet").querySelector("button").disabled) window.exactly = find("head-title").textContent;
  return window.exactly;
}"""
CHART = """element => element.querySelector(".js-plotly-plot .heatmaplayer image")?.getAttribute("href")"""


def ratios() -> Iterator[Ratio]:
    """The most frequent changes, each compared with an empty rerun of the same Streamlit in the same browser."""
    with chromium.launched() as browser, servers() as (headlight, empty):
        rerun = Rerun(visitor(browser, empty).open())
        yield from changes(Explore(visitor(browser, headlight)), rerun)


def changes(explore: Explore, rerun: Callable[[], float]) -> Iterator[Ratio]:
    """The ratios of all changes, after a warm-up."""
    explore.warm_up()
    yield typing(explore, rerun)
    for what, clock in explore.clocks().items():
        yield race(what, clock, YARDSTICK, rerun, TURNS)


def typing(explore: Explore, rerun: Callable[[], float]) -> Ratio:
    """Type a sentence, each letter after the previous one is painted, with an empty rerun between two words."""
    letters, reruns = [], []
    explore.box.fill("")
    explore.rest()
    for word in findall(r"\S+ ?", SENTENCE):
        letters += [explore.type(letter) for letter in word]
        explore.rest()
        reruns.append(rerun())
    expect(explore.root).to_have_attribute("data-sentence", SENTENCE)
    ours, theirs = Times.of(letters), Times.of(reruns)
    return Ratio("a letter typed", YARDSTICK, ours, theirs, ours.middle / theirs.middle)


@contextmanager
def servers(*options: str) -> Iterator[tuple[Server, Server]]:
    """A server of the page, started with further options, and one of a script whose rerun changes one word."""
    with TemporaryDirectory() as name:
        ours, theirs = Path(name, "ours"), Path(name, "theirs")
        ours.mkdir()
        theirs.mkdir()
        script = theirs / "empty.py"
        script.write_text(EMPTY)
        quiet = ("--server.headless=true", "--server.address=127.0.0.1", "--browser.gatherUsageStats=false")
        streamlit = (sys.executable, "-m", "streamlit", "run", str(script), *quiet, "--server.port")
        with serve(ours, *options) as headlight, started(theirs, *streamlit) as empty:
            yield headlight, empty


def visitor(browser: Browser, server: Server) -> Visitor:
    """A window of a returning visitor, so that the sidebar is open."""
    page = new_context(browser).new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
    return Visitor(page, server.url)


def seconds(element: Locator, look: str, event: str, act: Callable[[], object]) -> float:
    """Seconds from the next `event` to the painted change of the value of `look(element)`."""
    element.evaluate(WATCH % (look, event))
    act()
    milliseconds: float = element.page.evaluate("window.painted")
    return milliseconds / 1e3


@dataclass(frozen=True)
class Rerun:
    """A click on the only button of an empty script, until the number of the run has changed."""

    page: Page

    def __call__(self) -> float:
        number, button = self.page.get_by_test_id("stText"), self.page.get_by_role("button", name="Again")
        return seconds(number, CAPTION, "click", button.click)


@dataclass(frozen=True)
class Explore:
    """The Explore page in a browser; after changes that cause a rerun it waits until nothing is pending."""

    visitor: Visitor
    model: str = MODEL

    @property
    def page(self) -> Page:
        return self.visitor.page

    @property
    def root(self) -> Locator:
        return self.page.get_by_test_id("instrument")

    @property
    def box(self) -> Locator:
        return self.page.get_by_test_id("sentence")

    def warm_up(self) -> None:
        """Opens the page, and waits for the first answer and the first charts."""
        self.visitor.open(f"model={self.model}")
        self.box.fill(SENTENCE)
        expect(self.root).to_have_attribute("data-sentence", SENTENCE)
        self.rest()

    def rest(self) -> None:
        """Waits until nothing is pending."""
        self.page.wait_for_timeout(QUIET)
        self.visitor.settle()

    def type(self, letter: str) -> float:
        """One keystroke: head grid, chosen head and predictions."""
        self.box.press("End")
        return seconds(self.root, ANSWER, "input", partial(self.page.keyboard.type, letter))

    def clocks(self) -> dict[str, Callable[[], float]]:
        """Every change but typing, by its name; repeated calls cycle through several states or use new texts."""
        heads, others = cycle([(4, 2), (1, 6), (3, 3)]), product(range(6), range(8))  # cached, so no head comes twice
        letters, texts = cycle(["s", "Backspace"]), (f"{SENTENCE} {number}" for number in count(11))
        return {
            "a token pointed at": partial(self.point, cycle([3, 5, 4])),
            "another picture of the head": partial(self.draw, cycle(["lines", "text", "heatmap"])),
            "another head of another layer": lambda: self.choose(*next(heads)),
            "a head switched off": lambda: self.switch(next(texts)),
            "another mask": lambda: self.select(next(texts), "masks", "none"),
            "other positions": lambda: self.select(next(texts), "positional_encoding", "alibi"),
            "exact numbers of another head": lambda: self.exact(*next(others)),
            "the head's chart after a letter": lambda: self.chart(next(letters)),
        }

    def point(self, tokens: Iterator[int]) -> float:
        """Hover over a token: a sentence and marks show what its row looks at.

        The pointer starts outside the component: the window does not see moves between two tokens of one shadow root.
        """
        token = self.page.get_by_test_id("tokens").locator("button").nth(next(tokens))
        taken = self.quietly(self.page.get_by_test_id("reading"), CAPTION, "pointerover", token.hover)
        self.page.mouse.move(0, 0)
        return taken

    def draw(self, pictures: Iterator[str]) -> float:
        """Show the chosen head as a heatmap, lines or text."""
        name = next(pictures)
        button = self.page.get_by_test_id(f"plot-{name}")
        return self.quietly(self.page.get_by_test_id("stage"), PICTURE, "click", button.click)

    def exact(self, layer: int, head: int) -> float:
        """Choose another head as a table, until it shows the server's exact numbers and can be copied."""
        self.page.get_by_test_id("plot-table").click()
        self.rest()
        thumbnail = self.page.get_by_test_id(f"head-{layer}-{head}")
        taken = self.quietly(self.root, EXACT, "click", thumbnail.click)
        self.page.get_by_test_id("plot-heatmap").click()
        return taken

    def choose(self, layer: int, head: int) -> float:
        """Choose another thumbnail: the chosen head is painted without a request."""
        title, thumbnail = self.page.get_by_test_id("head-title"), self.page.get_by_test_id(f"head-{layer}-{head}")
        return self.quietly(title, TITLE, "click", thumbnail.click)

    def switch(self, text: str) -> float:
        """Switch the chosen head off for an uncached text; afterwards switch it on again."""
        self.say(text)
        switch = self.page.get_by_test_id("head-switch")
        taken = self.quietly(self.root, ANSWER, "click", switch.click)
        switch.click()
        return taken

    def select(self, text: str, part: str, option: str) -> float:
        """Choose another mask or positional encoding for an uncached text; afterwards restore the model as trained."""
        self.say(text)
        chosen = self.page.get_by_test_id(f"variant-{part}")
        taken = self.quietly(self.root, ANSWER, "input", partial(chosen.select_option, option))
        chosen.select_option("")
        return taken

    def say(self, text: str) -> None:
        """Enter another text, and wait until nothing is pending."""
        self.box.fill(text)
        self.rest()

    def chart(self, key: str) -> float:
        """A keystroke, until the opened Plotly chart of the chosen head shows other numbers."""
        if not self.page.locator(".js-plotly-plot").count():
            self.page.get_by_text("In numbers").click()
            expect(self.page.locator(".js-plotly-plot").first).to_be_visible()
            self.rest()
        self.box.press("End")
        return self.quietly(self.page.locator("body"), CHART, "input", partial(self.page.keyboard.press, key))

    def quietly(self, element: Locator, look: str, event: str, act: Callable[[], object]) -> float:
        """Measures a change, then waits until nothing is pending."""
        taken = seconds(element, look, event, act)
        self.rest()
        return taken
