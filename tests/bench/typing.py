"""Typical typing speeds: letters typed at steady cadences, each timed until the page shows its text.

The clock of a letter starts at its input event and ends with the frame after tokens, heads and prediction show the
resulting text. The shipped model is measured first, then one of GPT-2's size. `python -m tests.bench typing`
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page

from tests.bench import load
from tests.bench.measure import Times
from tests.bench.page import SENTENCE, Explore, Rerun, servers, visitor
from tests.browser import chromium
from tests.browser.server import serve

CADENCES = (80, 100, 200, 260, 300, 350, 420, 700, 1500, 2000)  # milliseconds from letter to letter
LARGE_CADENCES = (300, 1500)  # for the model of GPT-2's size
SWITCH_CADENCE = 300  # milliseconds from choice to choice
LETTERS = 40  # of each cadence
LARGE_BEGINNING = "One day a girl saw "  # followed by one of LARGE_ENDINGS, letter by letter
LARGE_ENDINGS = ("a bird", "the cat", "my dog", "her mum", "two men", "nobody")
RERUNS = 8  # empty reruns around each cadence

# Enters one of `texts` every `gap` ms; returns the milliseconds of each until it is shown.
DRIVER = """async ({ texts, gap }) => {
  const root = document.querySelector('[data-testid="instrument"]') || window.deepFind('instrument');
  const box = window.deepFind('sentence');
  const waiting = new Map(), taken = [];
  const shown = () => {
    const text = root.dataset.sentence;
    if (!waiting.has(text)) return;
    const began = [...waiting].filter(([, entry]) => entry.order <= waiting.get(text).order);
    requestAnimationFrame(() => requestAnimationFrame((now) => {
      for (const [key, entry] of began) if (waiting.delete(key)) taken.push(performance.now() - entry.began);
    }));
  };
  const observer = new MutationObserver(shown);
  observer.observe(root, { attributes: true, attributeFilter: ["data-painted", "data-sentence"] });
  let order = 0;
  const start = performance.now();
  for (const text of texts) {
    const due = start + order * gap;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    box.value = text;
    waiting.set(text, { began: performance.now(), order: order++ });
    box.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
  }
  const until = performance.now() + 10000;
  while (waiting.size && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
  observer.disconnect();
  return { taken, lost: waiting.size };
}"""
DEEP_FIND = """() => {
  window.deepFind = (name, within = document) => {
    const found = within.querySelector(`[data-testid="${name}"]`);
    if (found) return found;
    for (const element of within.querySelectorAll("*")) {
      const inside = element.shadowRoot && window.deepFind(name, element.shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
}"""
# The same for choices: each entry of `acts` is clicked or selected, and timed until its answer is painted.
SWITCHER = """async ({ acts, gap }) => {
  const root = window.deepFind("instrument"), taken = [];
  for (const [name, value] of acts) {
    const element = window.deepFind(name), before = root.dataset.painted, began = performance.now();
    const painted = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (root.dataset.painted === before) return;
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
      });
      observer.observe(root, { attributes: true, attributeFilter: ["data-painted"] });
      setTimeout(() => resolve(10000), 10000);
    });
    if (element.tagName === "SELECT") {
      element.value = value;
      element.dispatchEvent(new Event("change", { bubbles: true, composed: true }));
      element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    } else element.click();
    taken.push(await painted);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, gap - (performance.now() - began))));
  }
  return { taken, lost: taken.filter((each) => each >= 10000).length };
}"""


@dataclass(frozen=True)
class Cadence:
    """The times at one cadence, and the number of letters that were never shown."""

    what: str
    times: Times
    lost: int
    reruns: Times

    def line(self) -> str:
        """As a row of the table."""
        median, slow = self.times.middle / self.reruns.middle, self.times.slow / self.reruns.middle
        return (
            f"| {self.what} | {self.times.middle:.0f} | {self.times.slow:.0f} | {self.lost} "
            f"| {self.reruns.middle:.0f} | {median:.2f} | {slow:.2f} |"
        )


def lines() -> Iterator[str]:
    """The table, row by row as it is measured."""
    yield "| a letter every | median ms | p95 ms | never shown | an empty rerun, ms | median / rerun | p95 / rerun |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    with chromium.launched() as browser, servers() as (headlight, empty):
        rerun = Rerun(visitor(browser, empty).open())
        explore = Explore(visitor(browser, headlight))
        explore.warm_up()
        explore.page.evaluate(DEEP_FIND)
        for gap in CADENCES:
            yield letters(f"{gap:,} ms", explore, rerun, texts(gap), gap).line()
        heads = [("head-switch", "")] * 12
        parts = [("variant-masks", "none"), ("variant-masks", ""), ("variant-positional_encoding", "none"),
                 ("variant-positional_encoding", "")] * 3  # fmt: skip
        for what, acts in {"heads off and on": heads, "masks and positions": parts}.items():
            name = f"{what}, every {SWITCH_CADENCE} ms"
            yield measure(name, explore, rerun, SWITCHER, {"acts": acts, "gap": SWITCH_CADENCE}).line()
        explore.page.context.close()
        yield from large_rows(browser, rerun)


def large_rows(browser: Browser, rerun: Rerun) -> Iterator[str]:
    """Rows of letters at the end of a short sentence, for a model of GPT-2's size with random weights."""
    with TemporaryDirectory() as place:
        folder = load.make(Path(place) / "models" / "gpt2-size")
        with serve(Path(place), "--models", str(folder.parent)) as headlight:
            explore = Explore(visitor(browser, headlight), folder.name)
            explore.warm_up()
            explore.page.evaluate(DEEP_FIND)
            for gap in LARGE_CADENCES:
                what = f"{gap:,} ms, GPT-2's size, 15 to 19 tokens"
                yield letters(what, explore, rerun, large_texts(gap), gap).line()


def texts(gap: int) -> list[str]:
    """The text in the box after each letter: all different, so that no cache answers."""
    beginning = f"{gap} {SENTENCE}"[: len(SENTENCE) // 2]
    more = (SENTENCE[len(SENTENCE) // 2 :] + " " + SENTENCE)[:LETTERS]
    return [beginning + more[: number + 1] for number in range(LETTERS)]


def large_texts(gap: int) -> list[str]:
    """The text in the box after each letter: a constant beginning, then one of LARGE_ENDINGS, letter by letter."""
    beginning = f"{gap} {LARGE_BEGINNING}"
    return [beginning + ending[: number + 1] for ending in LARGE_ENDINGS for number in range(len(ending))]


def letters(what: str, explore: Explore, rerun: Rerun, each: Sequence[str], gap: int) -> Cadence:
    """One row of letters: one of the texts every `gap` milliseconds."""
    return measure(what, explore, rerun, DRIVER, {"texts": each, "gap": gap})


def measure(what: str, explore: Explore, rerun: Rerun, script: str, order: dict[str, object]) -> Cadence:
    """One row, with half of the empty reruns before it and half after."""
    explore.rest()
    reruns = [rerun() for _ in range(RERUNS // 2)]
    found = run(explore.page, script, order)
    explore.rest()
    reruns += [rerun() for _ in range(RERUNS // 2)]
    return Cadence(what, Times.of([each / 1e3 for each in found["taken"]]), found["lost"], Times.of(reruns))


def run(page: Page, script: str, order: dict[str, object]) -> dict[str, Any]:
    """The result of a script in the page."""
    found: dict[str, Any] = page.evaluate(script, order)
    return found
