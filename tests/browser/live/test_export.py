"""Explore's Export menu writes the model as a live page, which opens with what Explore shows."""

from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from headlight import Checkpoint
from tests.browser.live.conftest import MODEL
from tests.browser.live.test_live import OFF, expect_answer, expect_equal
from tests.browser.visitor import Visitor

TEXT = "The dog ran </script> 😀"


def test_a_page_of_the_menu_opens_with_what_explore_shows(
    visitor: Visitor, page: Page, file: Path, checkpoint: Checkpoint
) -> None:
    shown = {"model": MODEL, "text": TEXT, "edits": OFF, "layer": 2, "head": 3}
    explore = visitor.explore(urlencode(shown), sentence=TEXT)
    explore.get_by_test_id("export-menu-button").click()
    with explore.expect_download() as caught:
        explore.get_by_test_id("export-live").click()
    expect(explore.get_by_test_id("export-status")).to_contain_text("headlight-live.html is saved.")
    exported = file.parent / "exported.html"
    caught.value.save_as(exported)
    page.goto(exported.as_uri())
    expect_answer(page, TEXT, "1 change")
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    expect_equal(page, checkpoint, TEXT, (OFF,))
    page.get_by_test_id("undo").click()
    expect_answer(page, TEXT)
    page.wait_for_url(lambda address: "edits" not in address)
    page.reload()
    expect_answer(page, TEXT)
