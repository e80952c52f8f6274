"""Scenes: collected on several pages, put in order, and shown by the arrow keys."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.compare.test_compare import painted
from tests.browser.conftest import Visit
from tests.browser.export.test_export import SENTENCE, asked, download
from tests.browser.visitor import Visitor, expect_to_fit, shown_instrument, wait_for_address

NAMES = ["First words", "Two sides"]


def open_scenes(page: Page) -> None:
    """Two clicks, on any page."""
    page.get_by_test_id("room-button").click()
    page.get_by_test_id("room-scenes").click()
    expect(page.get_by_test_id("scenes-sheet")).to_be_visible()


def add(page: Page, name: str, count: int) -> None:
    """Adds the current view as scene number `count`."""
    open_scenes(page)
    page.get_by_test_id("scene-name").fill(name)
    page.get_by_test_id("scene-add").click()
    expect(page.get_by_test_id("scenes-status")).to_have_text(f"“{name}” is scene {count}.")
    page.get_by_test_id("scenes-close").click()


def expect_names(page: Page, *names: str) -> None:
    boxes = page.get_by_test_id("scene-list").locator("input")
    expect(boxes).to_have_count(len(names))
    for box, name in zip(boxes.all(), names, strict=True):
        expect(box).to_have_value(name)


def scenes_counter(page: Page) -> Locator:
    """The counter beside the page in presenter mode."""
    return page.get_by_test_id("scenes-button")


def scenes_of_two_pages(visitor: Visitor) -> Page:
    """A head on Explore, then a comparison."""
    page = visitor.explore(asked(layer=2, head=3), sentence=SENTENCE)
    add(page, NAMES[0], 1)
    page.get_by_role("link", name="Compare").click()
    painted(page, SENTENCE, SENTENCE)
    add(page, NAMES[1], 2)
    return page


@pytest.mark.journey
def test_arrow_keys_go_through_scenes_also_after_a_reload_and_stay_with_whoever_uses_them(visitor: Visitor) -> None:
    page = scenes_of_two_pages(visitor)
    page.reload()
    painted(page, SENTENCE, SENTENCE)
    expect(page.get_by_test_id("leave-presenter")).to_have_attribute("aria-keyshortcuts", "p")
    page.keyboard.press("p")
    counter = scenes_counter(page)
    expect(counter).to_have_text("2 / 2")
    page.keyboard.press("ArrowLeft")
    expect(counter).to_have_text("1 / 2")
    found = shown_instrument(page, sentence=SENTENCE)
    expect(found).to_have_class("instrument presenter")
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    wait_for_address(page, presenter="1", layer="2", head="3")
    page.keyboard.press("ArrowLeft")  # there is none before the first
    expect(counter).to_have_text("1 / 2")
    page.keyboard.press("ArrowRight")
    expect(counter).to_have_text("2 / 2")
    painted(page, SENTENCE, SENTENCE)
    page.get_by_test_id("scene-back").click()
    shown_instrument(page, sentence=SENTENCE)
    expect(counter).to_have_text("1 / 2")
    page.keyboard.press("ArrowRight")
    painted(page, SENTENCE, SENTENCE)
    page.get_by_test_id("text-a").click()
    page.keyboard.press("ArrowLeft")
    cell = page.get_by_test_id("grid-a").get_by_role("gridcell").first
    cell.click()
    page.keyboard.press("ArrowLeft")  # there is no head further left
    expect(counter).to_have_text("2 / 2")
    painted(page, SENTENCE, SENTENCE)


def test_the_room_is_told_which_scene_it_sees(visitor: Visitor) -> None:
    page = visitor.explore(f"presenter=1&{asked(layer=2, head=3)}", sentence=SENTENCE)
    expect(scenes_counter(page)).to_have_text("Scenes")  # the server has prepared scenes
    page.keyboard.press("p")
    expect(scenes_counter(page)).to_be_hidden()
    for place, name in enumerate(NAMES[:2]):
        add(page, name, place + 1)
        page.get_by_test_id("head-0-1").click()
        wait_for_address(page, layer="0", head="1")
    page.keyboard.press("p")
    stage = page.get_by_test_id("stMainBlockContainer")  # the sidebar's copy disappears when the page's script ends
    told, counter = stage.get_by_test_id("scene-told"), scenes_counter(page)
    expect(counter).to_have_text("2 / 2")
    page.keyboard.press("ArrowRight")
    expect(told).to_have_text("This is the last scene. Home goes to the first.")
    page.keyboard.press("Home")
    expect(told).to_have_text(f"1 / 2  {NAMES[0]}", use_inner_text=True)
    expect(counter).to_have_text("1 / 2")
    wait_for_address(page, layer="2", head="3")
    page.keyboard.press("ArrowLeft")
    expect(told).to_have_text("This is the first scene.")


def test_a_list_is_put_in_order_and_saved(visitor: Visitor, tmp_path: Path) -> None:
    page = scenes_of_two_pages(visitor)
    open_scenes(page)
    page.get_by_title("Scene 2 up").click()
    expect_names(page, NAMES[1], NAMES[0])
    page.get_by_label("Name of scene 1").fill("A and B")
    page.get_by_label("Name of scene 1").press("Enter")
    page.get_by_test_id("scene-link").fill(f"{visitor.url}/generate?{asked()}")
    page.get_by_test_id("scene-link").press("Enter")
    expect_names(page, "A and B", NAMES[0], f"Generate: {SENTENCE}")
    page.get_by_title("Remove scene 2").click()
    expect_names(page, "A and B", f"Generate: {SENTENCE}")
    with page.expect_download() as caught:
        page.get_by_test_id("scenes-save").click()
    file = tmp_path / caught.value.suggested_filename
    caught.value.save_as(file)
    assert [scene["page"] for scene in json.loads(file.read_text())["scenes"]] == ["compare", "generate"]


def test_a_saved_list_is_opened_by_somebody_else(visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "headlight-scenes.json"
    scenes = [
        {"name": name, "page": page, "query": asked()} for name, page in (("A and B", "compare"), ("On", "generate"))
    ]
    file.write_text(json.dumps({"headlight_scenes": 1, "scenes": scenes}))
    (tmp_path / "other.json").write_text('{"weather": 1}')
    page = visit(width=390, height=844).explore(asked(), sentence=SENTENCE)
    page.get_by_test_id("stExpandSidebarButton").click()
    open_scenes(page)
    expect(page.get_by_test_id("no-scenes")).to_be_visible()
    offered = page.get_by_test_id("scenes-take")
    expect(offered).to_have_text("Add 1 scene of prepared.json, which this server was started with")
    offered.click()
    expect_names(page, "Two")
    expect(offered).to_be_hidden()
    page.get_by_title("Remove scene 1").click()
    expect_to_fit(page, "scenes-sheet")
    page.get_by_test_id("scenes-open").set_input_files(file)
    expect_names(page, "A and B", "On")
    page.get_by_test_id("scenes-open").set_input_files(tmp_path / "other.json")
    expect(page.get_by_test_id("scenes-status")).to_contain_text("contains neither scenes nor a state of Headlight")
    expect_names(page, "A and B", "On")
    page.get_by_label("Show scene 1: A and B").click()
    painted(page, SENTENCE, SENTENCE)


def test_a_state_file_becomes_a_scene_with_its_long_text(visitor: Visitor, tmp_path: Path) -> None:
    long = " ".join(["another"] * 210)  # too long for a link
    page = visitor.explore(asked(layer=1, head=2), sentence=SENTENCE)
    page.get_by_test_id("sentence").fill(long)
    shown_instrument(page, sentence=long)
    page.get_by_test_id("export-menu-button").click()
    file = download(page, "export-state", tmp_path)
    page.keyboard.press("Escape")
    page.get_by_test_id("sentence").fill(SENTENCE)
    shown_instrument(page, sentence=SENTENCE)
    open_scenes(page)
    page.get_by_test_id("scenes-open").set_input_files(file)
    expect(page.get_by_test_id("scenes-status")).to_have_text("1 scene is added.")
    page.get_by_test_id("scene-list").get_by_role("button", name="Show scene 1").click()
    shown_instrument(page, sentence=long)
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 1 · Head 2")
