"""A server and a browser for each worker, and new visitors for each test.

    def test_a_sentence_is_kept(visitor): visitor.open("text=Hello"); visitor.page.get_by_text("Hello") ...
    def test_a_sentence_is_shown(shared_visitor): the same, in the previous test's window
    def test_two_visitors(visit): anna, ben = visit(), visit(dark=True, width=390, height=844)

A visitor can reach only the server. A test fails if it requested another host, or if an error is in the browser's
console or a traceback in the server's log; a test that provokes an error in the console sets `visitor.provoked` to its
words. A failed test leaves its windows and the server's log in `build/failures`. `make test` runs the tests that are
marked as a journey, `make test-all` all.
"""

import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from headlight.checkpoints import save
from headlight.config import ExpertsConfig
from tests.app.conftest import CHATS
from tests.app.inference.signal_models import save_seers
from tests.browser import chromium, failures, rest
from tests.browser.server import Server, serve
from tests.browser.visitor import BEEN_HERE, PATIENCE, SharedVisitor, Visitor
from tests.model import toys

PASSED = pytest.StashKey[bool]()
expect.set_options(timeout=1e3 * PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow for slow pages, and leave all tests but journeys to the full run."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(5 * PATIENCE))
            if item.get_closest_marker("journey") is None:
                item.add_marker(pytest.mark.full)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remembers whether a test passed, and keeps what a failed one leaves."""
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    if report.failed:
        report.sections.append(("windows, console and server's log", str(failures.keep(item, report))))
    return report


class Visit(Protocol):
    """Opens a window; two calls give two unrelated visitors."""

    def __call__(self, *, dark: bool = False, width: int = 1440, height: int = 900, touch: bool = False) -> Visitor: ...


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The real page on a free port, for all tests of one worker, with small models besides the shipped ones."""
    folder = tmp_path_factory.mktemp("server")
    save_small_models(save_seers(folder / "models"))
    scenes = folder / "prepared.json"
    scenes.write_text(json.dumps({"headlight_scenes": 1, "scenes": [{"name": "Two", "page": "compare", "query": ""}]}))
    with serve(folder, "--models", str(folder / "models"), "--scenes", str(scenes)) as running:
        yield running


def save_small_models(folder: Path) -> None:
    """A classifier of texts, one of tokens that has experts, an encoder-decoder, and a model of chats."""
    for name, model in {
        "mood": toys.encoder(output_head="sequence-classifier", labels=("glad", "sad")),
        "tags": toys.encoder(
            output_head="token-classifier", labels=("O", "PER"), experts=ExpertsConfig(count=3, per_token=2)
        ),
        "writer": toys.both(seed=3, context_length=40),
        "talk": toys.decoder(context_length=64),
    }.items():
        save(folder / name, model, toys.masked())
    (folder / "talk" / "chat_template.jinja").write_text(CHATS["talk"].chat_template)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests of one worker; if none is installed, skips the test, or fails it in CI."""
    if chromium.find() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(chromium.MISSING)
    with chromium.launched() as running:
        yield running


@contextmanager
def stranger(browser: Browser, server: Server, width: int = 1440, height: int = 900) -> Iterator[Visitor]:
    """A first-time visitor, with empty cookies and storage."""
    context = browser.new_context(viewport={"width": width, "height": height})
    rest.watch(context)
    context.set_default_timeout(1e3 * PATIENCE)
    visitor = Visitor(context.new_page(), server.url)
    visitor.watch()
    yield visitor
    visitor.assert_clean()
    context.close()


@pytest.fixture(scope="session")
def contexts(browser: Browser) -> list[BrowserContext]:
    """Emptied contexts of earlier tests of this worker, with the scripts still cached."""
    return []


def new_context(browser: Browser, *, touch: bool = False) -> BrowserContext:
    """The context of a returning visitor: full mode, and the guided start is over."""
    context = browser.new_context(has_touch=touch, is_mobile=touch)
    rest.watch(context)
    context.add_init_script(f"({BEEN_HERE})()")
    return context


@pytest.fixture
def visit(browser: Browser, contexts: list[BrowserContext], server: Server) -> Iterator[Visit]:
    """Opens any number of windows; each is checked and closed when the test ends."""
    visitors: list[Visitor] = []
    phones: list[BrowserContext] = []
    written = len(server.log())

    def one(*, dark: bool = False, width: int = 1440, height: int = 900, touch: bool = False) -> Visitor:
        context = contexts.pop() if contexts and not touch else new_context(browser, touch=touch)
        if touch:
            phones.append(context)
        context.set_default_timeout(1e3 * PATIENCE)
        visitor = Visitor(context.new_page(), server.url).on_screen(width, height, dark=dark)
        visitor.watch()
        visitors.append(visitor)
        return visitor

    yield one
    for context in (visitor.page.context for visitor in visitors):
        if context in phones:
            context.close()
        else:
            contexts.append(emptied(context, server))
    for visitor in visitors:
        visitor.assert_clean()
    server.assert_no_traceback(since=written)


def emptied(context: BrowserContext, server: Server) -> BrowserContext:
    """Closes the windows and clears cookies, permissions and storage: a new visitor to the server.

    One window stays open, on an address without scripts: closing the last one would end the process that has compiled
    the page's scripts.
    """
    stays = context.new_page()
    stays.goto(f"{server.url}/_stcore/health")
    for page in context.pages:
        if page != stays:
            page.close()
    context.clear_cookies()
    context.clear_permissions()
    browser = context.new_cdp_session(stays)
    browser.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    browser.detach()
    return context


@pytest.fixture
def visitor(visit: Visit) -> Visitor:
    """One visitor, light mode, 1440 x 900; no page is open yet."""
    return visit()


@pytest.fixture(scope="session")
def shared_visitors(browser: Browser) -> list[SharedVisitor]:
    """The visitor with the last test's window, at most one."""
    return []


@pytest.fixture
def shared_visitor(
    request: pytest.FixtureRequest, browser: Browser, shared_visitors: list[SharedVisitor], server: Server
) -> Iterator[Visitor]:
    """A visitor in the previous test's window; the next test reuses it if this one passes.

    For tests that leave no state on the server, in the page's scripts or in the browser's permissions.
    """
    shared_visitor = shared_visitors.pop() if shared_visitors else _shared_visitor(browser, server)
    written = len(server.log())
    yield shared_visitor
    shared_visitor.assert_clean()
    server.assert_no_traceback(since=written)
    if request.node.stash.get(PASSED, False):
        shared_visitor.leave()
        shared_visitors.append(shared_visitor)
    else:
        shared_visitor.page.context.close()


def _shared_visitor(browser: Browser, server: Server) -> SharedVisitor:
    context = new_context(browser)
    context.set_default_timeout(1e3 * PATIENCE)
    shared_visitor = SharedVisitor(context.new_page(), server.url).on_screen()
    shared_visitor.watch()
    return shared_visitor


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The page as one visitor first sees it."""
    return visitor.open()
