"""A live page as a site: any static server carries it, from any path, and a browser keeps what it has fetched."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from headlight import Checkpoint, find_checkpoint, load
from tests.browser.live.conftest import MODEL
from tests.browser.live.test_live import SENTENCE, expect_answer, expect_equal
from tests.browser.server import started
from tests.browser.visitor import TOO_WIDE

OTHER, NUMBERS = "sort", "7 3 9 1"
OFF = "decoder.5.self.weights[5]=set:0"
MOST_SENT = 16_000_000  # bytes of the first page
NOT_CHANGED = 1_000  # bytes at most of an answer that a file is still as the browser has it
SENT = """() => Object.fromEntries(performance.getEntriesByType("resource").map(
  ({ name, transferSize }) => [new URL(name).pathname.split("/").at(-1), transferSize]
))"""
PATH = "course/week 3"  # of the site on its host


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two models, zipped and unpacked as a learning platform would."""
    root = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-P", "-m", "headlight_app.command", "live", MODEL, OTHER, "--site", str(root / "demo")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    packed = shutil.make_archive(str(root / "demo"), "zip", root / "demo")
    unpacked = root / "host" / PATH
    shutil.unpack_archive(packed, unpacked)
    return unpacked


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The site, served by Python's own server below a path."""
    host = folder.parents[1]
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(host)]
    with started(host.parent, *command, health="/") as server:
        yield f"http://127.0.0.1:{server.port}/{PATH.replace(' ', '%20')}/"


@pytest.fixture
def asked() -> list[str]:
    """The address of every request of the window."""
    return []


@pytest.fixture
def page(browser: Browser, address: str, asked: list[str]) -> Iterator[Page]:
    """A window that asks the host of the site alone, and reports no error."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened, errors = context.new_page(), list[str]()
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    host = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    assert not [url for url in asked if not url.startswith((address, f"blob:{host}/", "data:"))]
    assert not errors


def fetched(asked: list[str], address: str) -> list[str]:
    """The files of the site that were asked for."""
    return [url.removeprefix(address).partition("?")[0] for url in asked if url.startswith(address)]


@pytest.mark.journey
def test_a_site_computes_what_run_computes(
    page: Page, address: str, folder: Path, asked: list[str], checkpoint: Checkpoint
) -> None:
    page.goto(address)
    expect_answer(page, SENTENCE)
    expect(page.get_by_test_id("live-status")).to_have_text("")
    expect_equal(page, checkpoint, SENTENCE)
    files = fetched(asked, address)
    assert len(files) == len({*files}) and f"{MODEL}.weights.bin" in files
    assert sum((folder / (file or "index.html")).stat().st_size for file in files) <= MOST_SENT
    page.get_by_test_id("head-switch").click()
    expect_answer(page, SENTENCE, "1 change")
    expect_equal(page, checkpoint, SENTENCE, (OFF,))


def test_a_reader_chooses_another_model(page: Page, address: str, asked: list[str]) -> None:
    page.goto(address)
    expect_answer(page, SENTENCE)
    models = page.get_by_test_id("live-models")
    expect(models.locator("[aria-current]")).to_have_text(MODEL)
    models.get_by_text(OTHER, exact=True).click()
    expect(models.locator("[aria-current]")).to_have_text(OTHER)
    page.get_by_test_id("sentence").fill(NUMBERS)
    expect_answer(page, NUMBERS)
    other = load(find_checkpoint(OTHER), name=OTHER, device="cpu")
    expect_equal(page, other, NUMBERS)
    assert {f"{OTHER}.page.bin", f"{OTHER}.model.bin", f"{OTHER}.weights.bin"} <= {*fetched(asked, address)}
    sent = page.evaluate(SENT)
    assert sent[f"{OTHER}.weights.bin"] > NOT_CHANGED
    assert all(sent[shared] < NOT_CHANGED for shared in ("live.js", "live.css", "font.bin", "worker.bin"))
    models.get_by_text(MODEL, exact=True).click()
    expect_answer(page, NUMBERS)


def test_another_model_reads_the_same_text(page: Page, address: str) -> None:
    page.goto(address)
    expect_answer(page, SENTENCE)
    page.get_by_test_id("sentence").fill(NUMBERS)
    expect_answer(page, NUMBERS)
    page.get_by_test_id("head-switch").click()
    expect_answer(page, NUMBERS, "1 change")
    page.get_by_test_id("live-pages").get_by_text("Generate", exact=True).click()
    expect(page.get_by_test_id("prompt")).to_have_value(NUMBERS)
    page.get_by_test_id("live-models").get_by_text(OTHER, exact=True).click()
    expect_answer(page, NUMBERS)  # in Explore, since this model writes no text, and as trained


def test_a_site_opened_from_a_folder_says_what_it_needs(browser: Browser, folder: Path) -> None:
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    expect(page.get_by_test_id("live-status")).to_contain_text(
        "serve that folder, for example by: python -m http.server"
    )
    page.close()


def test_a_file_that_does_not_arrive_is_a_sentence(browser: Browser, address: str) -> None:
    for part, told in (("live.js", "live-status"), ("font.bin", "live-status"), (f"{MODEL}.weights.bin", "problem")):
        page = browser.new_page()
        page.route(f"**/{part}*", lambda route: route.fulfill(status=404))
        page.goto(address)
        expect(page.get_by_test_id(told)).to_contain_text("A file beside this page does not arrive. Reload")
        expect(page.get_by_text("A file beside this page")).to_have_count(1)
        page.close()


@pytest.mark.parametrize("width", [1440, 390])
def test_a_site_fits(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(address)
    expect_answer(page, SENTENCE)
    assert page.evaluate(TOO_WIDE) <= 0
