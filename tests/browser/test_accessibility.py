"""What is written can be read: in light and in dark."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.visitor import wait_until

# The least contrast of what Plotly wrote with the page, whose own ground is the page.
LEAST_CONTRAST = """() => {
    const luminance = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(channel => channel / 255)
        .map(share => share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
        .reduce((sum, share, channel) => sum + share * [0.2126, 0.7152, 0.0722][channel], 0);
    const ground = luminance(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
    const texts = [...document.querySelectorAll(".js-plotly-plot text")].filter(text => text.textContent);
    return Math.min(...texts.map(text => luminance(getComputedStyle(text).fill)).map(
        text => (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)));
}"""


SCHEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


@SCHEMES
def test_what_a_chart_says_can_be_read(visit: Visit, dark: bool) -> None:
    page = visit(dark=dark).open(path="/positions")
    expect(page.locator(".js-plotly-plot text.xtitle").first).to_be_visible()
    wait_until(page, lambda: page.evaluate(LEAST_CONTRAST), lambda contrast: contrast >= 4.5)


def test_a_focused_link_of_the_sidebar_does_not_look_like_the_page_one_is_on(page: Page) -> None:
    explore, compare = (
        page.get_by_test_id("stSidebar").get_by_role("link", name=name) for name in ("Explore", "Compare")
    )
    page.keyboard.press("Tab")
    compare.focus()
    expect(compare).to_have_css("outline-style", "solid")
    expect(explore).to_have_css("outline-style", "none")
