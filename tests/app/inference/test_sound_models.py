"""A sound model on the page: frames before the silence, shipped recordings, and their transcripts."""

import base64
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from headlight.rendering.html import show_trace
from headlight.sound.frames import EncodedSound
from headlight.vision.shipped_images import shipped_image_names
from headlight_app.contract.state import HeadChoice, State
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.explore.answers.head_view import head_view
from headlight_app.inference import resolved_question
from headlight_app.inference.attention_payload import notes
from headlight_app.inference.resolved_question import resolve
from headlight_app.tasks.answers.shown_weights import attention_of_kind, combined_weights
from headlight_app.tasks.answers.transcribe import listening_heads, middle_half
from tests.app.asking import ask_views, make_question
from tests.app.inference.signal_models import LABELS, ask, bring
from tests.app.pages import component_data, open_app
from tests.model import toys
from tests.model.sound.wav_files import wav

pytestmark = pytest.mark.usefixtures("known_too")
HEARD, FRAMES = 15, 30  # frames of 0.02 s: a recording of 0.3 s, a model input of 0.6 s
TEXT = "the cat"


@pytest.fixture
def own(client: TestClient) -> str:
    name = bring(client, wav(toys.noise(HEARD * 0.02)), "audio/wav")["name"]
    assert isinstance(name, str)
    return name


def test_heads_are_shown_over_the_frames_that_hold_sound(client: TestClient, own: str) -> None:
    meta, _ = ask(client, model="listener", text=TEXT, image=own)
    sound, tokens = meta["sound"], len(meta["tokens"])
    assert (sound["side"], sound["frames_read"], sound["frame_seconds"]) == ("source", HEARD, 0.02)
    shades = np.frombuffer(zlib.decompress(base64.b64decode(sound["bytes"])), np.uint8)
    assert len(shades) == sound["bins"] * sound["steps"] == 20 * 2 * HEARD and np.ptp(shades) == 255
    assert len(meta["source_tokens"]) == FRAMES and meta["source_tokens"][1]["text"] == "0.02 s"
    shapes = {group["name"]: (group["rows"], group["columns"]) for group in meta["attention_groups"]}
    assert shapes["decoder.cross"] == (tokens, HEARD) and shapes["encoder.self"] == (HEARD, HEARD)
    assert meta["attention_groups"][0]["name"] == "decoder.cross"
    assert meta["attention_groups"][0]["aligned"] == [[1, 2]]


def test_a_sound_is_labelled_as_a_whole(client: TestClient) -> None:
    meta, _ = ask(client, model="hearer", image="melody")
    (prediction,) = meta["predictions"]
    probabilities = resolve(make_question("hearer", image="melody")).trace_of("logits").probabilities(0)
    shown = {each["text"]: each["after"] for each in prediction["candidates"]}
    assert shown == pytest.approx(dict(zip(LABELS, probabilities.tolist(), strict=True)), abs=1e-6)
    for route, asked in (
        ("analysis", {"analysis": "logit_lens"}),
        ("long_analysis", {"analysis": "token_rankings"}),
    ):
        meta, _ = ask(client, route, model="hearer", image="melody", **asked)
        assert "error" not in meta, route


@pytest.mark.parametrize("budget", [192 << 20, 0], ids=["kept", "computed on demand"])
def test_silence_is_there_for_who_zooms_out(
    client: TestClient,
    own: str,
    budget: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", budget)
    asked = {"model": "listener", "text": TEXT, "image": own, "attention": "encoder.self", "layer": 1, "head": 1}
    part, part_numbers = ask(client, "head_view", **asked)
    whole, numbers = ask(client, "head_view", **asked, zoom=f"0-{FRAMES}/0-{FRAMES}")
    assert len(part["rows"]["labels"]) == HEARD and len(whole["columns"]["labels"]) == FRAMES
    shown, every = (
        np.frombuffer(raw, "<f4", count * count).reshape(count, count)
        for raw, count in ((part_numbers, HEARD), (numbers, FRAMES))
    )
    np.testing.assert_allclose(shown, every[:HEARD, :HEARD], atol=1e-6)
    np.testing.assert_allclose(every.sum(-1), 1, atol=1e-5)


def test_thumbnails_of_a_long_sound_are_those_of_a_short_one(
    client: TestClient,
    own: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = {"model": "listener", "text": TEXT, "image": own}
    meta, kept = ask(client, **asked)
    monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", 0)
    group = next(each for each in meta["attention_groups"] if each["name"] == "encoder.self")
    _, made = ask(client, "thumbnails", **asked, attention="encoder.self", layer=1)
    size = group["heads"] * group["rows"] * group["columns"]
    assert made[:size] == kept[group["offset"] + size : group["offset"] + 2 * size]


def test_notes_say_how_much_is_heard_and_what_follows() -> None:
    (told,) = notes(resolve(make_question("listener", TEXT, image="melody")))
    assert "hears the first 0.6 of 2.0 seconds as 30 frames of 20 ms." in told
    assert "silence" not in told and "Heads with ◆ follow the sound" in told


def test_the_first_recording_is_there_until_another_is_chosen(client: TestClient) -> None:
    names = shipped_image_names(toys.listener().config)
    numbers = {name: ask(client, model="listener", text=TEXT, image=name)[1] for name in ("", *names)}
    assert names == ("chords", "melody") and numbers[""] == numbers["chords"] != numbers["melody"]


def test_the_page_begins_with_a_recording_and_an_alignment_head() -> None:
    at = open_app(model="listener")
    data = component_data(at.main)
    assert data["images"] == ["chords", "melody"] and data["hears"] and data["default_head"] == [1, 2]


def test_vectors_end_where_the_recording_does(client: TestClient, own: str) -> None:
    meta, _ = ask(client, "input_vectors", model="listener", text=TEXT, image=own, stack="encoder")
    assert meta["first"] == 0 and meta["shapes"]["embedding"][0] == HEARD


def test_a_file_that_is_no_wav_gets_a_sentence(client: TestClient) -> None:
    assert "not a WAV file" in bring(client, b"RIFF of another kind", "audio/wav")["error"]
    name = bring(client, wav(toys.noise(0.3)), "audio/wav")["name"]
    meta, _ = ask(client, model="captioner", text=TEXT, image=name)
    assert "not a PNG, JPEG or WebP picture" in meta["error"], "a recording is not a picture"
    meta, _ = ask(client, model="listener", text=TEXT, image="cat")
    assert "not a WAV file" in meta["error"], "a picture is not a recording"


def test_programs_read_the_same_recording() -> None:
    resolved = resolve(make_question("listener", TEXT, image="melody"))
    program = python_code(resolved, State(layer=1, head=2))
    assert "process_sound(read_recording(find_image('melody')), model.config.sound)" in program
    assert "--audio melody" in shell_code(resolved, State())


def test_a_saved_page_holds_the_spectrogram(tmp_path: Path) -> None:
    resolved = resolve(make_question("listener", TEXT, image="melody"))
    view = head_view(resolved, HeadChoice(attention="decoder.cross", layer=1, head=2))
    assert len(view.columns.labels) == FRAMES
    page = show_trace(resolved.trace).document()
    assert '"sound"' in page.replace("\\", "") or "frames_read" in page


def test_each_token_of_a_transcript_has_the_span_that_alignment_heads_heard() -> None:
    (view,) = ask_views("transcribe", model="listener", text=TEXT, image="melody")
    resolved = resolve(make_question("listener", TEXT, image="melody"))
    sound, group = resolved.trace.source, attention_of_kind(resolved.config, "cross")
    assert isinstance(sound, EncodedSound) and group is not None and group.aligned == ((1, 2),)
    weights = resolved.trace["decoder.1.cross.weights"][2]
    assert view["title"] == "When each token was heard: the alignment head" and view["labels"] == ["the", "cat"]
    assert view["places"] == [["text", 0], ["text", 1]], "a token is heard by the step that wrote it"
    for (start, end), place in zip(view["spans"], view["places"], strict=True):
        first, last = middle_half(weights[place[1], : sound.read_count].astype(float))
        assert [start, end] == pytest.approx([first * sound.frame_seconds, (last + 1) * sound.frame_seconds])


def test_a_checkpoint_without_alignment_heads_is_heard_with_the_shown_or_the_last_heads() -> None:
    resolved = resolve(make_question("listener", TEXT, image="melody"))
    listed = attention_of_kind(resolved.config, "cross")
    assert listed is not None
    group = replace(listed, aligned=())
    weights = {layer: resolved.trace[f"decoder.{layer}.cross.weights"] for layer in range(group.layers)}
    shown = combined_weights(resolved, group, listening_heads(group, State(layer=0, head=1)), range(HEARD))
    assert shown.heads == "layer 0, head 1" and np.array_equal(shown.values, weights[0][1][:, :HEARD])
    other = combined_weights(resolved, group, listening_heads(group, State(attention="decoder.self", layer=0)))
    assert other.heads == "the mean of the heads of layer 1"
    assert other.values == pytest.approx(weights[1].mean(0), abs=1e-6)


def test_a_recording_so_long_that_its_weights_are_not_kept_is_heard_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (kept,) = ask_views("transcribe", model="listener", text=TEXT, image="melody")
    monkeypatch.setattr(resolved_question, "MAX_WEIGHTS_BYTES", 0)
    assert resolve(make_question("listener", f"{TEXT} sat", image="melody")).is_long
    (long,) = ask_views("transcribe", model="listener", text=f"{TEXT} sat", image="melody")
    assert np.array(long["spans"])[:2] == pytest.approx(np.array(kept["spans"]))
