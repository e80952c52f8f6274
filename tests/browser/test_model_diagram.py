"""The tab "Model": the open model as a diagram, whose parts lead to where they are looked at."""

from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_explore import instrument, say
from tests.browser.visitor import Visitor, expect_to_fit, wait_for_address

SENTENCE = "The girl had a red ball"


def diagram(visitor: Visitor, query: str = "") -> Page:
    page = visitor.open(f"model=stories-causal&tab=model&text={quote(SENTENCE)}{query}")
    instrument(page, SENTENCE)
    expect(page.get_by_test_id("diagram").locator("svg")).to_be_visible()
    return page


def part(page: Page, kind: str) -> Locator:
    return page.get_by_test_id(f"diagram-decoder-{kind}")


def test_the_parts_of_the_model_are_entered(visitor: Visitor) -> None:
    page = diagram(visitor, "&layer=1&head=2")
    expect(part(page, "self")).to_contain_text("8 heads × 32 channels")
    expect(part(page, "output")).to_contain_text("8,000")
    part(page, "layer-4").click()
    wait_for_address(page, layer="4")
    expect(part(page, "open")).to_contain_text("Layer 4 of 6")
    part(page, "self").click()
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 4 · Head 2")
    expect(page.get_by_test_id("tab-heads")).to_be_focused()
    page.get_by_test_id("tab-model").click()
    part(page, "feed_forward").click()
    expect(page.get_by_test_id("analysis-logit_attribution")).to_have_attribute("aria-pressed", "true")
    page.get_by_test_id("tab-model").click()
    part(page, "output").click()
    expect(page.get_by_test_id("analysis-logit_lens")).to_have_attribute("aria-pressed", "true")
    page.get_by_test_id("tab-model").click()
    part(page, "embedding").click()
    expect(page.get_by_test_id("stair-title")).to_have_text("1. Input")


def test_the_keyboard_enters_and_what_is_typed_changes_the_shapes(visitor: Visitor) -> None:
    page = diagram(visitor, "&layer=1&head=2")
    part(page, "layer-3").focus()
    page.keyboard.press("Enter")
    expect(part(page, "open")).to_contain_text("Layer 3 of 6")
    page.get_by_test_id("diagram-layer").select_option("0")
    expect(part(page, "open")).to_contain_text("Layer 0 of 6")
    tokens = page.get_by_test_id("tokens").locator("button").count()
    expect(part(page, "self")).to_contain_text(f"weights 8 × {tokens} × {tokens}")
    say(page, f"{SENTENCE} and")
    expect(part(page, "self")).to_contain_text(f"weights 8 × {tokens + 1} × {tokens + 1}")
    part(page, "self").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 0 · Head 2")


def test_the_way_to_positions_keeps_what_was_chosen(visitor: Visitor) -> None:
    page = diagram(visitor, "&positional_encoding=alibi")
    expect(part(page, "self")).to_contain_text("ALiBi")
    page.get_by_test_id("diagram-positions").click()
    expect(page.get_by_text("How the model knows order")).to_be_visible()
    wait_for_address(page, positional_encoding="alibi")


def test_the_diagram_fits_a_phone_in_the_dark(visit: Visit) -> None:
    expect_to_fit(diagram(visit(dark=True, width=390, height=844)), "diagram", "diagram-layer", "export-menu-button")
