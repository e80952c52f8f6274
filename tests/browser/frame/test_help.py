"""Help for hidden features: a sheet, and titles on a touch screen. Also the outline before the page loads."""

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor


@pytest.mark.journey
def test_on_every_page_a_key_opens_the_sheet_and_the_outline_leaves_the_document(shared_visitor: Visitor) -> None:
    page = shared_visitor.open()
    sheet = page.get_by_test_id("help-sheet")
    for title, part in (("Explore", "instrument"), ("Models", "stFileUploader")):
        page.get_by_test_id("stSidebar").get_by_role("link", name=title).click()
        expect(page.get_by_test_id(part).first).to_be_visible()
        shared_visitor.settle()
        expect(page.locator(".headlight-skeleton")).to_have_count(0)
        expect(sheet).to_be_hidden()
        expect(page.get_by_test_id("help-button")).to_be_visible()
        page.locator("body").press("?")
        expect(sheet).to_be_visible()
        expect(sheet).to_contain_text("Right click")
        page.keyboard.press("Escape")
        expect(sheet).to_be_hidden()
        page.get_by_test_id("help-button").click()
        page.get_by_test_id("help-close").click()
        expect(sheet).to_be_hidden()


def test_a_page_at_rest_animates_nothing_reads_titles_to_a_finger_and_leaves_question_marks_to_a_sentence(
    shared_visitor: Visitor,
) -> None:
    page = shared_visitor.open("model=stories-causal")
    # An endless animation costs frames for every letter, even if it is invisible.
    page.wait_for_function(
        "() => document.getAnimations().every((each) => each.effect.getComputedTiming().endTime < Infinity)"
    )
    metric = page.get_by_test_id("metrics").locator("[title]").first
    title = metric.get_attribute("title")
    assert title
    hint = page.get_by_test_id("stMain").get_by_test_id("touch-hint")
    finger = {"pointerType": "touch", "bubbles": True, "composed": True, "clientX": 200, "clientY": 300}
    metric.dispatch_event("pointerdown", finger)
    expect(hint).to_have_text(title)
    expect(hint).to_be_visible()
    page.get_by_test_id("instrument").dispatch_event("pointerdown", finger)
    expect(hint).to_be_hidden()
    page.get_by_test_id("sentence").fill("Who")
    page.get_by_test_id("sentence").press("?")
    expect(page.get_by_test_id("sentence")).to_have_value("Who?")
    expect(page.get_by_test_id("help-sheet")).to_be_hidden()
