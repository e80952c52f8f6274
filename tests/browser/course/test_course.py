"""The Course page: chapters open, controls change the pictures, links contain the learner's numbers."""

import re
from functools import partial
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visitor import GO_TO, Visitor, expect_to_fit, wait_for_address, wait_until

CUT = """names => names.map((name) => [name, name.ownerSVGElement].map((one) => one.getBoundingClientRect().right))
  .filter(([right, edge]) => right > edge)"""
CUT_FORMULAS = """screen => [...screen.querySelectorAll(".formulas")].filter((lines) => {
  const ends = [...lines.querySelectorAll("math, math *")].map((sign) => sign.getBoundingClientRect().right);
  return Math.max(...ends) > lines.getBoundingClientRect().right || lines.scrollHeight > lines.clientHeight;
}).map((lines) => lines.textContent)"""
# While it runs, Streamlit gives an older element this attribute, and a class that fades it.
FADED = """place => {
  place.dataset.stale = "true";
  place.style.opacity = 0.33;
  return getComputedStyle(place).opacity;
}"""
CHANGE_AND_GO = f"""(field, address) => {{
  field.value = field.value.toUpperCase();
  field.dispatchEvent(new Event("input", {{ bubbles: true }}));
  ({GO_TO})(address);
}}"""
SHOW_AT_ONCE = """localStorage.setItem("headlight-course", JSON.stringify({ showsAtOnce: true }))"""


def course(visitor: Visitor, **query: str) -> Page:
    """The Course at an address, with everything shown at once."""
    visitor.run_always(SHOW_AT_ONCE)
    return visitor.open(urlencode(query, quote_via=quote), "/course")


def screen(page: Page, name: str) -> Locator:
    """A screen, once it shows the answer to the last request."""
    found = page.get_by_test_id(f"screen-{name}")
    found.scroll_into_view_if_needed()
    expect(found).to_have_attribute("data-state", "ready")
    return found


@pytest.mark.journey
def test_numbers_are_changed_kept_and_forgotten(shared_visitor: Visitor) -> None:
    page = course(shared_visitor, chapter="attention")
    wait_until(
        page, lambda: page.get_by_test_id("stSidebar").bounding_box(), lambda box: bool(box and box["width"] < 100)
    )
    look_up = screen(page, "look-up")
    shares = look_up.get_by_test_id("view-bars")
    expect(shares).to_contain_text("soft 0.72")
    expect(page.get_by_test_id("rail")).to_contain_text("Settings and help")
    for name in ("model-variant", "model-picker"):  # they have no effect here
        expect(page.get_by_test_id(name)).to_have_count(0)
    look_up.get_by_test_id("input-sharpness").scroll_into_view_if_needed()
    for beside in (look_up.get_by_test_id("input-sharpness"), look_up.get_by_label("Keys, row 2, column 1"), shares):
        expect(beside).to_be_in_viewport(ratio=0.98)  # the result is visible while a control is moved
    look_up.get_by_test_id("input-sharpness").fill("0")
    expect(shares).to_contain_text("soft 0.33")
    cell = look_up.get_by_label("Keys, row 1, column 0")
    cell.fill("two")
    expect(look_up.get_by_role("alert")).to_contain_text("Row 1, column 0 of Keys is 'two'")
    expect(cell).to_have_attribute("aria-invalid", "true")
    cell.fill("4")
    expect(look_up.get_by_role("alert")).to_be_hidden()
    expect(cell).to_have_attribute("aria-invalid", "false")
    look_up.get_by_test_id("input-keys").locator("xpath=..").get_by_label("More entries").click()
    expect(look_up.get_by_label("Values, row 3, column 1")).to_have_value("0")
    expect(shares).to_contain_text("soft 0.25")
    typed = re.compile(r".*look-up\.keys=1%2C0%3B4%2C1%3B-1%2C0%3B0%2C0.*")
    query = wait_for_address(page, chapter="attention", screen="look-up", course_inputs=typed)
    page.goto(f"{shared_visitor.url}/course?{query}")
    expect(screen(page, "look-up").get_by_label("Keys, row 1, column 0")).to_have_value("4")
    expect(shares).to_contain_text("soft 0.25")
    look_up.get_by_test_id("reset").click()
    expect(shares).to_contain_text("soft 0.72")
    wait_for_address(page, course_inputs=None)


def test_a_link_leads_to_its_screen_however_long_those_above_it_become(visitor: Visitor) -> None:
    page = course(visitor, chapter="training", screen="pretraining")
    asked = page.get_by_test_id("screen-pretraining")
    expect(asked).to_have_attribute("data-state", "ready")
    expect(asked.get_by_role("heading").first).to_be_in_viewport()
    expect(asked.get_by_test_id("view-table").first).to_be_visible()


def test_back_right_after_a_change_takes_nothing_along_to_another_chapter(shared_visitor: Visitor) -> None:
    page = course(shared_visitor, chapter="attention")
    changed = screen(page, "task").get_by_test_id("input-text")  # both chapters have this screen
    changed.evaluate(CHANGE_AND_GO, f"{shared_visitor.url}/course?chapter=heads")
    expect(page.get_by_test_id("chapter-title")).to_have_text("Heads")
    expect(screen(page, "cut").get_by_role("heading").first).to_be_in_viewport()
    wait_for_address(page, chapter="heads", screen=None, course_inputs=None)


def go_on_from_a_file(page: Page) -> None:
    """Saves the progress, forgets it, and loads it again."""
    progress, file = page.get_by_test_id("progress"), page.get_by_test_id("load-progress")
    with page.expect_download() as started:
        page.get_by_test_id("save-progress").click()
    saved = started.value.path().read_bytes()
    page.get_by_test_id("forget").click()
    expect(progress).to_contain_text("0 of 20 done")
    file.set_input_files({"name": "mine.json", "mimeType": "application/json", "buffer": b"no progress"})
    expect(page.get_by_test_id("start").get_by_role("alert")).to_contain_text(
        "This file contains no progress in the course."
    )
    file.set_input_files({"name": "mine.json", "mimeType": "application/json", "buffer": saved})
    expect(progress).to_contain_text("1 of 20 done")


def answer_the_first_screen(page: Page) -> Locator:
    """A wrong answer and a right one, on another text."""
    look, wrong = screen(page, "look"), page.get_by_test_id("screen-look").get_by_role("button", name="wall")
    expect(look.get_by_test_id("view-heat_map")).to_be_in_viewport()  # a trained head comes first, formulas come last
    expect(page.locator("math").filter(has_text="\\")).to_have_count(0)
    for later in (look.locator(".formulas"), look.get_by_test_id("next-screen")):
        expect(later.filter(visible=True)).to_have_count(0)
    wrong.click()
    expect(look.get_by_test_id("said")).to_contain_text("Read the row of “He”, not its column.")
    expect(wrong).to_be_disabled()
    look.get_by_test_id("input-text").fill("Anna had a red ball. She kicked it over the wall.")  # has another answer
    look.get_by_role("button", name="Anna").click()
    expect(look.get_by_test_id("said")).to_contain_text("Right.")
    expect(look.get_by_test_id("view-bars")).to_be_visible()
    expect(look.locator(".formulas")).to_be_visible()
    return look


@pytest.mark.journey
def test_a_learner_is_asked_first_and_finds_the_path_again(visitor: Visitor) -> None:
    page = visitor.open("", "/course")
    expect(page.get_by_test_id("progress")).to_contain_text("0 of 20 done")
    expect(page.get_by_test_id("stSidebar").get_by_role("link", name="Lessons")).to_be_visible()
    page.get_by_test_id("entries").get_by_role("button", name="What does a mask do?").click()
    expect(screen(page, "mask").get_by_role("heading").first).to_be_focused()
    page.get_by_test_id("map").click()
    page.get_by_test_id("resume").click()
    look = answer_the_first_screen(page)
    look.locator(".question.settled").get_by_test_id("next-screen").click()
    expect(screen(page, "take").get_by_role("heading").first).to_be_focused()
    page.reload()
    visitor.settle()
    page.get_by_test_id("map").click()
    expect(page.get_by_test_id("progress")).to_contain_text("1 of 20 done")
    go_on_from_a_file(page)
    page.get_by_test_id("station-first-reading-look").click()
    expect(screen(page, "look").get_by_test_id("view-bars")).to_be_visible()  # finished parts stay open
    look.get_by_test_id("ask-me").click()
    expect(look.get_by_test_id("view-bars")).to_have_count(0)
    page.get_by_test_id("show-at-once").check()
    expect(look.get_by_test_id("view-bars")).to_be_visible()
    page.reload()
    expect(page.get_by_test_id("show-at-once")).to_be_checked()


def test_a_mask_is_drawn_and_its_axes_may_be_exchanged(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(390, 844).open("chapter=masks&screen=added", "/course")
    added = screen(page, "added")
    expect(added.get_by_test_id("view-matrix")).to_have_count(0)
    tick = added.get_by_label("Your mask, row the, column the")
    tick.focus()
    for _ in range(4):  # the whole first row, instead of the right mask's first column
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
    for query, keys in (("cat", ("cat", "sat", "on")), ("sat", ("sat", "on")), ("on", ("on",))):
        for key in keys:
            added.get_by_label(f"Your mask, row {query}, column {key}").check()
    added.get_by_role("button", name="Check").click()
    expect(added.get_by_test_id("said")).to_contain_text("You have swapped the axes")
    expect(added.get_by_label("Your mask, row the, column on")).to_be_checked()  # the drawing is still there
    expect_to_fit(page, "screen-added")
    added.get_by_test_id("input-mask").select_option("none")  # another value, another answer, from an empty drawing
    expect(added.get_by_label("Your mask, row the, column on")).not_to_be_checked()
    for box in added.get_by_test_id("input-answer").get_by_role("checkbox").all():
        box.check()
    added.get_by_role("button", name="Check").click()
    expect(added.get_by_test_id("said")).to_contain_text("Right.")
    expect(added.get_by_test_id("view-matrix").first).to_be_visible()


def test_a_cell_is_pointed_at_and_steps_are_put_in_order_by_keys(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("chapter=beyond-text&screen=patches", "/course")
    patches = screen(page, "patches")
    patches.get_by_label("Row row 0, column 0").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(patches.get_by_test_id("said")).to_contain_text("counted column by column")
    patches.get_by_label("Row row 2, column 1").click()
    expect(patches.get_by_test_id("said")).to_contain_text("Right.")
    page.get_by_test_id("contents").get_by_role("button", name="The block").click()
    layer = screen(page, "diagram")
    step = layer.get_by_role("button", name="add the feed-forward to the stream: later")
    step.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_test_id("announced")).to_have_text("add the feed-forward to the stream: 2 of 6")
    expect(step).to_be_focused()
    layer.get_by_role("button", name="Check").click()
    expect(layer.get_by_test_id("said")).to_contain_text("The first is not right.")
    layer.get_by_test_id("show-me").click()
    expect(layer.get_by_test_id("said")).to_contain_text(
        "The answer is the norm of the self-attention, the self-attention, "
    )
    expect(layer.get_by_test_id("view-table")).to_be_visible()


def test_the_code_that_ran_is_shown_and_a_phone_is_wide_enough(shared_visitor: Visitor) -> None:
    shared_visitor.on_screen(390, 844, dark=True)
    page = course(shared_visitor, chapter="attention", screen="look-up")
    look_up = screen(page, "look-up")
    look_up.get_by_text("The code that computes this").click()
    expect(look_up.locator("pre").first).to_contain_text("def look_up")
    expect_to_fit(page, "screen-look-up")
    page.get_by_test_id("contents-moving").click()
    moving = screen(page, "moving")
    names = moving.get_by_test_id("view-moving_points").locator("text[font-weight]")
    expect(names.first).to_contain_text("k the")
    assert not names.evaluate_all(CUT)
    page = course(shared_visitor, chapter="nothing")
    expect(page.get_by_test_id("chapter-title")).to_have_text("How attention works")  # the first one instead
    expect(page.get_by_test_id("course-problem")).to_contain_text("no chapter 'nothing'")
    expect(page.get_by_test_id("course-problem")).to_be_visible()


VOICE = """() => {
  const voice = { localService: true, lang: "en-GB" };
  window.spoken = [];
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  const speak = ({ text }) => window.spoken.push(text);
  const speech = { getVoices: () => [voice], cancel: () => {}, addEventListener: () => {}, speak };
  Object.defineProperty(window, "speechSynthesis", { value: speech });
}"""


def test_symbols_are_explained_where_one_points_and_a_screen_is_read_aloud(visitor: Visitor) -> None:
    visitor.page.add_init_script(f"({VOICE})()")
    page = visitor.open("chapter=attention&screen=steps", "/course")
    steps = screen(page, "steps")
    told = steps.locator(".symbol-told")
    expect(told).to_be_hidden()
    steps.locator(".formulas [data-symbol=q]").first.hover()
    expect(told).to_have_text("a query: what a token asks for")
    page.get_by_test_id("chapter-title").hover()
    expect(told).to_be_hidden()
    steps.locator(".symbols summary").press("Enter")
    expect(steps.locator(".symbols dd").first).to_be_visible()
    steps.get_by_test_id("read-aloud").click()
    spoken = page.evaluate("window.spoken")[0]
    assert "o i equals the sum over j of a i j v j." in spoken and "What is the score" in spoken
    steps.get_by_role("button", name="Stop reading").click()
    expect(steps.get_by_test_id("read-aloud")).to_have_text("Read aloud")


def test_cells_are_ticked_choices_made_and_long_work_is_started(shared_visitor: Visitor) -> None:
    page = course(shared_visitor, chapter="masks")
    added = screen(page, "added")
    added.get_by_test_id("input-mask").select_option("drawn")
    expect(added).to_contain_text("NaN")  # a fully masked row, in a plain softmax
    added.get_by_label("Mask: a row for each query, row sat, column the").check()
    expect(added).not_to_contain_text("NaN")
    added.get_by_test_id("input-mask").select_option("none")
    expect(added.get_by_test_id("view-verdict")).to_contain_text("0 of 16 cells")
    expect(added.get_by_role("link", name="Continue in Explore")).to_have_attribute("href", re.compile("masks=none"))
    cheating = page.get_by_test_id("screen-cheating")
    cheating.get_by_test_id("input-steps").fill("20")
    cheating.get_by_role("button", name="Run").click()
    expect(cheating.get_by_test_id("view-lines")).to_be_visible()
    page.get_by_test_id("chapter-title").click()
    page.keyboard.press("j")
    wait_for_address(page, chapter="masks", screen=re.compile(".+"))
    page.get_by_test_id("contents").get_by_role("button", name="Attention by hand").click()
    expect(page.get_by_test_id("chapter-title")).to_have_text("Attention by hand")
    wait_for_address(page, chapter="attention", course_inputs=None)
    dropout = screen(page, "dropout")
    before = dropout.get_by_test_id("view-matrix").first.inner_text()
    dropout.get_by_test_id("again-seed").click()
    expect(dropout.get_by_test_id("view-matrix").first).not_to_have_text(before, use_inner_text=True)


def test_no_formula_loses_its_end_and_no_screen_fades_while_streamlit_runs(shared_visitor: Visitor) -> None:
    for width in (1280, 1366, 1440):
        shared_visitor.on_screen(width, 900)
        for chapter, name in (("tokens", "neighbours-in-text"), ("positions", "waves")):
            page = course(shared_visitor, chapter=chapter, screen=name)
            wait_until(page, partial(screen(page, name).evaluate, CUT_FORMULAS), lambda cut: cut == [])
    onward = page.get_by_test_id("next-screen").first
    assert onward.evaluate("one => getComputedStyle(one).color") == "rgb(27, 20, 0)", (
        "dark on the colour of a next step"
    )
    container = page.get_by_test_id("stElementContainer").filter(has=page.get_by_test_id("screen-waves"))
    assert container.evaluate(FADED) == "1"


def test_a_claim_opens_and_leads_to_the_screen_that_shows_what_is_right(shared_visitor: Visitor) -> None:
    page = course(shared_visitor, chapter="errors")
    screen(page, "claims").get_by_test_id("input-subject").select_option("Blocks and models")
    screen(page, "claims").get_by_text("A layer norm is").click()
    claims = screen(page, "claims").get_by_role("link", name="Layer norm", exact=True)
    expect(claims).to_have_attribute("href", re.compile("chapter=block&screen=layer-norm&course_inputs=.*epsilon"))
    claims.click()
    expect(page.get_by_test_id("screen-layer-norm").get_by_test_id("input-epsilon")).to_have_value("0")
    wait_for_address(page, chapter="block", screen="layer-norm", course_inputs=re.compile(".*epsilon=0.*"))


def test_three_shapes_are_drawn_and_two_models_compared(shared_visitor: Visitor) -> None:
    shared_visitor.on_screen(390, 844)
    page = course(shared_visitor, chapter="architectures")
    shapes = screen(page, "three-shapes")
    for shape in ("decoder", "encoder"):
        shapes.get_by_test_id("input-shape").select_option(shape)
        expect(shapes.get_by_test_id("view-heat_map")).to_contain_text(f"{shape.capitalize()}: ")
        expect(shapes.locator(".diagram svg")).to_have_count(1)
        expect(shapes.locator(".diagram:has([role=button])")).to_have_count(0)
        wait_until(page, shapes.bounding_box, lambda box: bool(box and box["height"] < 2.7 * 844))
    shapes.get_by_test_id("input-shape").select_option("encoder-decoder")
    expect(shapes.locator(".diagram:has([role=button])")).to_have_count(1)  # the model itself
    expect(shapes.get_by_test_id("diagram-decoder-cross")).to_contain_text("weights 4 × 8 × 9")
    shapes.get_by_test_id("input-text").fill("2021")
    expect(shapes.get_by_test_id("diagram-decoder-cross")).to_contain_text("weights 4 × 5 × 9")
    expect_to_fit(page, "screen-three-shapes")
    moved = screen(page, "changed-word")
    expect(moved.get_by_test_id("view-verdict")).to_contain_text("8 of 8 vectors of the encoder moved, 1 of")
    moved.get_by_test_id("input-decoder").select_option("positions-decoder-none")
    moved.get_by_test_id("input-other").fill("She sat by the bank of the river")
    expect(moved.get_by_test_id("view-verdict")).to_contain_text("8 of 8 vectors of the encoder moved, 8 of")
    wait_for_address(page, course_inputs=re.compile(r".*changed-word\.decoder=positions-decoder-none.*"))
    page = course(shared_visitor, chapter="architectures", screen="cross-by-hand")  # an address of an earlier version
    by_hand = screen(page, "projections")
    by_hand.get_by_label("More source tokens").click()
    expect(by_hand).to_contain_text("3 query tokens look at 5 key tokens, and 3 vectors come out")
