"""The Compare page: two sides, their heads, corresponding tokens, and differences."""

import json
import re
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from headlight.tasks import TASKS
from tests.browser.conftest import Visit
from tests.browser.explore.test_explore import say
from tests.browser.rest import come_to_rest
from tests.browser.visitor import Visitor, expect_to_fit, shown_instrument, wait_for_address, wait_until

MAPS = ("map-a", "map-d", "map-b")
TEXT = TASKS["language-model"].examples[3].text  # the default text of Compare, with a repeated word


def compare(visitor: Visitor, **query: str) -> Page:
    """The Compare page at an address."""
    return painted(visitor.open(urlencode({"model": "stories-causal", **query}, quote_via=quote), "/compare"))


def painted(page: Page, *texts: str) -> Page:
    """The page once it shows the answer to the last request."""
    found = page.get_by_test_id("comparison")
    if texts:
        expect(found).to_have_attribute(
            "data-texts", json.dumps(list(texts), separators=(",", ":"), ensure_ascii=False)
        )
    expect(found).to_have_attribute("data-state", "ready")
    return page


def distance(page: Page, layer: int, head: int) -> Locator:
    """The distance of a head, which chooses it."""
    return page.get_by_test_id("apart").get_by_role("button", name=f"Layer {layer}, head {head}:")


def pictures(page: Page) -> dict[str, str]:
    """The pixels of the three maps."""
    return {name: page.get_by_test_id(name).evaluate("canvas => canvas.toDataURL()") for name in MAPS}


@pytest.mark.journey
def test_it_begins_with_a_difference_and_the_pointer_marks_the_same_cell_on_all_three_maps(
    shared_visitor: Visitor,
) -> None:
    page = painted(compare(shared_visitor), TEXT, TEXT)
    expect(page.get_by_test_id("notes")).to_contain_text("B – Positional encoding: None instead of RoPE (rotary)")
    first = page.get_by_test_id("ranked").get_by_role("button").first
    expect(first).to_have_attribute("aria-pressed", "true")
    layer, head = re.findall(r"\d+", first.inner_text())[:2]
    expect(page.get_by_test_id("head-title")).to_have_text(f"Layer {layer} · Head {head}")
    expect(page.get_by_test_id("predictions")).to_contain_text("Jensen–Shannon distance")
    wait_until(page, lambda: pictures(page), lambda shown: shown["map-a"] != shown["map-b"])
    before = pictures(page)
    box = page.get_by_test_id("map-b").bounding_box()
    assert box is not None
    page.get_by_test_id("map-b").hover(position={"x": box["width"] * 0.5, "y": box["height"] * 0.85})
    expect(page.get_by_test_id("reading")).to_contain_text("→")
    wait_until(page, lambda: pictures(page), lambda after: all(after[name] != before[name] for name in MAPS))


@pytest.mark.journey
def test_both_texts_are_typed_and_words_find_their_partners(shared_visitor: Visitor) -> None:
    page = compare(shared_visitor, side_b=".")
    page.get_by_test_id("text-a").fill("The cat sat on the mat.")
    painted(page, "The cat sat on the mat.", "The cat sat on the mat.")
    expect(page.get_by_test_id("ranked")).to_contain_text("No head differs")
    page.get_by_test_id("text-b").fill("The big cat sat on the mat.")
    painted(page, "The cat sat on the mat.", "The big cat sat on the mat.")
    alone = page.get_by_test_id("tokens-b").locator(".chip.alone")
    expect(alone).to_have_count(1)
    expect(alone).to_contain_text("big")
    page.get_by_test_id("tokens-a").get_by_role("button", name="sat").hover()
    expect(page.get_by_test_id("tokens-b").locator(".chip.query")).to_contain_text("sat")
    page.get_by_test_id("align-position").click()
    painted(page)
    expect(page.get_by_test_id("tokens-b").locator(".chip.alone")).to_contain_text(".")
    page.get_by_test_id("as-a").click()
    painted(page, "The cat sat on the mat.", "The cat sat on the mat.")


def test_another_model_beside_the_first(shared_visitor: Visitor) -> None:
    page = compare(shared_visitor, text="The cat sat on the")
    page.get_by_test_id("b-model").select_option("stories-masked")
    page.get_by_test_id("text-b").fill("The cat sat on the [MASK].")
    painted(page, "The cat sat on the", "The cat sat on the [MASK].")
    expect(page.get_by_test_id("predictions")).to_contain_text("Next token / Masked token")
    expect(page.get_by_test_id("b-masks").locator("option:checked")).to_have_text("Bidirectional · as trained")
    expect(page.get_by_test_id("tokens-b").locator(".chip.alone.special").first).to_have_text("[CLS]")


def test_a_head_of_one_side_off_and_a_copied_link(visit: Visit) -> None:
    anna, ben = visit(), visit(dark=True)
    page = compare(anna, text="My sister has a red", side_b=".")
    distance(page, 3, 2).click()
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 3 · Head 2")
    page.get_by_test_id("switch-b").click()
    expect(page.get_by_test_id("switch-b")).to_have_attribute("aria-checked", "false")
    expect(page.get_by_test_id("ranked").get_by_role("button").first).to_contain_text("layer 3, head 2")
    link = wait_for_address(page, layer="3", head="2", side_b=re.compile(".*weights.*"))
    theirs = ben.open(link)
    theirs.get_by_role("link", name="Compare").click()
    painted(theirs, "My sister has a red", "My sister has a red")
    expect(theirs.get_by_test_id("head-title")).to_have_text("Layer 3 · Head 2")
    expect(theirs.get_by_test_id("switch-b")).to_have_attribute("aria-checked", "false")
    expect(theirs.get_by_test_id("switch-a")).to_have_attribute("aria-checked", "true")


def test_sides_are_swapped_with_all_that_sets_them_apart(shared_visitor: Visitor) -> None:
    page = compare(shared_visitor, text="We eat", side_b="text=We+drink&positional_encoding=alibi")
    page.get_by_test_id("swap").click()
    painted(page, "We drink", "We eat")
    expect(page.get_by_test_id("notes")).to_contain_text("A – Positional encoding: ALiBi instead of RoPE (rotary)")
    expect(page.get_by_test_id("variant-a")).to_contain_text("ALiBi")
    wait_for_address(page, positional_encoding="alibi")


def test_heads_are_chosen_by_keyboard_alone_and_two_stand_beside_each_other(shared_visitor: Visitor) -> None:
    page = compare(shared_visitor, side_b=".")
    distance(page, 0, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 1 · Head 1")
    page.get_by_test_id("map-a").focus()
    page.keyboard.press("ArrowUp")
    painted(page)
    expect(page.get_by_test_id("predictions")).to_contain_text("after \u2068“Anna”\u2069 (position 11)")
    page.get_by_test_id("linked").uncheck()
    page.get_by_test_id("grid-b-4-1").click()
    expect(page.get_by_test_id("head-title")).to_have_text("Two heads")
    expect(page.get_by_test_id("map-title-b")).to_have_text("B · layer 4, head 1")
    expect(page.get_by_test_id("map-title-a")).to_have_text("A · layer 1, head 1")


def test_the_sides_are_named_by_what_sets_them_apart_and_what_one_cannot_be_asked_is_said(
    shared_visitor: Visitor,
) -> None:
    page = compare(shared_visitor)
    page.get_by_test_id("text-b").fill("")
    expect(page.get_by_test_id("problem")).to_contain_text("B: The text is empty")
    page.get_by_test_id("as-a").click()
    expect(page.get_by_test_id("problem")).to_be_hidden()
    expect(page.get_by_test_id("leave-presenter")).to_have_attribute("aria-keyshortcuts", "p")
    page.keyboard.press("p")
    for side, name in (("a", "RoPE (rotary)"), ("b", "None")):
        label = page.locator(f'[for="text-{side}"]')
        expect(label).to_be_visible()
        expect(label).to_contain_text(f"{side.upper()}{name}")
    page.get_by_test_id("b-model").select_option("stories-masked")
    expect(page.locator('[for="text-b"]')).to_contain_text("stories-masked")


def test_a_phone_shows_everything_without_scrolling_sideways(shared_visitor: Visitor) -> None:
    shared_visitor.on_screen(390, 844)
    page = painted(compare(shared_visitor), TEXT, TEXT)
    expect_to_fit(page, "apart", *MAPS)


def test_what_was_typed_elsewhere_chooses_no_head(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal")
    expect(page.get_by_test_id("head-title")).to_have_text(re.compile(r"Layer \d+ · Head \d+"))
    begun_with = page.get_by_test_id("head-title").inner_text()
    say(page, "The dog sat")
    wait_for_address(page, text="The dog sat")
    page.get_by_role("link", name="Compare").click()
    first = page.get_by_test_id("ranked").get_by_role("button").first
    expect(first).to_have_attribute("aria-pressed", "true")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Explore").click()
    shown_instrument(page, sentence="The dog sat")
    expect(page.get_by_test_id("head-title")).to_have_text(begun_with)


def test_heads_of_a_layer_that_is_off_are_off_here_too(shared_visitor: Visitor) -> None:
    page = compare(shared_visitor, edits="decoder.3.self.weights=set:0", side_b=".")
    distance(page, 3, 2).click()
    expect(page.get_by_test_id("switch-a")).to_have_attribute("aria-checked", "false")
    expect(page.get_by_test_id("grid-a").locator(".head-cell.off")).to_have_count(8)
    page.get_by_test_id("switch-a").click()
    expect(page.get_by_test_id("grid-a").locator(".head-cell.off")).to_have_count(7)


def drag(source: Locator, target: Locator) -> None:
    """Drags once nothing is drawn any more: what is new under a resting pointer takes no drop."""
    come_to_rest(source.page)
    source.drag_to(target)


@pytest.mark.journey
def test_a_head_and_a_token_of_b_are_patched_into_a_by_dragging_and_by_keys(shared_visitor: Visitor) -> None:
    boy, girl = "A little boy named", "A little girl named"
    page = painted(compare(shared_visitor, text=boy, side_b=urlencode({"text": boy})), boy, boy)
    head, token, hint = (page.get_by_test_id(f"patch-{name}") for name in ("head", "token", "hint"))
    expect(hint).to_contain_text("only if they differ in the text alone")
    expect(head).to_be_disabled()
    page.get_by_test_id("text-b").fill(girl)
    painted(page, boy, girl)
    expect(hint).to_contain_text("drag a head or a token")
    likeliest = page.get_by_test_id("predictions").get_by_role("listitem").first
    expect(likeliest).to_contain_text("Tim")
    drag(page.get_by_test_id("grid-b-4-6"), page.get_by_test_id("grid-a-0-0"))
    expect(likeliest).to_contain_text("Lily")
    wait_for_address(page, edits="decoder.4.self.weighted_values[6]=from:B", patch_from=girl)
    expect(page.get_by_test_id("patches-made")).to_have_text("layer 4, head 6 ×")
    distance(page, 4, 6).click()
    expect(head).to_have_attribute("aria-pressed", "true")
    head.press("Enter")
    expect(likeliest).to_contain_text("Tim")
    wait_for_address(page, edits=None, patch_from=None)
    chips = [page.get_by_test_id(f"tokens-{side}").locator("button").nth(3) for side in "ab"]
    drag(chips[1], chips[0])
    wait_for_address(page, edits="decoder.4.residual[3]=from:B", patch_from=girl)
    distance(page, 0, 0).click()
    chips[0].click()
    token.press("Enter")
    made = page.get_by_test_id("patches-made").get_by_role("button")
    expect(made).to_have_count(2)
    expect(likeliest).to_contain_text("± 0.0")  # before the first layer, this token is the whole difference
    made.last.press("Enter")
    wait_for_address(page, edits="decoder.4.residual[3]=from:B", patch_from=girl)
