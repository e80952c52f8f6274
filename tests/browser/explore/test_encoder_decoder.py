"""A model with a source and a target: the model writes the target until the visitor types one."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visitor import Visitor, wait_for_address


def target(page: Page) -> str:
    return page.get_by_test_id("sentence").input_value()


def expect_written(page: Page, source: str) -> None:
    """Waits until the heads belong to the model's own target for a source."""
    expect(page.locator('[for="sentence"]')).to_have_text("Target: written by the model")
    expect(page.get_by_test_id("write-target")).to_be_hidden()
    expect(page.get_by_test_id("source")).to_have_value(source)
    expect(page.get_by_test_id("instrument")).not_to_have_class("instrument waiting")


@pytest.mark.journey
def test_the_model_writes_the_target_for_each_source(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=writer")
    examples = page.get_by_test_id("examples").locator(".example")
    expect(examples.first).to_have_text("The house is small.")
    expect_written(page, "The house is small.")
    opening = target(page)
    page.get_by_test_id("source").fill("the dog ran on the mat")
    expect(page.get_by_test_id("sentence")).not_to_have_value(opening)
    expect_written(page, "the dog ran on the mat")
    written = target(page)
    expect(page.get_by_test_id("instrument")).to_have_attribute("data-sentence", written)
    wait_for_address(page, source="the dog ran on the mat", text=None)
    page.reload()
    expect(page.get_by_test_id("sentence")).to_have_value(written)
    expect_written(page, "the dog ran on the mat")
    examples.first.click()
    expect(page.get_by_test_id("sentence")).to_have_value(opening)
    expect_written(page, "The house is small.")


def test_a_target_of_ones_own_is_said_to_be_and_given_back(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=writer&source=the+dog+ran")
    expect_written(page, "the dog ran")
    written = target(page)
    page.get_by_test_id("sentence").fill("the cat")
    expect(page.locator('[for="sentence"]')).to_have_text("Target: your own text")
    page.get_by_test_id("source").fill("the dog")
    wait_for_address(page, source="the dog", text="the cat")
    page.reload()
    expect(page.get_by_test_id("sentence")).to_have_value("the cat")
    page.get_by_test_id("source").fill("the dog ran")
    page.get_by_test_id("write-target").click()
    expect(page.get_by_test_id("sentence")).to_have_value(written)
    expect_written(page, "the dog ran")
    wait_for_address(page, source="the dog ran", text=None)
