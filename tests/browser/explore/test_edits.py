"""Changes to the model, by mouse and by keyboard: made, listed, switched, undone, redone and shared."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.explore.test_explore import chips
from tests.browser.visitor import Visitor, expect_to_fit, wait_for_address

SENTENCE = "The cat sat on the mat because it was"
START = f"model=stories-causal&layer=2&head=3&text={quote(SENTENCE)}"
OFF = "decoder.2.self.weights[3]=set:0"


def opened(visitor: Visitor, more: str = "") -> Page:
    """Explore with the sentence and further query parameters."""
    return visitor.explore(START + more, sentence=SENTENCE)


def menu(page: Page) -> Locator:
    return page.get_by_test_id("menu")


def changes(page: Page, count: int) -> None:
    """Waits until `count` changes are active."""
    told = "No changes" if count == 0 else f"{count} change" + ("s" if count > 1 else "")
    expect(page.get_by_test_id("changes")).to_have_text(told)


def listed(page: Page) -> Locator:
    if page.get_by_test_id("changes").get_attribute("aria-expanded") == "false":
        page.get_by_test_id("changes").click()
    return page.get_by_test_id("edit-list").locator("li")


@pytest.mark.journey
def test_a_cell_is_hidden_by_mouse_and_given_back_by_keyboard(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    changes(page, 0)
    page.get_by_test_id("quantity").wait_for()
    chips(page).nth(6).click()  # mat
    page.get_by_test_id("head-canvas").click(button="right", position={"x": 150, "y": 200})
    expect(menu(page)).to_be_visible()
    menu(page).get_by_test_id("make-hidden").click()
    changes(page, 1)
    expect(page.get_by_test_id("latest")).to_contain_text("cannot see")
    expect(page.get_by_test_id("predictions")).to_contain_text("with your changes")
    menu(page).get_by_test_id("scope-layer").click()
    menu(page).get_by_test_id("make-weightless").click()
    changes(page, 2)
    page.keyboard.press("Escape")
    expect(menu(page)).to_have_count(0)
    page.keyboard.press("Control+z")
    changes(page, 1)
    page.keyboard.press("Control+z")
    changes(page, 0)
    page.keyboard.press("Control+Shift+z")
    changes(page, 1)
    wait_for_address(page, edits=re.compile(r"decoder\.2\.self\.mask\[3,\d,\d\]=set:0"))


def test_the_key_e_opens_the_menus_of_a_cell_a_head_and_a_token(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    page.get_by_test_id("stage").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("e")
    expect(menu(page)).to_contain_text("looks at")
    menu(page).get_by_test_id("make-hidden").press("Enter")
    changes(page, 1)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stage")).to_be_focused()
    page.get_by_test_id("head-2-3").press("e")
    menu(page).get_by_test_id("make-even").press("Enter")
    changes(page, 2)
    menu(page).get_by_test_id("make-heat").press("ArrowRight")
    expect(page.get_by_test_id("latest")).to_contain_text("softmax temperature × 1.189")
    page.keyboard.press("Escape")
    chips(page).nth(6).press("e")
    menu(page).get_by_test_id("make-stand").fill("2.5")
    changes(page, 4)
    expect(page.get_by_test_id("latest")).to_have_text("Token 6 “mat” is at position 2.5")


def test_a_value_is_taken_from_another_text(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    page.get_by_test_id("changes").click()
    page.get_by_test_id("make-hook-point").select_option(label="Residual stream")
    page.get_by_test_id("make-operation").select_option("from:B")
    page.get_by_test_id("make-place").select_option("2")
    page.get_by_test_id("make-value").click()
    expect(page.get_by_test_id("problem")).to_contain_text("type that text beside it")
    other = page.get_by_test_id("make-patch-from")
    other.fill("The dog sat on the mat")
    other.press("Enter")
    expect(page.get_by_test_id("problem")).to_be_hidden()
    changes(page, 1)
    expect(listed(page)).to_contain_text("residual stream of the other text")
    wait_for_address(page, patch_from="The dog sat on the mat")


def test_the_list_is_read_switched_and_shared(visit: Visit) -> None:
    anna, ben = visit(), visit(dark=True, width=390, height=844)
    page = opened(anna)
    page.get_by_test_id("head-switch").click()
    rows = listed(page)
    page.get_by_test_id("make-value").click()
    expect(rows).to_have_text(["Head 3 of layer 2 off×", "Feed-forward of layer 2 off×"])
    page.get_by_test_id(f"edit-switch-{OFF}").click()
    changes(page, 1)
    expect(page.get_by_test_id("head-switch")).to_have_attribute("aria-checked", "true")
    theirs = ben.explore(wait_for_address(page, disabled_edits=OFF), sentence=SENTENCE)
    changes(theirs, 1)
    expect(listed(theirs)).to_have_text(["Feed-forward of layer 2 off×", "Head 3 of layer 2 off×"])
    theirs.get_by_test_id(f"edit-switch-{OFF}").click()
    changes(theirs, 2)
    expect_to_fit(theirs)
    theirs.get_by_test_id("undo").click()
    theirs.get_by_test_id("undo").click()  # changes from the link can be undone, too
    changes(theirs, 0)
    page.get_by_test_id("clear-edits").click()
    changes(page, 0)
    page.get_by_test_id("undo").click()
    changes(page, 1)


def test_a_link_may_name_values_as_transformer_lens_does(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, f"&edits={quote('blocks.2.attn.hook_pattern[3]=set:0')}")
    expect(page.get_by_test_id("latest")).to_have_text("Head 3 of layer 2 off")
    expect(page.get_by_test_id("head-switch")).to_have_attribute("aria-checked", "false")
    page.get_by_test_id("undo").click()
    changes(page, 0)


def test_a_slider_is_one_change_and_the_list_is_text_that_can_be_written(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    page.get_by_test_id("change-head").click()
    slider = menu(page).get_by_test_id("make-heat")
    slider.evaluate("e => { for (e.value = 0.25; e.value < 2; e.stepUp()) e.oninput(); e.oninput(); e.onchange(); }")
    expect(page.get_by_test_id("latest")).to_have_text("Head 3 of layer 2: softmax temperature ×\u00a04")
    wait_for_address(page, edits="decoder.2.self.scores[3]=scale:0.25")
    page.get_by_test_id("undo").click()
    changes(page, 0)
    listed(page)
    page.get_by_test_id("edits-as-text").click()
    box = page.get_by_test_id("edit-text")
    box.fill(f"{OFF}\ndecoder.position_ids[5]=set:many\n# decoder.*.self.scale=set:1")
    box.press("Control+Enter")
    expect(page.get_by_test_id("problem")).to_contain_text(
        "'many' in 'decoder.position_ids[5]=set:many' is not a number"
    )
    page.get_by_test_id("edits-as-text").click()
    rows = listed(page)
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_have_class("wrong")
    page.get_by_test_id("edit-drop-decoder.position_ids[5]=set:many").click()
    expect(page.get_by_test_id("problem")).to_be_hidden()
    changes(page, 1)
    page.get_by_test_id("sentence").press("Control+z")  # undoes typing, not a change
    changes(page, 1)
