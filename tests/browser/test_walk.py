"""Random actions in random order: page, address, reload and model agree, and no error occurs."""

from random import Random

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.journeys import with_journeys
from tests.browser.server import Server
from tests.browser.visitor import Visitor
from tests.browser.walk import PATHS, Walker

SEED = 7


def test_after_two_hundred_actions_page_address_reload_and_model_agree(visit: Visit, server: Server) -> None:
    written = len(server.log())
    walker = Walker(visit(), visit(), Random(SEED), folders=(server.log_file.parent / "models",))
    walker.walk(200)
    assert walker.predictions
    server.assert_no_error(since=written)


MENUS = ("export-menu-button", "options-button", "changes", "help-button", "room-button")


@pytest.mark.parametrize("path", with_journeys(PATHS, "/tasks"))
def test_every_page_tab_and_menu_opens_without_an_error(visitor: Visitor, server: Server, path: str) -> None:
    written = len(server.log())
    page = visitor.open("model=stories-causal", path)
    open_everything(page)
    visitor.settle()
    server.assert_no_error(since=written)


def open_everything(page: Page) -> None:
    """Opens each tab with its menus, then the menus outside the tabs and the folded parts."""
    tabs = page.get_by_role("tablist").first.get_by_role("tab")
    for tab in range(tabs.count()):
        tabs.nth(tab).click()
        expect(tabs.nth(tab)).to_have_attribute("aria-selected", "true")
        open_menus(page)
    open_menus(page)
    for part in page.get_by_test_id("stMain").locator("summary:visible").all():
        part.click()


def open_menus(page: Page) -> None:
    for name in MENUS:
        for button in page.get_by_test_id(name).locator("visible=true").all():
            button.click()
            page.keyboard.press("Escape")
