"""The Explore page in a real browser, with the real server and the shipped models."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Visit
from tests.browser.rest import come_to_rest
from tests.browser.visitor import Visitor, expect_to_fit, open_charts, shown_instrument, wait_for_address, wait_until

HOSTILE = "</script><b>bold</b> $x$ **y** 😀 שלום"


def say(page: Page, sentence: str) -> Locator:
    """Replaces the sentence in the box."""
    page.get_by_test_id("sentence").fill(sentence)
    return shown_instrument(page, sentence=sentence)


# The colours of a thumbnail's cells on the shared canvas, at any size, without the round corners.
SAMPLED = """(tile, tokens) => {
  const canvas = tile.closest('[data-testid="grid"]').querySelector(".thumbs");
  const [sheet, box] = [canvas, tile].map((element) => element.getBoundingClientRect());
  const scale = canvas.width / sheet.width;
  const whole = (length) => Math.round(length * scale); // a thumbnail begins at a whole dot
  const places = Array.from({ length: tokens }, (_, token) => token);
  const atEdge = (place) => Math.min(place, tokens - 1 - place) < tokens / 6;
  const at = (place) => ((place + 0.5) / tokens) * whole(box.width);
  const [left, top] = [whole(box.left - sheet.left), whole(box.top - sheet.top)];
  const context = canvas.getContext("2d");
  const read = (row, column) => context.getImageData(left + at(column), top + at(row), 1, 1).data.join();
  const cells = places.flatMap((row) => places.map((column) => [row, column]));
  return cells.filter(([row, column]) => !(atEdge(row) && atEdge(column))).map((cell) => read(...cell)).join(" ");
}"""


def pixels(page: Page, layer: int, head: int) -> str:
    """The colours of a thumbnail's cells, as text."""
    tile = page.get_by_test_id(f"head-{layer}-{head}").locator(".tile")
    picture: str = tile.evaluate(SAMPLED, chips(page).count())
    return picture


def canvas(page: Page) -> str:
    """The plot of the chosen heads, as a data URL."""
    pixels: str = page.get_by_test_id("head-canvas").evaluate("canvas => canvas.toDataURL()")
    return pixels


def wait_until_repainted(page: Page, before: str) -> str:
    """The plot, as soon as it differs from `before`."""
    return wait_until(page, lambda: canvas(page), lambda now: now != before)


def chips(page: Page) -> Locator:
    return page.get_by_test_id("tokens").locator("button")


@pytest.mark.journey
def test_typing_repaints_every_head_of_every_layer_and_the_prediction(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal")
    say(page, "The dog ran to the")
    before, predictions = pixels(page, 0, 0), page.get_by_test_id("predictions")
    said = predictions.inner_text()
    page.get_by_test_id("sentence").press("End")
    page.get_by_test_id("sentence").press_sequentially(" river because")
    shown_instrument(page, sentence="The dog ran to the river because")
    wait_until(page, lambda: pixels(page, 0, 0), lambda now: now != before)
    expect(predictions).not_to_have_text(said, use_inner_text=True)
    expect(chips(page).last).to_contain_text("because")
    say(page, "The boy and the girl went home.")
    heads = [(layer, head) for layer in range(6) for head in range(8)]
    # Different heads look at different tokens.
    wait_until(page, lambda: {pixels(page, *head) for head in heads}, lambda pictures: len(pictures) > 40)


def test_tokens_that_read_as_before_keep_their_chips(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal")
    say(page, "The dog ran away")
    chips(page).evaluate_all("chips => chips.forEach((chip) => (chip.seen = true))")
    say(page, "The dog sat away too")
    expect(chips(page)).to_have_count(6)
    assert chips(page).evaluate_all("chips => chips.map((chip) => chip.seen === true)") == [
        *(True, True, True), False, True, False,
    ]  # fmt: skip
    chips(page).nth(5).focus()
    page.keyboard.press("ArrowLeft")
    say(page, "The dog")
    expect(chips(page)).to_have_count(3)
    page.get_by_test_id("tokens").locator('[tabindex="0"]').focus()
    expect(chips(page).first).to_be_focused()


def test_in_other_tabs_no_token_stays_marked_that_is_no_longer_asked(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal&text=The+dog")
    expect(chips(page).last).to_have_class("chip query")
    page.get_by_test_id("part-prediction").click()
    say(page, "The dog ran")
    expect(chips(page)).to_have_count(4)
    expect(chips(page).nth(2)).to_have_class("chip")


@pytest.mark.journey
def test_the_keyboard_chooses_tokens_and_heads_and_an_answer_leaves_its_focus_where_it_was(
    shared_visitor: Visitor,
) -> None:
    page = shared_visitor.open("model=stories-causal")
    say(page, "The dog saw the cat")
    chips(page).nth(2).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("predictions")).to_contain_text("after dog")
    expect(chips(page).nth(2)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(chips(page).nth(3)).to_be_focused()
    say(page, "She looked at the")
    page.get_by_test_id("head-0-0").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 1 · Head 1")
    page.keyboard.press("o")
    expect(page.get_by_test_id("head-switch")).to_have_attribute("aria-checked", "false")
    page.keyboard.press("o")
    expect(page.get_by_test_id("head-switch")).to_have_attribute("aria-checked", "true")


def test_a_sentence_of_ours_says_what_to_look_at(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal")
    examples = page.get_by_test_id("examples").locator("button")
    expect(examples.first).to_be_visible()
    for text in examples.all_inner_texts():
        examples.get_by_text(text, exact=True).click()
        shown_instrument(page, sentence=text)
        expect(page.get_by_test_id("hint")).not_to_contain_text("Every part is interactive")
    before = page.get_by_test_id("picture").bounding_box()
    say(page, "Something else")
    expect(page.get_by_test_id("hint")).to_contain_text("Every part is interactive")
    assert page.get_by_test_id("picture").bounding_box() == before, "a line that comes and goes moves nothing"


def test_an_example_chooses_the_head_that_its_line_speaks_of(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal&layer=0&head=1")
    shown_instrument(page, sentence=page.get_by_test_id("examples").locator("button").first.inner_text())
    page.get_by_test_id("examples").get_by_text("Anna and Ben had").click()
    chosen = page.locator(".thumb.chosen")
    expect(page.locator(".thumb").first).to_have_class(re.compile("chosen"))
    expect(chosen).to_be_in_viewport()
    layer, head = re.findall(r"\d+", chosen.get_attribute("data-testid") or "")
    wait_for_address(page, sort="induction", layer=layer, head=head)


@pytest.mark.journey
def test_back_brings_the_sentence_that_was_there_before(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore("model=stories-causal&text=A+green+bird", sentence="A green bird")
    say(page, "A green lamp")
    wait_for_address(page, text="A green lamp")
    page.go_back()  # before Streamlit receives the lamp
    shown_instrument(page, sentence="A green bird")
    say(page, "A green lamp")
    open_charts(page)  # the next message may still have the earlier address
    chart = page.locator(".js-plotly-plot").first
    expect(chart).to_contain_text("lamp")
    page.go_back()
    shown_instrument(page, sentence="A green bird")
    expect(chart).to_contain_text("bird")
    page.go_forward()
    shown_instrument(page, sentence="A green lamp")


@pytest.mark.journey
def test_a_click_masks_a_token_and_another_shows_it_again(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-masked")
    say(page, "The cat drank the milk.")
    milk = chips(page).filter(has_text="milk")
    milk.click()
    masked = chips(page).filter(has_text="[MASK]")
    expect(masked).to_have_count(1)
    expect(page.get_by_test_id("predictions")).to_contain_text("Masked token")
    wait_for_address(page, masked_positions="5")
    masked.click()
    expect(chips(page).filter(has_text="milk")).to_have_count(1)


@pytest.mark.journey
def test_a_head_switched_off_shows_before_and_after_and_survives_reload(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal")
    say(page, "Once upon a time there was a")
    page.get_by_test_id("head-2-3").click()
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    held: list[Route] = []
    page.route("**/api/trace", lambda route: held.append(route))
    page.get_by_test_id("head-switch").click()
    expect(page.get_by_test_id("latest")).to_have_text("Head 3 of layer 2 off")  # before the answer arrives
    expect(page.get_by_test_id("head-switch")).to_have_attribute("aria-checked", "false")
    wait_until(page, lambda: len(held), bool)
    held[0].continue_()
    page.unroute("**/api/trace")
    expect(page.get_by_test_id("predictions")).to_contain_text("with your changes")
    wait_for_address(page, edits="decoder.2.self.weights[3]=set:0", layer="2", head="3")
    page.reload()
    shown_instrument(page, sentence="Once upon a time there was a")
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    expect(page.get_by_test_id("head-switch")).to_have_attribute("aria-checked", "false")
    page.get_by_test_id("undo").click()
    expect(page.get_by_test_id("changes")).to_have_text("No changes")


def test_a_head_that_nobody_chose_stays_whatever_is_lost(visit: Visit) -> None:
    anna, ben = visit(), visit()
    page = anna.open("model=stories-causal")
    title = page.get_by_test_id("head-title")
    expect(title).to_have_text(re.compile(r"Layer \d+ · Head \d+"))
    begun_with = title.inner_text()
    say(page, "Hello")
    page.get_by_test_id("head-switch").click()  # another head of this text is now clearer
    query = wait_for_address(page, text="Hello", edits=re.compile(".+"))
    page.reload()
    theirs = ben.open(query)
    for shown in (page, theirs):
        shown_instrument(shown, sentence="Hello")
        expect(shown.get_by_test_id("head-title")).to_have_text(begun_with)


@pytest.mark.journey
def test_a_copied_link_shows_somebody_else_the_same(visit: Visit) -> None:
    anna, ben = visit(), visit(dark=True)
    page = anna.open("model=stories-causal&positional_encoding=alibi")
    say(page, "My sister has a red")
    page.get_by_test_id("head-1-4").click()
    page.get_by_test_id("token-ids").click()
    link = wait_for_address(
        page, layer="1", head="4", text="My sister has a red", positional_encoding="alibi", token_ids="1"
    )
    said = page.get_by_test_id("predictions").inner_text()
    theirs = ben.explore(link, sentence="My sister has a red")
    expect(theirs.get_by_test_id("head-title")).to_have_text("Layer 1 · Head 4")
    expect(theirs.get_by_test_id("predictions")).to_have_text(said, use_inner_text=True)
    expect(theirs.get_by_test_id("notes")).to_contain_text("was not trained this way")
    id_shown = "chip => getComputedStyle(chip, '::after').content === `\"${chip.dataset.tokenId}\"`"
    last = theirs.get_by_test_id("tokens").locator(".chip").last
    wait_until(theirs, lambda: last.evaluate(id_shown), bool)


@pytest.mark.journey
def test_two_visitors_do_not_see_each_other(visit: Visit) -> None:
    anna, ben = visit(), visit()
    first, second = anna.open("model=stories-causal"), ben.open("model=stories-causal")
    say(first, "The king had a golden")
    say(second, "We eat bread and")
    for page, mine, other in ((first, "golden", "bread"), (second, "bread", "golden")):
        expect(chips(page).filter(has_text=mine)).to_have_count(1)
        expect(chips(page).filter(has_text=other)).to_have_count(0)
        wait_for_address(page, text=page.get_by_test_id("sentence").input_value())


def test_tokens_are_text_and_never_markup(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(f"model=stories-causal&text={quote(HOSTILE)}")
    found = shown_instrument(page, sentence=HOSTILE)
    expect(page.get_by_test_id("sentence")).to_have_value(HOSTILE)
    expect(page.get_by_test_id("tokens")).to_contain_text("</script>")
    expect(found.locator("b", has_text="bold")).to_have_count(0)
    open_charts(page)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.locator(".js-plotly-plot b, .js-plotly-plot mjx-container")).to_have_count(0)


@pytest.mark.journey
def test_what_cannot_be_run_gets_a_sentence_and_the_page_stays(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal")
    say(page, "A cat")
    problem, box = page.get_by_test_id("problem"), page.get_by_test_id("sentence")
    for text, told in (("", "empty"), ("cat " * 25_000, "at most"), ("cat " * 700, "at most")):
        box.fill(text)
        expect(problem).to_contain_text(told)
        expect(problem).to_be_visible()
    box.fill("     ")  # a text of spaces has tokens like any other
    expect(problem).to_be_hidden()
    box.fill("")
    wait_for_address(page, text="")  # the rest of the page is up to date now
    come_to_rest(page)
    expect(problem).to_be_visible()
    say(page, "The page goes on")
    expect(problem).to_be_hidden()


def test_a_text_too_long_for_a_link_is_said_so(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal")
    say(page, " ".join(["another"] * 220))
    expect(page.get_by_text("too long for an address")).to_be_visible()
    wait_for_address(page, text=None)


@pytest.mark.journey
def test_it_fits_a_phone_in_the_dark(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(390, 844, dark=True).open("model=stories-causal")
    say(page, "The little duck swam in the")
    expect(page.get_by_test_id("predictions")).to_be_visible()
    expect_to_fit(page, "head-0-7")


def positions(visitor: Visitor, scheme: str) -> Page:
    """The Positions page with a scheme swapped into the trained model."""
    return visitor.open(f"model=stories-causal&positional_encoding={scheme}", "/positions")


def test_every_position_scheme_without_weights_has_a_picture(shared_visitor: Visitor) -> None:
    for scheme in ("rope", "sinusoidal", "alibi"):
        page = positions(shared_visitor, scheme)
        expect(page.locator(".chart svg").first).to_be_visible()


def test_a_table_that_the_model_lacks_is_said_to_be_zero(shared_visitor: Visitor) -> None:
    for scheme in ("learned", "relative"):
        expect(
            positions(shared_visitor, scheme).get_by_text("they are zero, so all numbers equal those without")
        ).to_be_visible()
