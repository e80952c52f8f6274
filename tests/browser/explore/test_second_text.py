"""A second text for a model of pairs, typed beside the first."""

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor, wait_for_address


@pytest.mark.journey
def test_a_second_text_is_read_with_the_first_while_one_types(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=mood&text=the+dog+ran")
    second, add = page.get_by_test_id("text-pair"), page.get_by_test_id("add-pair")
    chips = page.get_by_test_id("tokens").locator(".chip")
    expect(second).to_be_hidden()
    predictions = page.get_by_test_id("predictions")
    expect(predictions).to_contain_text("%")
    alone, answer = chips.count(), str(predictions.text_content())
    add.click()
    expect(second).to_be_focused()
    expect(page.locator('[for="sentence"]')).to_have_text("First text")
    page.keyboard.type("rain")
    expect(predictions).not_to_have_text(answer)
    assert chips.count() > alone + 1
    wait_for_address(page, text="the dog ran", text_pair="rain")
    page.reload()
    expect(second).to_have_value("rain")
    page.get_by_test_id("remove-pair").click()
    expect(second).to_be_hidden()
    expect(predictions).to_have_text(answer)
    expect(chips).to_have_count(alone)
    wait_for_address(page, text="the dog ran", text_pair=None)


def test_a_model_of_one_text_offers_no_second(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal&text_pair=the+dog")
    expect(page.get_by_test_id("tokens").locator(".chip").first).to_be_visible()
    for name in ("add-pair", "text-pair"):
        expect(page.get_by_test_id(name)).to_be_hidden()
