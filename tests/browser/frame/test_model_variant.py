"""The model variant, beside the text and in the sidebar: the heads follow at once, the address a moment later."""

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from headlight_app.ui.modules import SCRIPT
from tests.browser.conftest import stranger
from tests.browser.explore.test_explore import pixels, say
from tests.browser.journeys import with_journeys
from tests.browser.server import Server
from tests.browser.visitor import Visitor, shown_instrument, wait_for_address, wait_until

TEXT = "The dog saw the cat"


def control(page: Page, name: str) -> Locator:
    return page.get_by_test_id(f"variant-{name}")


def opened(visitor: Visitor, query: str = "") -> Page:
    return visitor.explore(f"model=stories-causal&text={TEXT.replace(' ', '+')}{query}", sentence=TEXT)


@pytest.mark.journey
def test_the_heads_follow_without_a_run_of_the_page(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    before = pixels(page, 0, 0)
    with page.expect_request("**/api/trace") as asked:
        control(page, "masks").select_option("none")
    sent = asked.value.post_data_json
    assert sent is not None and sent["question"]["variant"]["masks"] == "none"
    expect(page.get_by_test_id("notes")).to_contain_text("was not trained this way")
    wait_until(page, lambda: pixels(page, 0, 0), lambda now: now != before)
    wait_for_address(page, masks="none")
    expect(control(page, "masks")).to_have_value("none")
    control(page, "positional_encoding").select_option("alibi")
    wait_for_address(page, positional_encoding="alibi")
    for part in ("masks", "positional_encoding"):
        control(page, part).select_option("")
    expect(page.get_by_test_id("notes")).to_be_empty()
    wait_for_address(page, masks=None, positional_encoding=None)
    expect(control(page, "masks")).to_have_value("")
    wait_until(page, lambda: pixels(page, 0, 0), lambda now: now == before)


# Delays answers by 600 ms and the report timer (750 ms) to a minute, and records the order of report and painting.
ORDER = """() => {
  const { send } = WebSocket.prototype;
  const [ask, start, order] = [window.fetch, window.setTimeout, (window.order = [])];
  window.fetch = (...asked) => new Promise((go) => start(go, 600)).then(() => ask(...asked));
  window.setTimeout = (act, wait, ...more) => start(act, wait === 750 ? 60_000 : wait, ...more);
  WebSocket.prototype.send = function (...data) { order.push("report"); return send.apply(this, data); };
}"""
PAINTED = """root => new MutationObserver(() => window.order.push("painted"))
  .observe(root, { attributes: true, attributeFilter: ["data-painted"] })"""


def test_the_rest_of_the_page_follows_once_the_answer_is_there(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    shared_visitor.settle()
    page.evaluate(ORDER)
    page.get_by_test_id("instrument").evaluate(PAINTED)
    control(page, "masks").select_option("none")
    wait_for_address(page, masks="none")
    page.wait_for_function("window.order.includes('report')")
    assert page.evaluate("window.order")[:2] == ["painted", "report"]


def test_a_window_and_the_scale_by_keyboard(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    control(page, "masks").select_option("causal+window")
    control(page, "width").focus()
    page.keyboard.press("ArrowLeft")
    wait_for_address(page, masks="causal+window:3")
    expect(control(page, "width")).to_be_focused()
    control(page, "scale").focus()
    page.keyboard.press("Space")
    wait_for_address(page, scale="off")
    expect(control(page, "scale")).to_have_attribute("aria-checked", "false")


def drag(page: Page, tokens: int, *cells: tuple[int, int]) -> None:
    """Drags from the first cell (query, key) of the mask, once it is at rest, over the others."""
    table = control(page, "cells")
    size = table.evaluate("canvas => canvas.clientWidth") / tokens
    first, *others = [((key + 0.5) * size, (query + 0.5) * size) for query, key in cells]
    table.hover(position={"x": first[0], "y": first[1]})
    box = table.bounding_box()
    assert box is not None
    page.mouse.down()
    for x, y in others:
        page.mouse.move(box["x"] + x, box["y"] + y)
    page.mouse.up()


@pytest.mark.journey
def test_a_mask_is_painted_over_the_one_that_is_on_and_follows_the_text(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    tokens = len(TEXT.split()) + 1
    control(page, "masks").select_option("causal+window")
    wait_for_address(page, masks="causal+window:4")
    shown_instrument(page, sentence=TEXT)
    before = pixels(page, 0, 0)
    control(page, "masks").select_option("painted")
    wait_for_address(page, masks="causal+window:4+painted:")
    shown_instrument(page, sentence=TEXT)
    expect(page.get_by_test_id("problem")).to_be_hidden()
    expect(control(page, "queries").locator("li")).to_have_text(["<|endoftext|>", *TEXT.split()])
    expect(control(page, "cell")).to_have_text("Filled: sees. A dot: painted by you.")
    assert pixels(page, 0, 0) == before, "the painted mask begins as the previous mask"
    drag(page, tokens, (0, 2), (0, 5))
    wait_for_address(page, masks="causal+window:4+painted:0-2.0-3.0-4.0-5")
    drag(page, tokens, (3, 3))
    painted = "causal+window:4+painted:0-2.0-3.0-4.0-5.3-3"
    wait_for_address(page, masks=painted)
    wait_until(page, lambda: pixels(page, 0, 0), lambda now: now != before)
    for text in (TEXT + " and ran away", "The dog"):
        say(page, text)
        expect(page.get_by_test_id("problem")).to_be_hidden()
        wait_for_address(page, text=text, masks=painted)
    size = "canvas => Math.round(canvas.clientWidth / 28)"
    wait_until(page, lambda: control(page, "cells").evaluate(size), lambda cells: cells == 3)


def test_a_mask_is_painted_by_keyboard(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, "&masks=painted:")
    page.get_by_test_id("paint").press("Enter")
    control(page, "cells").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Space"):
        page.keyboard.press(key)
    wait_for_address(page, masks="painted:2-1")
    expect(control(page, "cell")).to_have_text("“dog” does not see “The”")
    page.keyboard.press("Space")
    wait_for_address(page, masks="painted:")
    page.keyboard.press("Escape")
    expect(control(page, "cells")).to_be_hidden()
    expect(page.get_by_test_id("paint")).to_be_focused()


def test_other_pages_hear_of_it_as_well(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_test_id("ranked")).to_be_visible()
    control(page, "positional_encoding").select_option("alibi")
    expect(page.get_by_test_id("notes")).to_contain_text("A – Positional encoding: ALiBi instead of RoPE (rotary)")
    wait_for_address(page, positional_encoding="alibi")


def test_a_link_opens_a_variant(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, "&masks=window:2&attention_function=hardmax")
    expect(control(page, "masks")).to_have_value("window")
    expect(control(page, "width")).to_have_value("2")
    expect(control(page, "attention_function")).to_have_value("hardmax")


def test_a_switch_is_shown_once_it_tells_the_truth(visitor: Visitor) -> None:
    held = list[Route]()
    visitor.page.route(f"**/{SCRIPT}*", lambda route: held.append(route))
    visitor.page.goto(f"{visitor.url}/?model=stories-causal")
    switch = visitor.page.get_by_test_id("variant-scale")
    expect(switch).to_be_attached()
    expect(switch).to_be_hidden()
    wait_until(visitor.page, lambda: held, bool)
    held[0].continue_()
    expect(switch).to_be_visible()
    expect(switch).to_have_attribute("aria-checked", "true")


def test_a_positional_encoding_opens_the_model_trained_with_it_or_rewires_this_one(shared_visitor: Visitor) -> None:
    sinusoidal, none = "positions-decoder-sinusoidal", "positions-decoder-none"
    page = shared_visitor.explore(
        f"model={sinusoidal}&text={TEXT.replace(' ', '+')}&layer=1&head=2&masks=causal%2Bwindow:4", sentence=TEXT
    )
    before = pixels(page, 1, 2)
    encoding = control(page, "positional_encoding")
    encoding.select_option("trained:none")
    wait_for_address(
        page, model=none, text=TEXT, layer="1", head="2", masks="causal+window:4", positional_encoding=None
    )
    expect(encoding.locator("option:checked")).to_have_text("None · as trained")
    wait_until(page, lambda: pixels(page, 1, 2), lambda now: now != before)
    encoding.select_option("sinusoidal")
    wait_for_address(page, model=none, positional_encoding="sinusoidal")
    expect(page.get_by_test_id("rewired")).to_contain_text("the weights were trained with None")
    page.get_by_test_id("open-trained").click()
    wait_for_address(page, model=sinusoidal, positional_encoding=None, layer="1", head="2")
    wait_until(page, lambda: pixels(page, 1, 2), lambda now: now == before)
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_test_id("b-model")).to_have_value(none)
    rope = "positions-decoder-rope"
    page.get_by_test_id("b-positional_encoding").select_option("trained:rope")
    expect(page.get_by_test_id("b-model")).to_have_value(rope)
    wait_for_address(page, model=sinusoidal, side_b=f"model={rope}&positional_encoding=")


@pytest.mark.parametrize("size", with_journeys(((1366, 768), (390, 844), (844, 390)), (1366, 768)), ids=str)
def test_mask_and_positions_are_in_sight_and_say_how_they_are(
    browser: Browser, server: Server, size: tuple[int, int]
) -> None:
    with stranger(browser, server, *size) as newcomer:
        page = newcomer.open("model=stories-causal&tour=0")
        shown_instrument(page)
        for part, state in (("masks", "Causal · as trained"), ("positional_encoding", "RoPE (rotary) · as trained")):
            expect(control(page, part)).to_be_in_viewport(ratio=1)
            expect(control(page, part).locator("option:checked")).to_have_text(state)
        expect(control(page, "masks")).to_have_accessible_description("Which tokens a token may look at.")
        expect(page.get_by_test_id("parts")).to_have_count(1)


@pytest.mark.journey
def test_what_a_change_changed_is_said_and_the_picture_stays_where_it_is(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    hint, picture = page.get_by_test_id("hint"), page.get_by_test_id("picture")
    expect(hint).not_to_contain_text("Layer")
    top = picture.evaluate("element => element.getBoundingClientRect().top - element.previousElementSibling.offsetTop")
    page.get_by_test_id("head-switch").click()
    expect(hint).to_contain_text("is off: it looks at nothing.")
    assert top == picture.evaluate(
        "element => element.getBoundingClientRect().top - element.previousElementSibling.offsetTop"
    )
    page.get_by_test_id("head-switch").click()
    expect(hint).to_contain_text("is on again.")
    control(page, "masks").select_option("none")
    expect(hint).to_contain_text("Every token now sees the tokens after it. Layer")
    say(page, "The dog saw a cat")
    expect(hint).not_to_contain_text("Layer")
