"""The Models page: listed models, uploads, and refused files."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from headlight.paths import assets_dir
from tests.browser.conftest import Visit, stranger
from tests.browser.explore.test_explore import say
from tests.browser.server import serve
from tests.browser.uploads import Zip, hostile
from tests.browser.visitor import Visitor, address, shown_instrument, wait_for_address, wait_until
from tests.families.cases import CASES
from tests.families.reference import build
from tests.zips import files_of, zipped

TEXT = "the cat sat on a mat"
UPLOAD = re.compile("upload-tiny-.+")
NOT_YOURS = "uploads belong to the browser that sent them"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a tiny GPT-2 with its tokenizer and a card."""
    folder = tmp_path_factory.mktemp("checkpoint") / "tiny"
    build(CASES["gpt2"][0], folder)
    card = (
        "---\nlicense: mit\n---\n# Tiny\n![](https://example.org/a.png)<img src='https://example.org/b.png'>It reads."
    )
    (folder / "README.md").write_text(card)
    return folder


@pytest.fixture(scope="module")
def files(tiny: Path) -> Zip:
    return files_of(tiny)


def models(visitor: Visitor, query: str = "") -> Page:
    """The Models page at an address."""
    page = visitor.open(query, "/models")
    expect(page.get_by_role("heading", name="Models", exact=True)).to_be_visible()
    return visitor.settle()


def send(page: Page, content: bytes, name: str = "tiny.zip") -> None:
    upload = {"name": name, "mimeType": "application/zip", "buffer": content}
    chooser = page.get_by_test_id("stFileUploader").locator("input[type=file]")
    expect(chooser).to_have_count(1)  # two while a file is being uploaded
    chooser.set_input_files(upload)  # type: ignore[arg-type]


def cards(page: Page) -> Locator:
    return page.get_by_test_id("model")


def card(page: Page, title: str) -> Locator:
    """The container of a card with its buttons."""
    return page.locator("[class*=st-key-card]").filter(has=page.get_by_role("heading", name=title, exact=True))


def test_beside_the_sidebar_of_a_tablet_cards_charts_and_columns_keep_their_width(shared_visitor: Visitor) -> None:
    shared_visitor.on_screen(820, 1180)
    told = card(models(shared_visitor), "stories-causal").locator("dd")
    for words in told.all():
        wait_until(shared_visitor.page, words.bounding_box, lambda box: box is not None and box["height"] < 40)
    page = shared_visitor.open(path="/positions")
    plots = page.locator(".chart svg")
    expect(plots.nth(3)).to_be_attached()
    for plot in plots.all():
        wait_until(page, plot.bounding_box, lambda box: box is not None and box["width"] > 250)


def test_the_shipped_models_are_told_and_open(shared_visitor: Visitor) -> None:
    page = models(shared_visitor)
    told = card(page, "stories-masked")
    for words in ("Fills masks", "6 layers × 8 heads", "RoPE", "byte pairs", "256 tokens", "apache-2.0", "once open"):
        expect(told).to_contain_text(words)
    told.get_by_role("button", name="Open").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("instrument")).to_be_visible()
    wait_for_address(page, model="stories-masked")
    shown_instrument(page, sentence="The girl said that [MASK] was tired.")
    expect(page.get_by_text("All weights were loaded.")).to_be_visible()


def test_a_zipped_checkpoint_shows_its_heads(visitor: Visitor, files: Zip) -> None:
    page = models(visitor, "positional_encoding=alibi")
    send(page, zipped(files))
    said = page.get_by_test_id("stAlert")
    expect(said).to_contain_text(re.compile(r"tiny can be opened now.*\d+ tensors were loaded", re.DOTALL))
    mine = card(page, "tiny")
    expect(mine).to_contain_text("gpt2")
    expect(mine).to_contain_text("your upload")
    page.get_by_role("button", name="Open in Explore").click()
    wait_for_address(page, model=UPLOAD, positional_encoding=None)  # a checkpoint is opened as it was trained
    say(page, TEXT)
    for head in ("head-0-0", "head-1-2"):
        expect(page.get_by_test_id(head)).to_be_visible()
    expect(page.get_by_test_id("predictions")).to_contain_text("%")
    page.reload()
    visitor.settle()
    expect(page.get_by_test_id("head-1-2")).to_be_visible()
    page.keyboard.press("p")
    page.get_by_test_id("room-button").click()
    told = "Only your browser can open tiny (your upload): others see another model in its place."
    expect(page.get_by_test_id("room-note")).to_contain_text(told)
    page.get_by_test_id("room-open").click()
    expect(page.get_by_test_id("room-title")).to_contain_text("Room ")
    expect(page.get_by_test_id("room-note")).to_contain_text(told)


def test_what_is_hostile_is_refused_by_a_sentence_and_the_page_goes_on(visitor: Visitor, files: Zip) -> None:
    page = models(visitor)
    for content, words in hostile(files).values():
        send(page, content)
        expect(page.get_by_role("alert")).to_contain_text(words)
        visitor.settle()
        expect(page.get_by_role("heading", name="Your models")).to_have_count(0)
        assert "/tmp" not in page.locator("body").inner_text()
    send(page, zipped(files))
    expect(card(page, "tiny")).to_be_visible()


def test_two_uploads_of_one_title_are_compared_and_a_link_says_that_others_have_neither(
    visitor: Visitor, files: Zip
) -> None:
    page = models(visitor)
    send(page, zipped(files))
    expect(card(page, "tiny")).to_be_visible()
    send(page, zipped(files))
    expect(card(page, "tiny (2)")).to_be_visible()
    expect(card(page, "tiny")).to_be_visible()
    page.get_by_role("button", name="Open in Explore").click()
    say(page, TEXT)
    page.get_by_test_id("export-menu-button").click()
    page.get_by_test_id("export-link").click()
    status = page.get_by_test_id("export-status")
    expect(status).to_contain_text("Only your browser can open tiny (2) (your upload): others see another model")
    expect(status).to_contain_text("works on this machine only")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_test_id("variant-a")).to_contain_text("tiny (2) (your upload) · ")


def test_two_visitors_do_not_see_each_others_upload(visit: Visit, files: Zip) -> None:
    anna, ben = visit(), visit()
    page = models(anna)
    send(page, zipped(files))
    card(page, "tiny").get_by_role("button", name="Open").click()
    say(page, TEXT)
    theirs = ben.open(wait_for_address(page, model=UPLOAD, text=TEXT))
    expect(theirs.get_by_role("alert").first).to_contain_text(NOT_YOURS)
    name = address(page)["model"]
    asked = "model => fetch('/api/trace', {method: 'POST', headers: {'Content-Type': 'application/json'}, "
    asked += "body: JSON.stringify({question: {model, text: 'the cat'}})}).then(answer => answer.text())"
    assert NOT_YOURS in theirs.evaluate(asked, name)
    assert '"error"' not in page.evaluate(asked, name)
    theirs.get_by_role("link", name="Models").click()
    expect(card(theirs, "stories-causal")).to_be_visible()
    expect(card(theirs, "tiny")).to_have_count(0)


def test_a_folder_is_sent_as_it_lies_on_disk_its_card_read_and_removed_again(visitor: Visitor, tiny: Path) -> None:
    page = models(visitor)
    page.get_by_test_id("stButtonGroup").get_by_text("Folder").click()
    chooser = page.get_by_test_id("stFileUploader").locator("input[type=file][webkitdirectory]")
    chooser.set_input_files(str(tiny))
    mine = card(page, "tiny")
    mine.get_by_role("button", name="Model card").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("It reads.")
    expect(dialog.locator("img")).to_have_count(0)  # none was requested either: a visitor can reach only the server
    assert "<img" not in dialog.inner_text() and "license:" not in dialog.inner_text()
    page.keyboard.press("Escape")
    mine.get_by_role("button", name="Remove").click()
    expect(mine).to_have_count(0)


@pytest.fixture
def elsewhere(tiny: Path, tmp_path: Path) -> Path:
    """A folder of many models, one of which cannot be opened."""
    for number in range(8):
        shutil.copytree(tiny, tmp_path / "models" / f"copy-{number}")
    (tmp_path / "models" / "copy-7" / "config.json").write_text('{"model_type": "mamba"}')
    return tmp_path / "models"


@pytest.fixture
def guest(browser: Browser, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visitor]:
    """A visitor of a shared server with a folder of models."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    options = ("--shared", "--models", str(elsewhere), "--upload-limit", "30")
    with serve(tmp_path, *options) as server, stranger(browser, server, width=390, height=844) as visitor:
        yield visitor
    assert not list(tmp_path.glob("headlight-stored-*")), "uploads remain after the server stopped"


def test_on_a_shared_server_one_searches_and_opens_only_what_is_offered(
    guest: Visitor, files: Zip, tiny: Path, elsewhere: Path, tmp_path: Path
) -> None:
    page = guest.open()
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Models").click()
    offered = [*elsewhere.iterdir(), *(assets_dir() / "models").iterdir()]
    expect(cards(page)).to_have_count(len(offered))
    expect(page.get_by_text("up to 30 MB")).to_be_visible()
    expect(page.get_by_text("Path or id")).to_have_count(0)
    expect(cards(page).last).to_contain_text("copy-7: mamba does not open: it has no attention")
    card(page, "copy-1").get_by_role("button", name="Model card").click()  # the sidebar does not cover it
    expect(page.get_by_role("dialog")).to_contain_text("It reads.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label("Search").fill("copy-3")
    expect(cards(page)).to_have_count(1)
    page.get_by_label("Search").fill("gpt2 mit")
    expect(cards(page)).to_have_count(7)
    assert str(tmp_path) not in page.content()
    send(page, zipped(files))
    expect(card(page, "tiny")).to_be_visible()
    assert list(tmp_path.glob("headlight-stored-*/*/tiny/model.safetensors"))
    guest.open(f"model={tiny}")
    expect(page.get_by_role("alert").first).to_contain_text("is not here")


def test_on_ones_own_machine_a_path_opens(visitor: Visitor, tiny: Path) -> None:
    page = models(visitor)
    page.get_by_test_id("stButtonGroup").get_by_text("Path or id").click()
    place = page.get_by_label("Folder on this machine")
    place.fill(str(tiny.parent / "nowhere"))
    place.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("There is no such folder")
    place.fill(str(tiny))
    place.press("Enter")
    expect(card(page, "tiny")).to_contain_text("opened from your disk")
    expect(page.get_by_text("Nothing on your disk is changed or deleted.")).to_be_visible()
    card(page, "tiny").get_by_role("button", name="Open").click()
    say(page, TEXT)
    expect(page.get_by_test_id("head-1-2")).to_be_visible()
