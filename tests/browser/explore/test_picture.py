"""The diagram from text to prediction: each part is live, and opens its detailed view."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explore.test_explore import say
from tests.browser.visitor import Visitor, expect_to_fit, in_analysis, wait_for_address, wait_until

SENTENCE = "The girl had a red ball"


def picture(visitor: Visitor, query: str = "") -> Page:
    page = visitor.explore(f"model=stories-causal&text={quote(SENTENCE)}{query}", sentence=SENTENCE)
    expect(page.get_by_test_id("picture")).to_be_visible()
    return page


def part(page: Page, name: str) -> Locator:
    return page.get_by_test_id(f"part-{name}")


@pytest.mark.journey
def test_a_click_on_a_part_opens_it(shared_visitor: Visitor) -> None:
    page = picture(shared_visitor, "&layer=1&head=2")
    expect(part(page, "heads-decoder.self-1")).to_have_attribute("aria-current", "true")
    part(page, "network-decoder-4").click()
    expect(page.get_by_role("heading", name="Neurons of layer 4’s feed-forward")).to_be_visible()
    expect(part(page, "network-decoder-4")).to_have_attribute("aria-current", "true")
    part(page, "prediction").click()
    expect(in_analysis(page, "view-matrix").get_by_test_id("view-note")).to_contain_text("The answer")
    part(page, "heads-decoder.self-3").locator("canvas").click(position={"x": 4, "y": 4})
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 3 · Head 0")
    page.get_by_test_id("inside-weights").click()
    expect(page.get_by_test_id("stair-title")).to_contain_text("Weights")
    part(page, "input-decoder").click()
    expect(page.get_by_test_id("vectors-reading")).to_contain_text("channel 0 of 256")
    page.get_by_test_id("vectors").press("ArrowDown")
    expect(page.get_by_test_id("vectors-reading")).to_contain_text("The, vector")


def test_the_keyboard_walks_through_the_parts_and_what_is_typed_changes_them(shared_visitor: Visitor) -> None:
    page = picture(shared_visitor, "&layer=1&head=2")
    part(page, "heads-decoder.self-1").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(part(page, "heads-decoder.self-0")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 0 · Head 2")
    tokens = page.get_by_test_id("tokens").locator("button").count()
    expect(part(page, "input-decoder")).to_have_accessible_name(
        f"tokens → vectors + positions: {tokens} tokens become vectors with positions"
    )
    likeliest = page.get_by_test_id("predictions").locator(".candidate .token").first
    say(page, f"{SENTENCE} and")
    expect(part(page, "input-decoder")).to_have_accessible_name(
        f"tokens → vectors + positions: {tokens + 1} tokens become vectors with positions"
    )
    wait_until(
        page, lambda: likeliest.inner_text().lstrip("·"), lambda word: word in part(page, "prediction").inner_text()
    )


def test_the_way_to_positions_keeps_what_was_chosen(shared_visitor: Visitor) -> None:
    page = picture(shared_visitor, "&tab=tokens&positional_encoding=alibi")
    expect(page.get_by_test_id("tokens-lesson")).to_contain_text("Positions (ALiBi) are added to the scores")
    page.get_by_test_id("positions-link").click()
    expect(page.get_by_text("How the model knows order")).to_be_visible()
    wait_for_address(page, positional_encoding="alibi")


def test_an_address_of_the_former_diagram_leads_to_the_picture(shared_visitor: Visitor) -> None:
    page = picture(shared_visitor, "&tab=model&layer=4")
    expect(page.get_by_test_id("head-title")).to_contain_text("Layer 4")


def test_one_screen_has_the_picture_all_heads_the_map_and_the_prediction(shared_visitor: Visitor) -> None:
    page = shared_visitor.open()
    for name in ("picture", "grid", "head-canvas", "reading", "predictions"):
        wait_until(
            page,
            page.get_by_test_id(name).bounding_box,
            lambda box: box is not None and box["y"] >= 0 and min(box["y"] + box["height"], box["y"] + 60) <= 900,
        )
    box = page.get_by_test_id("head-canvas").bounding_box()
    assert box and box["y"] + box["height"] <= 900


def test_the_picture_is_a_column_on_a_phone_in_the_dark(shared_visitor: Visitor) -> None:
    page = picture(shared_visitor.on_screen(390, 844, dark=True))
    expect_to_fit(page, "picture", "export-menu-button")
    first, second = (part(page, f"heads-decoder.self-{layer}").bounding_box() for layer in (0, 1))
    assert first and second and first["x"] == second["x"] and first["y"] < second["y"]


def test_an_encoder_decoder_has_a_row_for_each_stack(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=dates&source=March+5+1987")
    part(page, "heads-decoder.cross-0").click()
    wait_for_address(page, attention="decoder.cross")
    part(page, "input-encoder").click()
    expect(page.get_by_test_id("vectors-reading")).to_contain_text("channel 0 of")


def test_a_clicked_weight_says_who_wrote_its_query_and_its_key(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal&text=Anna+and+Ben+had+a+red+ball.&layer=2&head=5&pinned=3&key=1")
    ledger = page.get_by_test_id("ledger")
    expect(ledger).to_contain_text("Why \u2068“Ben”\u2069 looks at \u2068“Anna”\u2069")
    numbers = [float(text.replace("−", "-")) for text in ledger.locator("li:not(.total) output").all_inner_texts()]
    score = re.search(r"score (−?[0-9.]+)", ledger.inner_text())
    assert score and sum(numbers) == pytest.approx(float(score[1].replace("−", "-")), abs=0.05)
    ledger.get_by_role("button", name=re.compile("^FF|feed-forward of layer")).first.click()
    expect(page).to_have_url(re.compile("tab=layers"))
    page.go_back()
    expect(ledger).to_be_visible()
    page.get_by_test_id("head-2-4").click(modifiers=["Shift"])
    expect(ledger).to_be_hidden()  # with two heads chosen, it would describe neither
