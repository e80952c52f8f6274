"""A random walk through the page, the same for the same seed: `python -m tests.browser.walk --actions 2000 --seed 7`.

Every few actions the page must equal a reload of its address, and its prediction must equal `headlight.run` for the
state in that address.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from playwright.sync_api import ElementHandle
from playwright.sync_api import Error as BrowserError

import headlight
from headlight.tasks import task_of
from headlight_app.contract.question import Variant
from headlight_app.state.url import decode_state
from tests.browser import chromium
from tests.browser.conftest import new_context
from tests.browser.elements import script
from tests.browser.rest import come_to_rest
from tests.browser.server import serve
from tests.browser.visitor import PATIENCE, Visitor, address

MODELS = ("stories-causal", "induction", "positions-decoder-rope", "entities", "caption")
PATHS = ("/", "/tasks", "/compare", "/generate", "/positions", "/course", "/models")
TEXTS = ("The dog saw the cat", "Once upon a time", "Anna and Ben had a red ball", "One two one two one", "Tom  ran.")
ACTIONS_PER_CHECK = 25
LONGEST_PAUSE = 0.15  # seconds between two actions
ACTION_PATIENCE = 300  # milliseconds; an action fails if its control is covered or gone by then

# Usable controls, except Streamlit's own, file inputs, exports, buttons that start minutes of work, and the choice of
# simple or full mode, which the browser stores outside the address.
CONTROLS = script("""() => {
  const kinds = "button, select:has(option:not(:disabled)), "
    + "input, textarea, summary, [role=gridcell], [data-testid=stPageLink-NavLink]";
  const others = "[type=file], .run, [data-testid=export-menu] *, .modebar-btn, [data-testid=stSelectbox] *, "
    + "[data-testid=mode] *, "
    + "[data-testid=room-open], " // a teacher's page asks for news all the time: it is never at rest
    + "[data-testid=stFileUploader] *, [data-testid=stBaseButton-secondary], [aria-label=Fullscreen], "
    + "[data-testid=stExpandSidebarButton], [data-testid=stSidebar] [data-testid=stBaseButton-headerNoPadding]";
  return everything().filter((element) =>
    element.matches(kinds) && !element.matches(others) && !element.disabled && !element.readOnly
    && element.checkVisibility({ visibilityProperty: true }));
}""")
KINDS = """list => list.map((element) => [
  element.localName, element.type, element.dataset.testid || element.className].join(" ").replace(/[0-9]+/g, "0"))"""
# The state of each control, by its name, and the texts of the answers.
SHOWN = script("""() => {
  const shown = {};
  const chosen = (element) => {
    const aria = ["pressed", "selected", "checked"].map((name) => element.getAttribute(`aria-${name}`));
    if (element.type === "checkbox") return element.checked;
    if (element.matches("select, textarea, input")) return element.value;
    return aria.find((value) => value !== null) ?? element.classList.contains("chosen");
  };
  const texts = ["tokens", "predictions", "chapter-title", "candidates", "attention-title", "head-title", "problem"];
  for (const element of everything()) {
    const name = element.dataset?.testid;
    if (!name || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.matches("button, select, input, textarea, [role=gridcell]")) shown[name] = String(chosen(element));
    if (texts.includes(name)) shown[name] = element.textContent;
  }
  return shown;
}""")
# The elements that are still busy; "" if none is.
BUSY = script("""busy => {
  const state = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState;
  if (state !== "notRunning") return `the script: ${state}`;
  const found = everything().filter((element) => element.matches(busy) && element.checkVisibility());
  return found.map((element) => element.outerHTML.slice(0, 200)).join(" ");
}""")
ASKING = (
    ".waiting, [data-state=asking], [data-testid=instrument]:not([data-painted]), "
    "[data-testid=generator]:not([data-known=true], :has([data-testid=problem]:not([hidden]))), "
    "select:empty, [data-testid=stSkeleton]"
)
MOVING = f"{ASKING}, [data-playing=true]"
PREDICTED = """list => [...list.querySelectorAll(".candidate")].slice(0, 3).map(row => [
  Number(row.querySelector("[data-target]").dataset.target),
  (([, number, , tiny]) => tiny ? 0 : Number(number))(row.title.match(/  ([0-9.]+)(·10)?(⁻)?/))])"""

KEEP = "kept => { localStorage.clear(); Object.assign(localStorage, kept); }"

# State that is not in the address and lasts until the page is left: playing speed, search text, file choice.
UNSAID = {
    "stExpandSidebarButton",
    "speed",
    "use-cache",
    "predict",
    "undo",
    "redo",
    "search",
    "newest",
    "play",
    "stTextInputField",
    "stFileUploaderDropzoneInput",
    "stBaseButton-secondary",
    "grow",
    "edits-as-text",
}


@dataclass
class Walker:
    """Two windows: one for the actions, and one that reloads its address."""

    visitor: Visitor
    reloaded: Visitor
    random: Random
    hurried: bool = False  # whether it continues while answers are pending
    folders: tuple[Path, ...] = ()  # of additional models
    done: list[str] = field(default_factory=list)
    predictions: int = 0

    def walk(self, actions: int) -> None:
        """Does `actions` actions, with a check after every few. Raises AssertionError with the last actions."""
        self.visitor.open("model=stories-causal")
        self.check()  # ensures that at least one prediction is compared
        self.visitor.open(f"model={self.random.choice(MODELS)}", self.random.choice(PATHS))
        while len(self.done) < actions:
            self.act()
            if len(self.done) % ACTIONS_PER_CHECK == 0:
                self.check()

    def act(self) -> None:
        """Uses one control, of a random kind: otherwise the walk would rarely leave a page with many heads."""
        page = self.visitor.page
        if not self.hurried:
            self._await_answers()
        controls = page.evaluate_handle(CONTROLS)
        kinds: list[str] = controls.evaluate(KINDS)
        kind = self.random.choice(sorted(set(kinds)))
        place = self.random.choice([place for place, other in enumerate(kinds) if other == kind])
        element = controls.get_property(str(place)).as_element()
        assert element
        try:
            said = self._use(element)
        except BrowserError:
            page.keyboard.press("Escape")
            said = "in vain"
        self.done.append(f"{len(self.done)} {kind}: {said}")
        page.wait_for_timeout(1e3 * LONGEST_PAUSE * self.random.random())

    def _use(self, element: ElementHandle) -> str:
        name, kind = element.evaluate("element => [element.localName, element.type]")
        if name == "select":
            options = element.evaluate("list => [...list.options].filter(o => !o.disabled).map(o => o.value)")
            value = self.random.choice(options)
            element.select_option(value, timeout=ACTION_PATIENCE)
            return str(value)
        if name == "textarea" or kind == "text":
            text = self.random.choice(TEXTS)
            element.fill(text, timeout=ACTION_PATIENCE)
            return text
        if kind in ("range", "number"):
            element.press(self.random.choice(("ArrowLeft", "ArrowRight", "ArrowUp")), timeout=ACTION_PATIENCE)
            return "arrow key"
        if kind == "checkbox":  # some are covered by their drawing
            element.evaluate("element => element.click()")
        else:
            element.click(timeout=ACTION_PATIENCE)
        return str(element.evaluate("element => element.ariaLabel || element.textContent.trim().slice(0, 40)"))

    def check(self) -> None:
        """Checks that page, reload and `headlight.run` agree for the same address."""
        page = self.visitor.page
        page.keyboard.press("Escape")
        self._leave_what_no_address_says()
        self._come_to_rest()
        until, opened = monotonic() + PATIENCE, ""
        while page.url != opened or self._differing():
            assert monotonic() < until, f"page, reload: {self._differing()}\n{self._told()}"
            if page.url != opened:  # a busy server updates the address late
                opened = page.url
                self._reload(opened)
            page.wait_for_timeout(200)
        instruments = page.get_by_test_id("instrument")
        if instruments.count():
            assert instruments.count() == 1, self._told()
            self._check_prediction(page.get_by_test_id("sentence").input_value())

    def _reload(self, address: str) -> None:
        """Opens an address in the other window, with the same local storage (scenes and answers)."""
        page = self.reloaded.page
        page.goto(f"{self.reloaded.url}/_stcore/health")  # local storage needs a page of this server
        page.evaluate(KEEP, self.visitor.page.evaluate("({ ...localStorage })"))
        page.goto(address)

    def _leave_what_no_address_says(self) -> None:
        """Stops playing, which is slow, and returns to the newest step, since the address omits earlier ones."""
        page = self.visitor.page
        playing = page.locator("[data-playing=true]").get_by_test_id("play")
        for buttons in (playing, page.get_by_test_id("newest")):
            buttons.evaluate_all("list => list.filter(one => one.checkVisibility()).forEach(one => one.click())")

    def _told(self) -> str:
        return f"{self.visitor.page.url} after\n" + "\n".join(self.done[-2 * ACTIONS_PER_CHECK :])

    def _differing(self) -> dict[str, tuple[str | None, str | None]]:
        """The differences between the page and its reload, including parts that the page lacks."""
        if any(visitor.page.evaluate(BUSY, MOVING) for visitor in (self.visitor, self.reloaded)):
            return {"busy": (None, None)}
        page, reload = (visitor.page.evaluate(SHOWN) for visitor in (self.visitor, self.reloaded))
        return {
            name: (page.get(name), reload[name]) for name in reload.keys() - UNSAID if page.get(name) != reload[name]
        }

    def _await_answers(self) -> None:
        page, until = self.visitor.page, monotonic() + PATIENCE
        while busy := page.evaluate(BUSY, ASKING):
            assert monotonic() < until, f"an answer is missing: {busy} at {self._told()}"
            page.wait_for_timeout(50)

    def _come_to_rest(self) -> None:
        """Waits until nothing is under way."""
        page, until = self.visitor.page, monotonic() + PATIENCE
        come_to_rest(page)
        while page.evaluate(BUSY, MOVING):
            assert monotonic() < until, f"the page does not come to rest: {self._told()}"
            come_to_rest(page)

    def _check_prediction(self, sentence: str) -> None:
        """Checks that the likeliest next tokens equal those of the model, run directly."""
        page = self.visitor.page
        state = decode_state(address(page))
        shown = page.get_by_test_id("predictions").locator("ol")
        if shown.count() != 1 or page.get_by_test_id("problem").is_visible():
            return
        checkpoint = _checkpoint(state.model, self.folders) if state.model else None
        if checkpoint is None or not _continues(checkpoint.model.config):
            return
        model = checkpoint.model
        if state.variant:
            model = headlight.variant(model, **_parts(state.variant))
        trace = headlight.run(
            model, checkpoint.tokenizer, sentence, state.edits, masked_positions=state.masked_positions
        )
        last = len(trace.text.ids) - 1
        found = headlight.candidates(trace, checkpoint.tokenizer, state.query if 0 <= state.query <= last else last, 3)
        expected = [(candidate.id, candidate.probability) for candidate in found]
        said = [tuple(row) for row in shown.evaluate(PREDICTED)]
        near = all(abs(one - other) < 2e-3 for (_, one), (_, other) in zip(said, expected, strict=True))
        assert near, f"the page predicts {said}, the model {expected}: {self._told()}"
        self.predictions += 1


@lru_cache(maxsize=len(MODELS))
def _checkpoint(name: str, folders: tuple[Path, ...]) -> headlight.Checkpoint:
    return headlight.load(headlight.find_checkpoint(name, folders), device="cpu")


def _continues(config: headlight.Config) -> bool:
    task = task_of(config)
    return task.generates and not (task.fills_masks or config.has_cross_attention or config.reads_image)


def _parts(variant: Variant) -> dict[str, Any]:
    """The variant's parts as arguments of `headlight.variant`."""
    names = ("positional_encoding", "attention_function", "masks", "pooling")
    parts: dict[str, Any] = {name: getattr(variant, name) or None for name in names}
    return parts | {"scale": {"on": True, "off": False}.get(variant.scale)}


def main(arguments: list[str] | None = None) -> int:
    """Runs the walk from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.browser.walk")
    parser.add_argument("--actions", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hurried", action="store_true", help="continue while answers are pending")
    options = parser.parse_args(arguments)
    with chromium.launched() as browser, tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as server:
        page, reloaded = (Visitor(new_context(browser).new_page(), server.url) for _ in range(2))
        for visitor in (page, reloaded):
            visitor.watch()
        walker = Walker(page, reloaded, Random(options.seed), options.hurried)
        walker.walk(options.actions)
        for visitor in (page, reloaded):
            visitor.assert_clean()
        server.assert_no_error()
    print(f"{options.actions} actions, {walker.predictions} predictions compared: no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
