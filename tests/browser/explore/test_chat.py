"""A chat: typed as messages, read by the model's template, and each token marked with whose message it is of."""

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor, expect_to_fit, wait_for_address

TEXT = "the cat sat\nassistant: on the mat"
LABEL = "chip => getComputedStyle(chip, '::before').content"


@pytest.mark.journey
def test_a_chat_is_typed_as_messages(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(390, 844, dark=True).open("model=talk&text=the+cat+sat")
    chat, box, tokens = page.get_by_test_id("chat"), page.get_by_test_id("sentence"), page.get_by_test_id("tokens")
    plain = tokens.locator(".chip").filter(has_text="cat")
    expect(plain).to_be_visible()
    chat.click()
    expect(box).to_be_focused()
    expect(tokens.locator('[data-role="user"]')).to_have_count(3)
    box.press("End")
    page.keyboard.type("\nassistant: on the mat")
    expect(tokens.locator('[data-role="assistant"]')).to_have_count(3)
    first, second = (tokens.locator('[data-role="assistant"]').nth(place) for place in (0, 1))
    assert (first.evaluate(LABEL), second.evaluate(LABEL)) == ('"assistant"', "none")
    assert first.evaluate("chip => getComputedStyle(chip).borderBottomStyle") == "double"
    expect(second).to_have_accessible_name("the (assistant)")
    expect_to_fit(page)
    wait_for_address(page, chat="1", text=TEXT)
    page.reload()
    expect(box).to_have_value(TEXT)
    expect(chat).to_have_attribute("aria-pressed", "true")
    expect(tokens.locator('[data-role="user"]')).to_have_count(3)
    chat.click()
    expect(tokens.locator("[data-role]")).to_have_count(0)
    expect(box).to_have_value(TEXT)
    wait_for_address(page, chat=None, text=TEXT)


def test_a_chat_of_several_lines_is_seen_whole(shared_visitor: Visitor) -> None:
    lines = "%0A".join(f"{role}: the cat" for role in ("user", "assistant") * 3)
    page = shared_visitor.on_screen(390, 844).open(f"model=talk&chat=1&text={lines}")
    box = page.get_by_test_id("sentence")
    expect(page.get_by_test_id("tokens").locator('[data-role="user"]')).to_have_count(6)
    assert box.evaluate("box => box.scrollHeight <= box.clientHeight && box.clientHeight > 120")


def test_a_model_without_a_template_offers_no_chat(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal&chat=1&text=the+dog")
    expect(page.get_by_test_id("tokens").locator(".chip").first).to_be_visible()
    expect(page.get_by_test_id("chat")).to_be_hidden()
    expect(page.locator('[for="sentence"]')).to_have_text("Sentence")
