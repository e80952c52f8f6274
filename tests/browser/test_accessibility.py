"""WCAG 2.2 AA on each page and menu, in light, dark and forced colours."""

import os
from dataclasses import dataclass
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.elements import script
from tests.browser.journeys import with_journeys
from tests.browser.visitor import Visitor, wait_until
from tests.javascript import node

AXE = node.FOLDER / "node_modules" / "axe-core" / "axe.min.js"
RULES = """category => axe.getRules(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"])
    .filter(({tags}) => !tags.includes("experimental") && (!category || tags.includes(category)))
    .map(({ruleId}) => ruleId)"""
VIOLATIONS = """async (place, values) => (await axe.run(place, {runOnly: {type: "rule", values}})).violations.flatMap(
    ({id, nodes}) => nodes.map(({html, failureSummary}) => `${id}: ${html.slice(0, 90)} ${failureSummary}`))"""
# The lowest contrast of chart text with the page; axe-core does not check it, since SVG has no background.
LEAST_CONTRAST = script("""() => {
    const luminance = colour => colour.match(/[\\d.]+/g).slice(0, 3)
        .map(channel => channel / (colour.startsWith("color(") ? 1 : 255))
        .map(share => share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
        .reduce((sum, share, channel) => sum + share * [0.2126, 0.7152, 0.0722][channel], 0);
    const ground = luminance(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
    const texts = everything().filter(element => element.matches(".chart text"));
    return Math.min(...texts.map(text => luminance(getComputedStyle(text).fill)).map(
        text => (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)));
}""")


@dataclass(frozen=True)
class Place:
    """A view: its address, a selector that is visible once it is drawn, one to click first, and its menu buttons."""

    address: str
    query: str
    drawn: str
    opens: str | None = None
    menus: tuple[str, ...] = ()


PLACES = {
    "heads": Place(
        "/",
        "",
        '[data-testid="metric-previous"]',
        menus=("export-menu-button", "options-button", "changes", "help-button", "room-button"),
    ),
    "table": Place("/", "plot=table", ".sheet td"),
    "masks": Place("/", "model=stories-masked&plot=text", ".prose .word"),
    "edits": Place("/", "edits=decoder.1.self.weights[3]%3Dset%3A0", ".edits li", ".changes.some"),
    "presenter": Place("/", "presenter=1", ".instrument.presenter .candidate"),
    "walkthrough": Place("/", "tab=walkthrough", ".values .value"),
    "logit lens": Place("/", "tab=layers", ".heat.noted td button"),
    "logit attribution": Place("/", "tab=layers&analysis=logit_attribution", ".changes-list li"),
    "neurons": Place("/", "tab=layers&analysis=logit_attribution&neuron=5", ".shaded-text bdi"),
    "information flow": Place("/", "tab=layers&analysis=information_flow", '[data-testid="flow"]'),
    "ablation": Place(
        "/", "tab=layers&analysis=head_ablation", ".heat td button:visible", '[data-testid="analysis-start"]'
    ),
    "patching": Place("/", "tab=layers&analysis=patching", '[data-testid="analysis-views"] select'),
    "head search": Place("/", "tab=layers&analysis=head_search", '[data-testid="analysis-start"]'),
    "vectors": Place("/", "tab=tokens", '[data-testid="vectors-canvas"]'),
    "sentences": Place("/tasks", "model=stories-masked&task=similar", ".task .heat td button:visible"),
    "classify": Place("/tasks", "model=sentiment", ".task .token-chips .chip:visible"),
    "tag": Place("/tasks", "model=entities", ".task .token-chips .chip:visible"),
    "sort": Place("/tasks", "model=sort", ".task .verdict:visible"),
    "translate": Place("/tasks", "model=dates&beam_width=3", ".task .facts th button"),
    "describe": Place("/tasks", "model=caption", '[data-testid="tokens"] .chip'),
    "compare": Place("/compare", "", ".answers .bar-label", menus=("export-menu-button",)),
    "generate": Place("/generate", "", '[data-testid="generator"][data-known="true"]', menus=("export-menu-button",)),
    "positions": Place("/positions", "", ".chart svg"),
    "code": Place(
        "/positions", "", '[data-testid="stCode"] .token', ':nth-match([data-testid="stExpander"] summary, 2)'
    ),
    "map of the course": Place("/course", "", ".station"),
    "question": Place("/course", "chapter=attention", '[data-testid="screen-look-up"] .question'),
    "course": Place(
        "/course",
        "chapter=attention&screen=steps",
        '[data-testid="screen-steps"] .heat td',
        opens='[data-testid="screen-steps"] [data-testid="show-me"]',
    ),
    "lessons": Place("/lesson", "", ".lesson-list li"),
    "lesson": Place("/lesson", "lesson=sharp-and-soft", '[data-testid="step"] .question'),
    "lesson's notes": Place("/lesson", "lesson=attention-with-a-pencil&notes=1", '[data-testid="notes-3"] td'),
    "models": Place("/models", "", '[data-testid="model"]'),
    "model card": Place("/models", "", '[role="dialog"] h2', ':nth-match(button:has-text("Model card"), 1)'),
}
JOURNEYS = ("heads", "question", "lesson")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture
def visitor(shared_visitor: Visitor) -> Visitor:
    """The shared visitor; without axe-core's script the test is skipped, or fails in CI."""
    if not AXE.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("Install the checks: python -m tests.javascript.node")
    return shared_visitor


def opened(visitor: Visitor, place: Place) -> Page:
    """The page with axe-core, once the view is drawn."""
    page = visitor.go(place.query, place.address)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    if place.opens:
        page.locator(place.opens).click()
    expect(page.locator(place.drawn).first).to_be_visible()
    return page


def wear(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Switches the system's colour scheme, which the open page follows."""
    page.emulate_media(color_scheme=scheme)
    expect(page.locator(".stApp")).to_have_css("color-scheme", scheme)


@pytest.mark.parametrize("name", with_journeys(PLACES, *JOURNEYS))
def test_axe_finds_nothing_against_wcag_aa(visitor: Visitor, name: str) -> None:
    page = opened(visitor, PLACES[name])
    assert_without_finding(page, page.locator("body"))
    for menu in PLACES[name].menus:
        button = page.get_by_test_id(menu).first
        button.click()
        assert_without_finding(page, button.locator(".."))
        page.keyboard.press("Escape")
    page.keyboard.press("Escape")  # close everything before the next view


def assert_without_finding(page: Page, place: Locator) -> None:
    """Waits until axe finds no violation; its colour rules run again in dark mode and in forced colours."""

    def settle(category: str = "") -> None:
        rules = page.evaluate(RULES, category)
        wait_until(page, lambda: place.evaluate(VIOLATIONS, rules), lambda found: not found)

    wear(page, "light")
    settle()
    wear(page, "dark")
    settle("cat.color")
    page.emulate_media(forced_colors="active")
    settle("cat.color")
    page.emulate_media(forced_colors="none")


def test_what_a_chart_says_can_be_read(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, PLACES["positions"])
    expect(page.locator(".chart text").first).to_be_visible()
    for scheme in SCHEMES:
        wear(page, scheme)
        wait_until(page, lambda: page.evaluate(LEAST_CONTRAST), lambda contrast: contrast >= 4.5)


def test_a_focused_link_of_the_sidebar_does_not_look_like_the_page_one_is_on(page: Page) -> None:
    explore, compare = (
        page.get_by_test_id("stSidebar").get_by_role("link", name=name) for name in ("Explore", "Compare")
    )
    page.keyboard.press("Tab")
    compare.focus()
    expect(compare).to_have_css("outline-style", "solid")
    expect(explore).to_have_css("outline-style", "none")
