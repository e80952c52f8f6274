"""What one sees first, what is cut and what moves, on a laptop, a phone and a projector."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visit
from tests.browser.journeys import with_journeys
from tests.browser.rest import come_to_rest
from tests.browser.visitor import Visitor, in_analysis, wait_until

MODEL = "model=stories-causal"
TOO_WIDE = "part => part.scrollWidth - part.clientWidth"
# Cells of a table's first row that are partly behind the headings of the rows.
HALF_COVERED = """table => {
  const row = table.querySelector("tbody tr");
  const end = row.querySelector("th").getBoundingClientRect().right;
  return [...row.querySelectorAll("td")].map((cell) => cell.getBoundingClientRect())
    .filter(({ left, right }) => left < end - 1 && right > end + 1).length;
}"""
FONT = "part => parseFloat(getComputedStyle(part).fontSize)"


def box(part: Locator) -> dict[str, float]:
    found = part.bounding_box()
    assert found
    x, y, width, height = (found["x"], found["y"], found["width"], found["height"])
    return {"x": x, "y": y, "width": width, "height": height, "bottom": y + height}


@pytest.mark.journey
def test_beside_the_open_sidebar_nothing_is_cut_on_a_small_laptop(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(1280, 720).explore(f"{MODEL}&tab=layers")
    expect(page.get_by_test_id("why").get_by_role("listitem").first).to_be_visible()
    come_to_rest(page)
    for name in ("picture", "why"):
        assert page.get_by_test_id(name).evaluate(TOO_WIDE) <= 0, name
    table = in_analysis(page, "view-matrix").locator("table")
    assert table.evaluate(HALF_COVERED) == 0
    corner = table.locator("td.axes").first
    assert "-5px" in corner.evaluate("corner => getComputedStyle(corner).boxShadow"), "it covers what scrolls beside it"
    frame = table.locator("xpath=..")
    assert frame.evaluate('frame => getComputedStyle(frame, "::-webkit-scrollbar").height') == "8px"
    assert frame.evaluate("frame => getComputedStyle(frame).scrollbarColor") == "auto", "or the bar would not be drawn"


def test_what_shows_something_in_the_sidebar_takes_its_room(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(1280, 720).explore(MODEL)
    parts = page.get_by_test_id("stSidebar").get_by_test_id("stElementContainer")
    heights = (
        "parts => parts.filter(part => getComputedStyle(part).position === 'absolute').map(part => part.offsetHeight)"
    )
    expect(parts.locator(".headlight-brand").first).to_be_attached()
    assert [height for height in parts.evaluate_all(heights) if height] == []


LONG = "Once upon a time there was a little girl who lived with a dog and a cat near a lake. " * 3
SENTENCE_BOX = ".box:has([data-testid=sentence])"
SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"
SIZES = ((1366, 768), (1280, 720), (390, 844))


@pytest.mark.parametrize("size", with_journeys(SIZES, (390, 844)), ids=str)
def test_the_sentence_stays_in_view_while_one_scrolls(visit: Visit, size: tuple[int, int]) -> None:
    width, height = size
    page = visit(width=width, height=height, touch=width < 400).explore(MODEL)
    come_to_rest(page)
    sentence, stage = page.get_by_test_id("sentence"), page.get_by_test_id("stage")
    stage.evaluate("stage => stage.scrollIntoView()")
    expect(sentence).to_be_in_viewport(ratio=1)
    status, class_button = box(page.get_by_test_id("status")), box(page.get_by_test_id("room-button"))
    assert status["x"] + status["width"] < class_button["x"], "which hangs over the right end of the sentence"
    assert box(sentence)["bottom"] <= box(stage)["y"]
    expect(page.get_by_test_id("head-canvas")).to_be_in_viewport(ratio=1)
    expect(page.get_by_test_id("predictions").locator(".candidate").first).to_be_in_viewport(ratio=1)


def test_what_a_click_opens_is_in_sight(visit: Visit) -> None:
    page = visit(width=1366, height=768).explore(f"{MODEL}&layer=2&head=5")
    come_to_rest(page)
    page.get_by_test_id("head-canvas").click(position={"x": 160, "y": 200})
    expect(page.get_by_test_id("ledger").locator("h3").first).to_be_in_viewport()
    phone = visit(width=390, height=844, touch=True).explore(f"{MODEL}&text={quote(LONG)}")
    phone.get_by_test_id("part-prediction").tap()
    expect(phone.get_by_test_id("analysis-logit_lens")).to_be_in_viewport()
    sentence = box(phone.locator(SENTENCE_BOX))
    assert sentence["height"] < 100, "of a long text, two lines and a half"
    assert sentence["bottom"] <= box(phone.locator(".board"))["y"]


def test_what_begins_behind_the_sentence_is_brought_below_it(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(1366, 768).explore(f"{MODEL}&text={quote(LONG)}")
    come_to_rest(page)
    sentence, board, part = (page.locator(SENTENCE_BOX), page.locator(".board"), page.get_by_test_id("part-prediction"))
    page.evaluate(f"top => {SCROLLED} += top", box(board)["y"] - 100)
    part.dispatch_event("click")  # the picture is out of sight: a click by the mouse would scroll to it
    come_to_rest(page)
    assert box(sentence)["bottom"] <= box(board)["y"]


def test_typing_in_the_sentence_does_not_scroll_the_page(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(1366, 768).explore(MODEL)
    come_to_rest(page)
    page.evaluate(f"{SCROLLED} = 300")
    field = box(page.get_by_test_id("sentence"))
    page.mouse.click(field["x"] + 200, field["y"] + 10)
    page.keyboard.type("a")
    come_to_rest(page)
    assert abs(page.evaluate(SCROLLED) - 300) < 10, "but for a line that the answer adds above"


def test_the_map_keeps_its_height_after_the_note_on_another_mask(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore(MODEL)
    come_to_rest(page)
    page.get_by_test_id("variant-attention_function").select_option(index=2)
    expect(page.get_by_test_id("notes").locator("p").first).to_be_visible()
    canvas = page.get_by_test_id("head-canvas")
    before = box(canvas)
    come_to_rest(page)  # the report to Streamlit, and what it draws
    assert box(canvas) == before


def test_cards_of_a_row_are_equally_high_and_sliders_begin_below_each_other(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(MODEL, "/positions")
    cards = page.locator(".views-page .rows > :has(.chart)")
    expect(cards.nth(1)).to_be_visible()
    wait_until(page, lambda: {box(card)["height"] for card in cards.all()[:2]}, lambda heights: len(heights) == 1)
    page = shared_visitor.open(MODEL, "/generate")
    sliders = [page.get_by_test_id(name) for name in ("temperature", "top-k", "top-p")]
    expect(page.get_by_test_id("copied")).to_be_visible()
    assert len({round(box(slider)["x"] - box(slider.locator("xpath=.."))["x"]) for slider in sliders}) == 1
    origin, attention = page.get_by_test_id("copied"), page.locator(".attended")
    assert box(origin)["x"] == box(attention)["x"], "it fills the room beside the next token"
    page = shared_visitor.on_screen(1366, 768).open(path="/models")
    known = page.locator(".st-key-well_known [class*=st-key-card]")
    expect(known.nth(1)).to_be_visible()
    assert len({box(card)["height"] for card in known.all()}) == 1


@pytest.mark.journey
def test_on_a_projector_nothing_is_small_or_lies_over_the_header(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(1280, 720).open("presenter=1&chapter=attention", "/course")
    screen = page.get_by_test_id("screen-look-up")
    assert screen.locator(".asked").evaluate(FONT) >= screen.locator(".lesson").evaluate(FONT)
    opaque = "header => !/rgba.*, 0\\)|transparent/.test(getComputedStyle(header).backgroundColor)"
    assert page.get_by_test_id("stHeader").evaluate(opaque), "what is scrolled is not behind the buttons"
    page = shared_visitor.open("presenter=1&task=sort", "/tasks")
    assert box(page.locator("[data-testid=instrument] .box:visible").first)["y"] < 50
    assert page.get_by_test_id("stHeader").evaluate(opaque)
    page.locator(".st-key-stage button").first.click()
    assert box(page.get_by_test_id("variant-attention_function"))["height"] > 48
