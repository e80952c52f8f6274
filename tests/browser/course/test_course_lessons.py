"""The chapters on tokens, positions and heads: changes of the inputs change the pictures."""

import re

import pytest
from playwright.sync_api import Page, expect

from headlight.code_exercises.exercises import notebook_text
from headlight.course.chapters import CHAPTERS
from tests.browser.course.test_course import course, screen
from tests.browser.visitor import Visitor, expect_to_fit, wait_for_address
from tests.model.sound.wav_files import encoded, tone, wav_file


def test_tokens_are_looked_up_and_learned(shared_visitor: Visitor) -> None:
    page = course(shared_visitor, chapter="tokens")
    look_up = screen(page, "lookup")
    look_up.get_by_test_id("input-ids").fill("1, 100")
    expect(look_up.get_by_role("alert")).to_contain_text("no row 100")
    look_up.get_by_test_id("input-rows").fill("101")
    expect(look_up).to_contain_text("shape (1, 2, 16)")
    learned = page.get_by_test_id("screen-next-word")
    learned.get_by_test_id("input-steps").fill("40")
    learned.get_by_role("button", name="Run").click()
    moving = learned.get_by_test_id("view-moving_points")
    expect(moving).to_contain_text("step 0,")
    moving.get_by_role("slider").press("End")
    expect(moving).to_contain_text("step 40,")
    moving.get_by_label("Frame").fill("0")
    expect(moving).to_contain_text("step 0,")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_screen_is_longer_than_two_screens_of_a_laptop(shared_visitor: Visitor, chapter: str) -> None:
    page = course(shared_visitor, chapter=chapter)
    heights = {}
    for name, row in CHAPTERS[chapter].screens.items():
        if not row.is_long:
            screen(page, name)
            heights[name] = (page.get_by_test_id(f"screen-{name}").bounding_box() or {"height": 0})["height"]
    window = page.viewport_size or {"height": 900}
    assert {name: height for name, height in heights.items() if height > 2 * window["height"]} == {}


def test_positions_are_drawn_and_told(shared_visitor: Visitor) -> None:
    page = course(shared_visitor.on_screen(390, 844, dark=True), chapter="positions")
    order = screen(page, "order")
    expect(order).to_contain_text("equivariant")
    order.get_by_test_id("input-other").fill("dog chased mouse")
    expect(order.get_by_role("alert")).to_contain_text("the same words")
    waves = screen(page, "waves")
    waves.get_by_test_id("view-heat_map").first.get_by_role("img").hover(position={"x": 150, "y": 120})
    expect(waves.get_by_test_id("view-heat_map").first).to_contain_text(re.compile(r"position \d+, channel \d+: "))
    expect_to_fit(page, "screen-waves")
    page.set_viewport_size({"width": 820, "height": 1180})
    page.reload()
    drawn = screen(page, "waves").get_by_test_id("view-heat_map").first.get_by_role("img")
    scale = drawn.evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
    assert 0.95 < scale < 1.05  # so its labels are as large as others, also with an open sidebar


def test_heads_are_counted_and_a_layer_is_entered(shared_visitor: Visitor) -> None:
    page = course(shared_visitor, chapter="heads", screen="cost")
    cost = screen(page, "cost")
    expect(cost).to_contain_text("8 narrow heads take 16,384 parameters")
    cost.get_by_test_id("input-heads").fill("7")
    expect(cost.get_by_role("alert")).to_contain_text("does not divide")
    cost.get_by_test_id("input-heads").fill("4")
    expect(cost).to_contain_text("4.0 times the parameters")
    drawn = screen(course(shared_visitor, chapter="block", screen="diagram"), "diagram")
    drawn.get_by_test_id("input-layer").fill("4")
    expect(drawn.get_by_test_id("diagram-decoder-open")).to_have_text("Layer 4 of 0 to 5")
    drawn.get_by_test_id("diagram-decoder-self").click()
    expect(page.get_by_test_id("head-title")).to_contain_text("Layer 4 · Head ")
    wait_for_address(page, layer="4", attention="decoder.self")


def hear_tones_and_a_sound_of_ones_own(page: Page) -> None:
    sound = screen(page, "sound")
    player = sound.get_by_label("1.5 seconds to hear")
    expect(player).to_have_js_property("duration", 1.536)
    sound.get_by_test_id("input-sounds").fill("A4, 880")
    expect(sound.get_by_role("alert")).to_contain_text("There is no sound 5")
    sound.get_by_test_id("input-asked").fill("2")
    expect(sound.get_by_label("0.5 seconds to hear")).to_have_js_property("duration", 0.512)
    mine = wav_file(1, 16, 1, 8_000, encoded(tone(8_000), 1, 16))
    file = sound.get_by_test_id("input-recording")
    file.set_input_files({"name": "mine.wav", "mimeType": "audio/wav", "buffer": b"no sound"})
    expect(sound.locator(".recording")).to_contain_text("This is not a WAV file.")
    file.set_input_files({"name": "mine.wav", "mimeType": "audio/wav", "buffer": mine})
    expect(sound.get_by_label("1.0 seconds to hear")).to_have_js_property("duration", 1.024)
    wait_for_address(page, course_inputs=re.compile(r".*sound\.recording=own&.*"))
    sound.get_by_test_id("clear-recording").click()
    expect(sound.get_by_label("0.5 seconds to hear")).to_be_visible()


def test_what_is_no_text_goes_through_attention_too(shared_visitor: Visitor) -> None:
    page = course(shared_visitor, chapter="beyond-text", screen="patches")
    patches = screen(page, "patches")
    patches.get_by_test_id("input-picture").select_option("cat")
    patches.get_by_test_id("input-grid").select_option("4")
    expect(patches).to_contain_text("4 × 4 patches of 24 × 24 pixels")
    looks = patches.get_by_role("img", name="most on patch 13")
    looks.hover(position={"x": 5, "y": 5})
    expect(patches.get_by_text(re.compile(r"patch 0: .* %"))).to_be_visible()
    caption = screen(page, "caption")
    expect(caption.get_by_role("img", name="triangle: 6 × 6 patches")).to_be_visible()
    link = caption.get_by_role("link", name="Continue in Explore")
    expect(link).to_have_attribute("href", re.compile(r"layer=0&head=0&.*attention=decoder\.cross"))
    graph = screen(page, "graph")
    graph.get_by_test_id("input-edges").fill("A-B, B-C")
    expect(graph.get_by_role("alert")).to_contain_text("The nodes are A, B, C.")
    graph.get_by_test_id("input-node").fill("A")
    expect(graph.get_by_role("img", name="edges A–B, B–C").first).to_contain_text("C0 %")
    hear_tones_and_a_sound_of_ones_own(page)
    page.get_by_test_id("contents").get_by_role("button", name="Exercises in code").click()
    with page.expect_download() as started:
        screen(page, "write").get_by_role("button", name="Download attention.ipynb").click()
    assert started.value.suggested_filename == "attention.ipynb"
    assert started.value.path().read_text(encoding="utf-8") == notebook_text()
