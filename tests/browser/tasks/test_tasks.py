"""The Tasks page: type, see the answer, and see its source tokens."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.explore.test_explore import say
from tests.browser.export.test_export import download
from tests.browser.rest import come_to_rest
from tests.browser.visitor import Visitor, expect_to_fit, wait_for_address


def tasks(visitor: Visitor, query: str) -> Page:
    """The Tasks page, once its task is answered."""
    page = visitor.open(query, path="/tasks")
    expect(page.locator(".task:visible .outputs .chip").first).to_be_visible()
    return page


def tasks_of(visitor: Visitor, query: str, view: str) -> Page:
    """The Tasks page, once the named view is visible."""
    page = visitor.open(query, path="/tasks")
    expect(page.get_by_test_id(view)).to_be_visible()
    return page


@pytest.mark.journey
def test_numbers_are_sorted_while_one_types_and_a_head_that_is_off_is_missed(
    shared_visitor: Visitor, tmp_path: Path
) -> None:
    page = shared_visitor.open()
    page.get_by_test_id("model-picker").select_option("sort")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Tasks").click()  # before the link is updated
    view, verdict = page.get_by_test_id("task-sort"), page.get_by_test_id("task-sort").get_by_test_id("view-verdict")
    expect(verdict).to_contain_text("All 4 numbers are in order.")
    page.get_by_test_id("sentence").fill("30 20 10 5 1")
    outputs = view.locator(".outputs .chip")
    expect(outputs.locator("bdi")).to_have_text(["1", "5", "10", "20", "30"])
    outputs.first.hover()
    expect(view.get_by_test_id("view-note")).to_contain_text("1 was found by looking at 1")
    page.get_by_test_id("head-switch").click()
    expect(view.get_by_test_id("view-note")).to_contain_text("All weights are 0: layer 2, head 1")
    wait_for_address(page, task="sort", text="30 20 10 5 1", edits="encoder.2.self.weights[1]=set:0")
    page.get_by_test_id("head-switch").click()
    expect(view).to_contain_text("what was read: layer 2, head 1")
    words, weights = exported(page, tmp_path, "Alignment weights")
    assert {"read", "answer", "30", "5"} <= words
    assert weights.shape == (5, 5) and weights[0].argmax() == 4


def exported(page: Page, folder: Path, numbers: str) -> tuple[set[str], np.ndarray]:
    """The words of the figure of a task's answer, and one of its tables of numbers, from downloaded files."""
    page.get_by_test_id("export-menu-button").click()
    which = page.get_by_test_id("export-which")
    expect(which.locator("option", has_text=numbers).first).to_be_attached()
    expect(page.get_by_test_id("figure-subject")).to_have_value("the answer to the task")
    root = ElementTree.parse(download(page, "export-svg", folder)).getroot()
    which.select_option(numbers)
    with np.load(download(page, "export-npz", folder)) as file:
        values: np.ndarray = file["values"]
    page.get_by_test_id("export-menu-button").click()
    return {element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")}, values


def test_a_target_is_written_again_and_its_lines_follow(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = tasks(shared_visitor, "model=dates&source=third+of+March+2021")
    view = page.get_by_test_id("task-translate")
    written = view.locator(".outputs .chip:visible")
    expect(written.locator("bdi")).to_have_text(list("2021-03-03"))
    steps = view.get_by_role("group", name="Written so far")
    count, play = steps.locator(".quiet"), steps.locator(".play")
    play.click()
    expect(play).to_have_text("Pause")
    expect(play).to_have_text("From the start")
    expect(count).to_have_text("10 tokens written")
    back = steps.get_by_role("button", name="One step back")
    back.evaluate("button => { for (let times = 0; times < 3; times++) button.click(); }")
    expect(count).to_have_text("7 of 10 tokens written")
    expect(written.locator("bdi")).to_have_text(list("2021-03"))
    expect(view.get_by_test_id("view-note")).to_contain_text("3 was written looking at March")
    wait_for_address(page, query="6")
    steps.get_by_role("button", name="One step on").click()
    expect(count).to_have_text("8 of 10 tokens written")
    page.get_by_test_id("source").fill("4/3/1987")
    expect(written.locator("bdi")).to_have_text(list("1987-04-03"))
    words, weights = exported(page, tmp_path, "Alignment weights")
    assert {"read", "answer"} <= words and weights.shape == (10, 9), "also where there are no beams"


def test_beams_are_shown_exported_and_one_is_taken(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = tasks(shared_visitor, "model=dates&source=4/3/1987")
    views = page.get_by_test_id("task-translate").get_by_test_id("analysis")
    views.get_by_label("Decoding").select_option(label="3 beams")
    beams = views.get_by_test_id("view-table").get_by_role("button")
    expect(beams.first).to_have_text("1987-04-03")
    words, numbers = exported(page, tmp_path, "Beams")
    assert {"The tree of beams, the best one strong", "</s>"} <= words
    assert any(text.startswith("1987-04-03   score −") for text in words)
    assert numbers.shape == (3, 3) and list(numbers[:, 0]) == sorted(numbers[:, 0], reverse=True)
    text = beams.nth(1).inner_text()
    beams.nth(1).click()
    expect(page.get_by_test_id("sentence")).to_have_value(text)
    wait_for_address(page, beam_width="3", text=text)
    page.reload()
    expect(beams.nth(1)).to_have_attribute("aria-pressed", "true")


@pytest.mark.journey
def test_a_label_rests_on_tokens_and_heads(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = tasks_of(shared_visitor, "model=mood&text=the+cat+sat", "task-classify")
    view = page.get_by_test_id("task-classify")
    tokens = view.get_by_test_id("view-tokens")
    expect(tokens.locator(".chip bdi")).to_have_text(["the", "cat", "sat"])
    view.get_by_role("button", name="sad").click()
    expect(view.get_by_role("heading")).to_have_text("What “sad” rests on")
    tokens.locator(".chip").nth(1).hover()
    expect(tokens.get_by_test_id("view-note")).to_contain_text("“cat”\u2069: without it \u2068“sad”\u2069 has")
    view.get_by_role("button", name="Without layer 1, head 0").click()
    expect(page.get_by_test_id("head-title")).to_contain_text("Layer 1 · Head 0")
    wait_for_address(page, task="classify", target_token="1", layer="1", head="0")
    words, effects = exported(page, tmp_path, "What each token adds")
    assert {"Label of the text", "glad", "sad", "cat", "Each token", "Each head"} <= words
    assert effects.shape == (3, 2) and ((effects[:, 1] > 0) & (effects[:, 1] < 1)).all()
    view.get_by_label("Pooling").select_option(label="Mean of all tokens")
    expect(page.get_by_test_id("instrument")).to_contain_text("Pooling: Mean of all tokens instead of First token.")
    wait_for_address(page, pooling="mean")
    expect(page.get_by_test_id("variant-pooling")).to_have_value("mean")


def test_each_token_is_tagged_and_a_task_opens_a_model_that_does_it(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = tasks_of(shared_visitor, "model=mood&text=the+cat+sat", "task-classify")
    page.get_by_test_id("stButtonGroup").get_by_text("Tag", exact=True).click()
    wait_for_address(page, model="entities", task="tag", text=None)
    view = page.get_by_test_id("task-tag").get_by_test_id("view-tokens")
    tagged, note = view.locator(".chip"), view.get_by_test_id("view-note")
    expect(tagged.first).to_be_visible()
    page.get_by_test_id("sentence").fill("the dog sat")
    expect(tagged.locator("bdi")).to_have_text(["the", "dog", "sat"])
    tagged.nth(1).hover()
    expect(note).to_contain_text("“dog”\u2069: ")
    expect(note).to_contain_text("it looked at")
    words, shares = exported(page, tmp_path, "Label probabilities")
    assert {"the", "dog", "sat", "PER: person"} <= words
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)


def test_on_a_phone_the_answer_stands_beside_its_text(shared_visitor: Visitor) -> None:
    page = tasks(shared_visitor.on_screen(390, 844), "model=dates&source=the+twenty-first+day+of+December+in+1999")
    expect(page.get_by_test_id("view-alignment").filter(visible=True).locator(".upright")).to_be_visible()
    expect_to_fit(page, "task-translate", "view-alignment")


def test_a_page_that_cannot_show_a_model_opens_another_and_says_so(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=sort")
    page.goto(f"{shared_visitor.url}/generate?model=sort")
    said = "This page needs a model that writes. sort does not, so stories-causal is open."
    expect(page.get_by_test_id("stAlert")).to_contain_text(said)
    expect(page.get_by_test_id("model-picker").locator("option[value=sort]")).to_be_disabled()
    wait_for_address(page, model="stories-causal")
    page.go_back()
    expect(page).to_have_url(f"{shared_visitor.url}/?model=sort")
    expect(page.get_by_test_id("sentence")).to_be_visible()


def test_the_text_of_one_task_does_not_become_that_of_the_next(shared_visitor: Visitor) -> None:
    page = tasks(shared_visitor, "task=sort")
    say(page, "1.5 0.2")
    page.get_by_text("Translate", exact=True).click()
    expect(page.get_by_test_id("source")).to_be_visible()
    expect(page.get_by_test_id("sentence")).not_to_have_value("1.5 0.2")
    come_to_rest(page)  # a late report would restore the text
    expect(page.get_by_test_id("sentence")).not_to_have_value("1.5 0.2")


def test_what_one_typed_on_a_page_is_there_on_return(visitor: Visitor) -> None:
    def go(name: str) -> None:
        page.get_by_test_id("stSidebar").get_by_role("link", name=name).click()
        expect(page).to_have_title(f"{name} · Headlight")

    page = visitor.open()
    for typed, other in (("My zebra sings", "a dull film"), ("My zebra sings loudly", "a dull, long film")):
        say(page, typed)
        go("Tasks")  # at once, before the sentence is reported
        wait_for_address(page, model="sentiment")
        expect(page.get_by_test_id("sentence")).not_to_have_value(typed)
        say(page, other)
        go("Explore")
        expect(page.get_by_test_id("sentence")).to_have_value(typed)
        wait_for_address(page, model=None, text=typed)
        go("Tasks")
        expect(page.get_by_test_id("sentence")).to_have_value(other)
        go("Explore")
    wait_for_address(page, model=None, text=typed)  # the title changes before the history entry is added
    page.go_back()
    expect(page.get_by_test_id("sentence")).to_have_value("a dull, long film")


def test_two_sentences_are_compared_while_one_types_and_a_head_is_switched_off(
    shared_visitor: Visitor, tmp_path: Path
) -> None:
    page = tasks_of(shared_visitor, "model=stories-masked&task=similar&text=The+red+ball", "task-similar")
    view = page.get_by_test_id("task-similar")
    cosine, other = view.get_by_test_id("view-verdict"), view.get_by_role("textbox", name="and")
    other.fill("The red ball")
    expect(cosine).to_contain_text("Cosine 1.0000")
    other.fill("The blue ball")
    expect(cosine).not_to_contain_text("Cosine 1.0000")
    view.get_by_test_id("view-matrix").first.locator('td[data-row="2"][data-column="2"]').hover()
    expect(view.get_by_test_id("view-note").first).to_contain_text("red, \u2068“blue”\u2069: ")
    expect(view).to_contain_text("not trained for sentence vectors")
    wait_for_address(page, task="similar", other_text="The blue ball")
    words, pairs = exported(page, tmp_path, "Pairs of tokens")
    assert {"[CLS]", "red", "blue", "Cosine"} <= words
    assert abs(pairs.sum() - float(cosine.inner_text().split()[1])) < 1e-4
    heads = view.get_by_test_id("analysis-long")
    expect(heads).to_have_attribute("aria-busy", "false")  # until then the heads belong to the earlier sentence
    head = heads.get_by_role("button", name="Without layer 5, head 1")
    head.hover()
    expect(heads.get_by_test_id("view-note")).to_contain_text("Without layer 5, head 1: ")
    without = heads.get_by_test_id("view-note").inner_text().split(": ")[1]
    head.click()
    page.get_by_test_id("head-switch").click()
    expect(cosine).to_contain_text(f"Cosine {without}")
