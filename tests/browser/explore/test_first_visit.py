"""A first visit: simple mode, the rail, and the guided start."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import stranger
from tests.browser.elements import script
from tests.browser.journeys import with_journeys
from tests.browser.rest import come_to_rest
from tests.browser.server import Server
from tests.browser.visitor import PATIENCE, Visitor, shown_instrument, wait_until

SIZES = ((1440, 900), (1366, 768), (1280, 800), (1280, 720), (390, 844))
SCROLLED = script("""() => everything().filter((element) => element.scrollTop > 0).map((element) => element.outerHTML
  .slice(0, 80))""")


@pytest.fixture
def newcomer(browser: Browser, server: Server) -> Iterator[Visitor]:
    with stranger(browser, server) as visitor:
        yield visitor


def rail_width(page: Page) -> float:
    box = page.get_by_test_id("stSidebar").bounding_box()
    return box["width"] if box else 0


def test_simple_mode_shows_less_and_the_choice_stays(newcomer: Visitor) -> None:
    page = newcomer.open("model=stories-causal&text=The+dog")
    wait_until(page, lambda: rail_width(page), lambda width: 0 < width < 100)
    expect(page.get_by_test_id("token-ids")).to_be_hidden()
    expect(page.get_by_test_id("variant-masks")).to_be_visible()
    page.get_by_test_id("rail").click()
    expect(page.get_by_test_id("variant-attention_function")).to_be_hidden()
    page.get_by_test_id("mode-full").click()
    expect(page.get_by_test_id("variant-attention_function")).to_be_visible()
    expect(page.get_by_test_id("token-ids")).to_be_visible()
    page.reload()
    expect(page.get_by_test_id("token-ids")).to_be_visible()
    assert rail_width(page) > 200


def test_a_link_opens_in_the_mode_that_it_needs(newcomer: Visitor) -> None:
    page = newcomer.open("model=stories-causal&text=The+dog&attention_function=hardmax")
    expect(page.get_by_test_id("variant-attention_function")).to_have_value("hardmax")
    expect(page.get_by_test_id("variant-attention_function")).to_be_visible()


def test_the_guided_start_comes_once_and_changes_what_it_says(newcomer: Visitor) -> None:
    page = newcomer.open()
    tour, onward = page.get_by_test_id("tour"), page.get_by_test_id("tour-next")
    expect(tour).to_contain_text("The model reads the text above")
    onward.click()
    expect(tour).to_contain_text("looks most at")
    found = re.search(r"head (\d+) of layer (\d+)", tour.inner_text())
    assert found
    expect(page.get_by_test_id("head-title")).to_have_text(f"Layer {found[2]} · Head {found[1]}")
    onward.click()
    expect(page.get_by_test_id("changes")).to_contain_text("1 change")
    told = re.search(r"from ([\d.]+)\s% to ([\d.]+)\s%", tour.inner_text())
    assert told and float(told[1]) - float(told[2]) > 20
    expect(page.get_by_test_id("predictions")).to_contain_text(f"{told[2]} %")
    onward.click()
    onward.click()
    for task in ("Translate", "Describe"):
        expect(tour.get_by_role("link", name=task)).to_have_attribute(
            "href", re.compile(f"^tasks.task={task.lower()}&")
        )
    onward.click()
    expect(tour).to_have_count(0)
    expect(page.get_by_test_id("changes")).to_contain_text("No changes")
    newcomer.open()
    shown_instrument(page)
    come_to_rest(page)
    expect(tour).to_have_count(0)
    newcomer.open("tour=1")
    expect(tour).to_be_visible()
    page.get_by_test_id("sentence").fill("The bird sang")
    expect(tour).to_have_count(0)  # it described the earlier sentence
    newcomer.open("tour=1")
    page.get_by_test_id("tour-skip").click()
    expect(tour).to_have_count(0)


@pytest.mark.parametrize("size", with_journeys(SIZES, (1366, 768), (390, 844)), ids=str)
def test_a_fresh_page_scrolls_for_nobody_who_has_not_asked(
    browser: Browser, server: Server, size: tuple[int, int]
) -> None:
    with stranger(browser, server, *size) as newcomer:
        page = newcomer.open()
        expect(page.get_by_test_id("tour")).to_be_visible()
        shown_instrument(page)
        assert page.evaluate(SCROLLED) == []
        for seen in (page.locator(".lead"), page.get_by_test_id("sentence"), page.get_by_test_id("tour-next")):
            expect(seen).to_be_in_viewport(ratio=1)


@pytest.mark.journey
def test_three_clicks_switch_a_head_off_and_show_what_it_changed(newcomer: Visitor) -> None:
    page = newcomer.open()
    page.get_by_test_id("tour-skip").click()
    page.locator(".thumb").nth(12).click()
    page.get_by_test_id("head-switch").click()
    expect(page.get_by_test_id("changes")).to_contain_text("1 change")
    change = page.get_by_test_id("predictions").locator(".difference").first
    expect(change).to_contain_text(re.compile(r"[▲▼]"))
    for seen in (change, page.get_by_test_id("head-switch"), page.get_by_test_id("sentence")):
        expect(seen).to_be_in_viewport()


@pytest.mark.journey
def test_on_a_phone_the_guided_start_shows_what_it_speaks_of(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    context.set_default_timeout(1e3 * PATIENCE)
    page = Visitor(context.new_page(), server.url).open()
    onward = page.get_by_test_id("tour-next")
    expect(onward).to_have_text("Show me")
    onward.click()
    expect(onward).to_have_text("Turn it off")
    expect(page.get_by_test_id("head-title")).to_be_in_viewport()
    onward.click()
    expect(onward).to_have_text("Why?")
    expect(page.get_by_test_id("predictions").locator(".candidate").first).to_be_in_viewport()
    context.close()
