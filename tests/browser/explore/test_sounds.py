"""A speech model: choose a recording, point at a moment, upload one's own, see the silence."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import FilePayload, expect

from tests.browser.explore.test_explore import canvas, wait_until_repainted
from tests.browser.export.test_export import download
from tests.browser.visitor import Visitor, expect_to_fit, shown_instrument, wait_for_address
from tests.model import toys
from tests.model.sound.wav_files import wav


@pytest.mark.journey
def test_a_recording_is_heard_moment_by_moment(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore("model=listener", image="")
    expect(page.locator('[for="sentence"]')).to_have_text("Transcript: written by the model")
    expect(page.get_by_test_id("gallery").locator(".frame")).to_have_count(2)
    expect(page.locator(".lead")).to_contain_text("Choose a recording, click a head")
    expect(page.get_by_test_id("gallery").locator("audio")).to_have_attribute("src", "api/image/chords")
    expect(page.get_by_test_id("plot-sound")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("source-tokens")).to_be_hidden()
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 1 · Head 2")
    expect(page.get_by_test_id("head-1-2")).to_have_attribute("title", "Layer 1, head 2, alignment head")
    page.get_by_test_id("sentence").fill("the cat")
    before = canvas(page)
    page.get_by_test_id("picture-melody").click()
    shown_instrument(page, image="melody")
    shown = wait_until_repainted(page, before)
    page.get_by_test_id("tokens").locator(".chip").nth(1).click()
    wait_until_repainted(page, shown)
    wait_for_address(page, pinned="1", image="melody")
    page.get_by_test_id("head-canvas").hover(position={"x": 40, "y": 60})
    expect(page.get_by_test_id("reading")).to_contain_text(" s")
    expect_to_fit(page)


def test_each_written_token_has_the_span_that_alignment_heads_listen_to(
    shared_visitor: Visitor, tmp_path: Path
) -> None:
    page = shared_visitor.open("model=listener&task=transcribe&text=the+cat", path="/tasks")
    view = page.get_by_test_id("view-spans")
    rows = view.locator("li")
    expect(rows.locator("bdi")).to_have_text(["the", "cat"])
    expect(view).to_contain_text("When each token was heard: the alignment head")
    page.get_by_test_id("export-menu-button").click()
    page.get_by_test_id("export-which").select_option("When each token was heard")
    with np.load(download(page, "export-npz", tmp_path)) as file:
        spans: np.ndarray = file["values"]
    assert spans.shape == (2, 2) and (spans[:, 0] < spans[:, 1]).all()
    for row, (start, end) in enumerate(spans):
        expect(rows.nth(row).locator(".number")).to_have_text(f"{start:.2f}–{end:.2f} s")
    rows.first.get_by_role("button").click()
    expect(rows.first).to_have_class("query")


def test_generate_plays_the_recording_and_takes_another_or_ones_own(visitor: Visitor) -> None:
    page = visitor.open("model=listener", path="/generate")
    gallery, candidates = page.get_by_test_id("gallery"), page.get_by_test_id("candidates")
    expect(gallery.locator("audio")).to_have_attribute("src", "api/image/chords")
    expect(candidates.locator("li").first).to_be_visible()
    before = candidates.inner_text()
    page.get_by_test_id("picture-melody").click()
    expect(candidates).not_to_have_text(before, use_inner_text=True)
    wait_for_address(page, image="melody")
    melody = candidates.inner_text()
    page.get_by_test_id("bring").set_input_files(
        FilePayload(name="talk.wav", mimeType="audio/x-wav", buffer=wav(toys.noise(0.3)))
    )
    expect(page.get_by_test_id("picture-own")).to_have_attribute("aria-pressed", "true")
    expect(candidates).not_to_have_text(melody, use_inner_text=True)
    again = visitor.open("model=listener&image=melody", path="/generate")
    expect(again.get_by_test_id("picture-melody")).to_have_attribute("aria-pressed", "true")


def test_ones_own_recording_ends_in_silence_that_can_be_seen(visitor: Visitor) -> None:
    page = visitor.explore("model=listener&attention=encoder.self", image="")
    bring = page.get_by_test_id("bring")
    bring.set_input_files(FilePayload(name="talk.mp3", mimeType="audio/mpeg", buffer=b"ID3"))
    expect(page.get_by_test_id("problem")).to_contain_text("This is not a WAV file.")
    bring.set_input_files(FilePayload(name="talk.wav", mimeType="audio/x-wav", buffer=wav(toys.noise(0.3))))
    expect(page.get_by_test_id("picture-own")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("notes")).to_contain_text("15 frames of silence follow")
    page.get_by_test_id("plot-heatmap").click()
    expect(page.get_by_test_id("rules")).to_contain_text("queries 0 to 14, keys 0 to 14")
    page.get_by_test_id("stage").focus()
    page.keyboard.press("-")
    wait_for_address(page, zoom="0-30/0-30")
    expect(page.get_by_test_id("rules")).not_to_contain_text("queries 0 to 14")
