"""A visitor of the page: a browser window, and a record of forbidden requests and errors.

Checks wait until they are true, because the page may be slower than the test; `wait_until` covers what Playwright's
`expect` cannot express.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Locator, Page, Request, TimeoutError, WebSocket, expect

SETTLED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
WITHOUT_HOST = ("data", "blob", "about")
PATIENCE = 180.0  # seconds: on a busy machine a long run in the low-priority worker took 90 seconds
GOING = 5_000  # milliseconds until a missing page is requested again
GO_TO = """address => {
    history.pushState(history.state, "", address);
    dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}"""
BEEN_HERE = """() => {
  for (const [key, value] of [["headlight-mode", "full"], ["headlight-tour", "seen"]])
    if (localStorage.getItem(key) === null) localStorage.setItem(key, value);
}"""
TOO_WIDE = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"

Value = TypeVar("Value")


@dataclass
class Visitor:
    """A page in its own context. `outside` and `errors` collect forbidden requests and errors and must stay empty.

    `provoked` is text of errors that a test provokes on purpose; these do not count.
    """

    page: Page
    url: str
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    provoked: str | None = None

    def watch(self) -> None:
        """Starts recording requests to other hosts, console errors and uncaught exceptions."""
        self.page.on("request", self._see)
        self.page.on("websocket", self._see)
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def on_screen(self, width: int = 1440, height: int = 900, *, dark: bool = False) -> Self:
        """Sets the screen's size and the colour scheme."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light", forced_colors="none")
        return self

    def open(self, query: str = "", path: str = "/") -> Page:
        """Goes to the page with a query such as `text=The+cat&layer=2` and waits until it is drawn."""
        self.page.goto(self._address(query, path))
        return self.settle()

    def go(self, query: str = "", path: str = "/") -> Page:
        """Navigates like the Back button, without a reload if the page is already open: three times as fast."""
        if not self.page.url.startswith(self.url):
            return self.open(query, path)
        self.page.evaluate(GO_TO, self._address(query, path))
        return self.settle()

    def _address(self, query: str, path: str) -> str:
        return self.url + path + (f"?{query}" if query else "")

    def explore(self, query: str, **data: str) -> Page:
        """Goes to Explore and waits until the instrument shows the answer for a sentence or an image."""
        shown_instrument(self.open(query), **data)
        return self.page

    def run_always(self, script: str) -> None:
        """Runs a script in the page: now if it is open, and after each load."""
        self.page.add_init_script(script)
        if self.page.url.startswith(self.url):
            self.page.evaluate(script)

    def settle(self) -> Page:
        """Waits until no script run is active; after a click, first wait for its visible effect."""
        self.page.locator(SETTLED).wait_for(state="attached")
        return self.page

    def assert_clean(self) -> None:
        """Fails if another host was requested or the browser reported an error."""
        assert not self.outside, f"the page sent requests to other hosts: {self.outside}"
        errors = [error for error in self.errors if self.provoked is None or self.provoked not in error]
        assert not errors, f"the browser reported errors: {errors}"

    def _see(self, asked: Request | WebSocket) -> None:
        address = urlsplit(asked.url)
        if address.scheme not in WITHOUT_HOST and address.netloc != urlsplit(self.url).netloc:
            self.outside.append(asked.url)


class SharedVisitor(Visitor):
    """A visitor whose window stays open between tests, since loading the page takes most of a test's time."""

    def open(self, query: str = "", path: str = "/") -> Page:
        """Navigates in the open window, via another page, so that no state of the last page remains.

        The other page is one that the browser draws quickly.
        """
        if not self.page.url.startswith(self.url):
            return super().open(query, path)
        here = urlsplit(self.page.url).path
        elsewhere = next(one for one in ("/lesson", "/course", "/compare") if one not in (path, here))
        for stop in (self._address("", elsewhere), self._address(query, path)):
            self._go_until_there(stop)
        return self.page

    def _go_until_there(self, address: str) -> None:
        """Goes to another page; retries if a late report of the last page makes Streamlit stay there."""
        title = self.page.title()
        wait_until(self.page, lambda: self._has_gone(address, title), bool)
        self.settle()

    def _has_gone(self, address: str, title: str) -> bool:
        self.page.evaluate(GO_TO, address)
        with suppress(TimeoutError):
            self.page.wait_for_function("title => document.title !== title", arg=title, timeout=GOING)
        return self.page.title() != title

    def leave(self) -> None:
        """Resets the window's state after a test; the server's state is not reset."""
        self.page.unroute_all()
        self.on_screen()
        self.page.mouse.move(0, 0)
        self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.page.evaluate(BEEN_HERE)
        self.errors.clear()
        self.provoked = None


def wait_until(page: Page, read: Callable[[], Value], holds: Callable[[Value], bool]) -> Value:
    """The value of `read()`, once it satisfies `holds`."""
    until = monotonic() + PATIENCE
    while not holds(value := read()):
        assert monotonic() < until, f"it stays {str(value)[:200]!r}"
        page.wait_for_timeout(50)
    return value


def address(page: Page) -> dict[str, str]:
    """The query parameters of the current address."""
    return dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))


def wait_for_address(page: Page, **choices: str | re.Pattern[str] | None) -> str:
    """The query of the address, once each parameter matches in full; None means that it is absent."""

    def says(wanted: str | re.Pattern[str] | None, said: str | None) -> bool:
        return bool(said and wanted.fullmatch(said)) if isinstance(wanted, re.Pattern) else said == wanted

    wait_until(
        page,
        lambda: address(page),
        lambda said: all(says(wanted, said.get(name)) for name, wanted in choices.items()),
    )
    return urlsplit(page.url).query


def expect_to_fit(page: Page, *parts: str) -> None:
    """Waits until the page does not scroll sideways and each of these parts is within the window."""
    wait_until(page, lambda: page.evaluate(TOO_WIDE), lambda too_wide: too_wide <= 0)
    width: int = page.evaluate("innerWidth")
    for part in parts:
        wait_until(
            page,
            page.get_by_test_id(part).filter(visible=True).bounding_box,
            lambda box: box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width,
        )


def shown_instrument(page: Page, **data: str) -> Locator:
    """The instrument once it shows the answer for a sentence or an image."""
    found = page.get_by_test_id("instrument")
    for name, value in data.items():
        expect(found).to_have_attribute(f"data-{name}", value)
    expect(found).not_to_have_class("instrument waiting")
    return found


def in_analysis(page: Page, name: str) -> Locator:
    """A part of the open analysis, not of what is explained above it."""
    return page.get_by_test_id("analysis").get_by_test_id(name)


def open_charts(page: Page) -> None:
    """Opens the charts of Explore, which are created on demand."""
    page.get_by_test_id("stMain").get_by_text("In numbers", exact=True).click()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
