"""A model that reads pictures: choose one, click a patch, upload one's own."""

import re

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.app.inference.test_images import photo
from tests.browser.conftest import Visit
from tests.browser.explore.test_explore import canvas, wait_until_repainted
from tests.browser.rest import come_to_rest
from tests.browser.visitor import (
    Visitor,
    address,
    expect_to_fit,
    in_analysis,
    shown_instrument,
    wait_for_address,
    wait_until,
)


def click_patch(page: Page, row: float, column: float) -> None:
    """Clicks on the canvas, at a part of its width and of its height."""
    picture = page.get_by_test_id("head-canvas")
    box = picture.bounding_box()
    assert box
    picture.click(position={"x": column * box["width"], "y": row * box["height"]})


def file(raw: bytes, name: str = "mine.png", kind: str = "image/png") -> FilePayload:
    return {"name": name, "mimeType": kind, "buffer": raw}


@pytest.mark.journey
def test_a_drawn_picture_is_chosen_and_a_patch_asked(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore("model=seer", image="")
    expect(page.get_by_test_id("sentence")).to_be_hidden()
    expect(page.get_by_test_id("gallery").locator(".frame")).to_have_count(4)
    expect(page.locator(".lead")).to_contain_text("Choose an image, click a head")
    expect(page.get_by_test_id("picture-cat")).to_have_attribute("aria-pressed", "true")
    before = canvas(page)
    page.get_by_test_id("picture-house").click()
    shown_instrument(page, image="house")
    after = wait_until_repainted(page, before)
    expect(page.get_by_test_id("predictions")).to_contain_text("of the whole image")
    click_patch(page, 0.9, 0.6)
    wait_until_repainted(page, after)
    wait_for_address(page, image="house", query=re.compile("9|1[0-9]"))
    expect(page.get_by_test_id("reading")).to_contain_text("3,")


def test_the_logit_lens_ends_with_the_label_and_reads_single_patches(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore("model=seer&tab=layers", image="")
    table = in_analysis(page, "view-matrix")
    answer = table.locator('td[data-column="0"] bdi').last
    best = page.get_by_test_id("predictions").locator(".candidate .token").first
    expect(best).not_to_be_empty()
    wait_until(page, best.inner_text, lambda label: label == answer.text_content())
    reading = table.get_by_test_id("view-note")
    expect(reading).to_contain_text("The answer, whole image: ")
    expect(page.get_by_test_id("analysis-views")).to_contain_text("The head reads the")
    table.locator('td[data-row="1"][data-column="4"] button').hover()
    expect(reading).to_contain_text("After layer 0, \u2068“0,2”\u2069")
    expect(page.get_by_test_id("view-tokens")).to_have_count(0)


def test_a_link_shows_the_same_picture_and_patch(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore("model=seer&image=faces&query=7&layer=1&head=2&plot=overlay", image="faces")
    expect(page.get_by_test_id("picture-faces")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 1 · Head 2")
    expect(page.get_by_test_id("reading")).to_contain_text("1,2")


def test_ones_own_picture_is_looked_at_and_nobody_elses(visit: Visit) -> None:
    anna, ben = visit(), visit()
    page = anna.explore("model=seer", image="")
    page.get_by_test_id("bring").set_input_files(file(photo(60)))
    mine = page.get_by_test_id("picture-own")
    expect(mine).to_have_attribute("aria-pressed", "true")
    name = mine.get_attribute("data-name") or ""
    shown_instrument(page, image=name)
    come_to_rest(page)  # by then the address would contain it
    assert "image" not in address(page)
    page.get_by_test_id("export-menu-button").click()
    page.get_by_test_id("export-link").click()
    expect(page.get_by_test_id("export-status")).to_contain_text(
        "Your picture is not in the link: others see a shipped one"
    )
    assert "image" not in page.get_by_test_id("export-copied").input_value()
    other = ben.explore("model=seer", image="")
    assert page.request.get(f"{anna.url}/api/image/{name}").status == 200
    assert other.request.get(f"{ben.url}/api/image/{name}").status == 404


def test_what_is_no_picture_is_refused_and_a_head_that_is_off_changes_what_one_is_taken_for(
    shared_visitor: Visitor,
) -> None:
    page = shared_visitor.explore("model=seer", image="")
    for sent in (file(b"no picture"), file(bytes(9 << 20)), file(b"<svg/>", "x.svg", "image/svg+xml")):
        page.get_by_test_id("bring").set_input_files(sent)
        told = "8 MB" if len(sent["buffer"]) > 99 else "PNG, JPEG or WebP"
        expect(page.get_by_test_id("problem")).to_contain_text(told)
    page.get_by_test_id("picture-chess").click()
    shown_instrument(page, image="chess")
    expect(page.get_by_test_id("problem")).to_be_hidden()
    page.get_by_test_id("head-switch").click()
    expect(page.get_by_test_id("predictions")).to_contain_text("as trained")
    expect(page.get_by_test_id("reading")).to_contain_text("switched off")


def test_a_phone_shows_the_picture_too(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(390, 844, dark=True).explore("model=bare&image=cat", image="cat")
    expect_to_fit(page, "head-canvas")
    wait_until(page, page.get_by_test_id("head-canvas").bounding_box, lambda box: bool(box and box["width"] > 200))


def test_models_of_texts_have_no_gallery(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal")
    expect(page.get_by_test_id("sentence")).to_be_visible()
    expect(page.get_by_test_id("gallery")).to_be_hidden()
    expect(page.locator(".lead")).to_contain_text("Type, click a head")
    expect(page.get_by_test_id("plot").get_by_role("button", name="Image")).to_have_count(0)


@pytest.mark.parametrize("model", ["captioner", "reader"])
def test_a_caption_is_written_for_a_drawing_and_each_word_looks_at_it(model: str, shared_visitor: Visitor) -> None:
    page = shared_visitor.open(f"model={model}")
    caption, words = page.get_by_test_id("sentence"), page.get_by_test_id("tokens").locator(".chip")
    expect(page.locator('[for="sentence"]')).to_have_text("Caption: written by the model")
    expect(page.get_by_test_id("gallery").locator(".frame")).to_have_count(6)
    expect(page.get_by_test_id("source")).to_be_hidden()
    expect(page.get_by_test_id("plot-overlay")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("source-tokens")).to_be_hidden()
    before = canvas(page)
    words.nth(1).click()
    wait_for_address(page, pinned="1")
    page.get_by_test_id("picture-purple-cross-below-blue-star").click()
    shown_instrument(page, image="purple-cross-below-blue-star")
    wait_until_repainted(page, before)
    wait_for_address(page, image="purple-cross-below-blue-star", text=None)
    caption.fill("the cat")
    expect(page.locator('[for="sentence"]')).to_have_text("Caption: your own text")
    expect(words).to_have_count(3)
    page.get_by_test_id("attention-decoder.self").click()
    expect(page.get_by_test_id("plot-overlay")).to_have_count(0)
    page.get_by_test_id("write-target").click()
    expect(page.locator('[for="sentence"]')).to_have_text("Caption: written by the model")
    expect_to_fit(page)


def test_describe_shows_for_each_word_where_it_looked(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=captioner&task=describe", path="/tasks")
    looks = page.get_by_test_id("task-describe").locator(".image-drawing")
    expect(looks.first).to_be_visible()
    page.get_by_test_id("sentence").fill("the cat")
    expect(looks.locator(".readout")).to_have_text(["the", "cat"])
    looks.first.click()
    expect(looks.first).to_have_attribute("aria-pressed", "true")
    wait_for_address(page, task="describe", text="the cat", pinned="0")
    expect_to_fit(page, "view-image")
