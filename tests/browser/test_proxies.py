"""The page behind proxies, and in a frame of another site: typing included."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Error, FrameLocator, Locator, Page, expect

from tests.browser.conftest import new_context
from tests.browser.proxy import Proxy, running
from tests.browser.server import Server, serve
from tests.browser.visitor import Visitor, wait_until

MODEL, SENTENCE = "model=stories-causal", "The dog saw the cat"
HUB, LAB = "/user/ann/proxy/8501", "/lab"
SCHOOL, STRANGER = "http://127.0.0.2:8080", "http://127.0.0.3:8080"  # other sites, which the tests answer for
PICTURE = "canvas => canvas.toDataURL()"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server below a path, to which proxies send requests with another Host, and which a site may frame."""
    options = ("--base-path", LAB, "--allow-host", "127.0.0.1", "--embed-in", SCHOOL)
    with serve(tmp_path_factory.mktemp("lab"), *options, health=f"{LAB}/_stcore/health") as started:
        yield started


@pytest.fixture
def at(browser: Browser) -> Iterator[Visitor]:
    """A visitor whose server a test names."""
    context = new_context(browser)
    visitor = Visitor(context.new_page(), "")
    visitor.watch()
    yield visitor
    context.close()


def assert_heads_follow(shown: Page | FrameLocator) -> None:
    """Types a sentence: the large head and the prediction change."""
    picture = shown.get_by_test_id("head-canvas")
    expect(picture).to_be_visible()
    before = picture.evaluate(PICTURE)
    shown.get_by_test_id("sentence").fill(SENTENCE)
    expect(shown.get_by_test_id("instrument")).to_have_attribute("data-sentence", SENTENCE)
    expect(shown.get_by_test_id("instrument")).not_to_have_class("instrument waiting")
    assert picture.evaluate(PICTURE) != before


def page_link(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stPageLink-NavLink").filter(has_text=name)


def test_behind_a_proxy_that_strips_a_prefix_the_page_is_as_at_the_root(at: Visitor, server: Server) -> None:
    with running(Proxy(server.port, prefix=HUB, strips=True)) as origin:
        at.url = origin + HUB
        assert_heads_follow(at.open(MODEL))
        page_link(at.page, "Tasks").click()
        expect(at.page).to_have_title("Tasks · Headlight")
        expect(page_link(at.page, "Tasks")).to_have_attribute("aria-current", "page")
        assert at.page.url.startswith(f"{origin}{HUB}/tasks?")
        at.open("model=translate", "/tasks/")
        expect(at.page.get_by_test_id("source")).to_be_visible()
        assert at.page.url.startswith(f"{origin}{HUB}/tasks?model=translate")
        at.assert_clean()
        at.page.goto(at.url)  # requests files beside the prefix, until the script adds the slash
        expect(at.page.get_by_test_id("head-canvas")).to_be_visible()
        assert at.page.url.startswith(f"{at.url}/")


@pytest.mark.journey
def test_behind_a_proxy_that_keeps_the_prefix_and_replaces_host(at: Visitor, lab: Server) -> None:
    with running(Proxy(lab.port, prefix=LAB, host=f"localhost:{lab.port}")) as origin:
        at.url = origin + LAB
        assert_heads_follow(at.open(MODEL, "/"))
        at.open("chapter=attention&screen=look-up", "/course")
        expect(at.page.get_by_test_id("chapter-title")).not_to_be_empty()
        at.assert_clean()


def test_in_a_frame_of_another_site(at: Visitor, lab: Server) -> None:
    frame = f'<iframe src="{lab.url}{LAB}/?{MODEL}" width=1400 height=850></iframe>'
    with suppress(Error):  # earlier Chromiums do not ask whether a site may reach this machine
        at.page.context.grant_permissions(["local-network-access"])
    for site, is_shown in ((SCHOOL, True), (STRANGER, False)):
        at.page.route(f"{site}/**", lambda route: route.fulfill(body=frame, content_type="text/html"))
        at.page.goto(f"{site}/course")
        if is_shown:
            assert_heads_follow(at.page.frame_locator("iframe"))
            assert not at.errors
    wait_until(at.page, lambda: at.errors, lambda errors: any("frame-ancestors" in error for error in errors))


@pytest.mark.journey
@pytest.mark.parametrize(
    ("host", "has_websockets", "words"), [("localhost", True, "--allow-host 127.0.0.1"), ("", False, "WebSockets")]
)
def test_a_page_that_gets_no_connection_says_why(
    at: Visitor, server: Server, host: str, has_websockets: bool, words: str
) -> None:
    with running(Proxy(server.port, host=host, has_websockets=has_websockets)) as origin:
        written = len(server.log())
        at.page.goto(f"{origin}/?{MODEL}")
        expect(at.page.get_by_role("alert").filter(has_text=words)).to_be_visible()
        log = server.log()[written:]
        assert log.count("does not know the address") == (1 if host else 0)


def test_an_address_below_all_pages_is_no_fault_of_a_proxy(at: Visitor, server: Server) -> None:
    at.provoked = "Failed to load"  # the relative addresses of the page's files
    at.page.goto(f"{server.url}/folder/unknown")
    expect(at.page.get_by_role("alert").filter(has_text="There is no page at this address.")).to_be_visible()
