"""One person in front of the page: a window of their own, and a record of what must not happen."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request, WebSocket

SETTLED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
WITHOUT_HOST = ("data", "blob", "about")


@dataclass
class Visitor:
    """A page in a context of its own. `outside` and `errors` fill while it is used and must stay empty."""

    page: Page
    url: str
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Starts recording requests to anywhere but the server, console errors and uncaught exceptions."""
        self.page.on("request", self._see)
        self.page.on("websocket", self._see)
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, query: str = "", path: str = "/") -> Page:
        """Goes to the page with a query such as `text=The+cat&layer=2` and waits until it is drawn."""
        self.page.goto(self.url + path + (f"?{query}" if query else ""))
        return self.settle()

    def settle(self) -> Page:
        """Waits until no script run is under way; after a click, first wait for what it should show."""
        self.page.locator(SETTLED).wait_for(state="attached")
        return self.page

    def assert_clean(self) -> None:
        """Fails where anything was fetched from outside or went wrong in the browser."""
        assert not self.outside, f"the page asked for things outside its server: {self.outside}"
        assert not self.errors, f"the browser reported errors: {self.errors}"

    def _see(self, asked: Request | WebSocket) -> None:
        address = urlsplit(asked.url)
        if address.scheme not in WITHOUT_HOST and address.netloc != urlsplit(self.url).netloc:
            self.outside.append(asked.url)
