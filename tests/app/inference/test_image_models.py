"""Requests of the page about an image model, and the upload and removal of picture files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headlight.errors import ImageError
from headlight.tracing.run import run
from headlight.vision.image import process_image
from headlight.vision.shipped_images import shipped_image_names
from headlight_app.access.images import MAX_IMAGE_BYTES, image_store
from headlight_app.contract.question import OWN_IMAGE_PREFIX
from headlight_app.contract.state import State
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.explore.answers.head_view import head_view as made_view
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.inference.resolved_question import resolve
from headlight_app.tasks.answers.shown_weights import NOTHING_WRITTEN
from tests.app.asking import ask_views, make_question
from tests.app.explore.test_export_code import executed, run_shell
from tests.app.inference.signal_models import LABELS, READS, ask, bring
from tests.app.inference.test_images import photo
from tests.app.pages import component_data, open_app, unfolded
from tests.model import toys

pytestmark = pytest.mark.usefixtures("known_too")


def test_a_picture_is_answered_with_its_patches(client: TestClient) -> None:
    meta, numbers = ask(client, image="house")
    assert meta["patches"] == {"side": "text", "rows": 4, "columns": 4, "first_token": 1, "region": [0, 0, 1, 1]}
    assert [token["text"] for token in meta["tokens"]][:6] == ["[CLS]", "0,0", "0,1", "0,2", "0,3", "1,0"]
    assert len(numbers) == 2 * 4 * 17 * 17
    (prediction,) = meta["predictions"]
    assert {item["text"] for item in prediction["candidates"]} == set(LABELS)
    assert (prediction["preposition"], prediction["token_text"]) == ("of the whole image", None)
    assert set(meta["attention_groups"][0]["metrics"]) >= {"neighbours", "row", "column", "special", "distance"}


def test_the_first_drawn_picture_is_there_until_another_is_chosen(client: TestClient) -> None:
    numbers = {name: ask(client, image=name)[1] for name in ("", *shipped_image_names())}
    assert numbers[""] == numbers[shipped_image_names()[0]]
    assert len(set(numbers.values())) == len(shipped_image_names())


def test_edits_have_a_before_and_an_after(client: TestClient) -> None:
    meta, _ = ask(client, edits=["encoder.0.self.weights[1]=set:0", "pixels[:,0:8]=set:0"])
    assert meta["changed"]
    assert any(item["before"] != item["after"] for item in meta["predictions"][0]["candidates"])


@pytest.mark.parametrize("view", ["weights", "scores", "value_norm", "rollout", "gradient", "minus_head"])
def test_heads_on_pictures_can_be_seen_every_way(client: TestClient, view: str) -> None:
    meta, numbers = ask(client, "head_view", quantity=view, layer=1, head=2, query=0)
    assert "error" not in meta
    assert len(numbers) == 17 * 17 * 5
    assert meta["rows"]["labels"][:2] == ["[CLS]", "0,0"]


def test_two_pictures_are_compared_by_their_names(client: TestClient) -> None:
    _, numbers = ask(client, "head_view", quantity="minus_text", other_text="chess", image="cat")
    assert np.abs(np.frombuffer(numbers[: 4 * 17 * 17], "<f4")).max() > 1e-4
    assert "There is no picture" in ask(client, "head_view", quantity="minus_text", other_text="a dog")[0]["error"]


def test_two_pictures_of_ones_own_are_two(client: TestClient) -> None:
    one, other = (bring(client, photo(40, seed=seed))["name"] for seed in range(2))
    for first, second, differs in ((one, other, True), (one, one, False), (one, "cat", True), ("cat", one, True)):
        _, numbers = ask(client, "head_view", quantity="minus_text", image=first, other_text=second)
        assert np.frombuffer(numbers[: 4 * 17 * 17], "<f4").any() == differs


def test_what_is_no_picture_is_not_kept(client: TestClient) -> None:
    before = len(image_store().uploaded)
    assert "is not a PNG, JPEG or WebP" in bring(client, b"\x89PNG\r\n\x1a\n" + bytes(40))["error"]
    assert len(image_store().uploaded) == before


def test_a_page_whose_picture_is_gone_stays_so_that_another_can_be_chosen() -> None:
    at = open_app(model="seer", image=f"{OWN_IMAGE_PREFIX}gone")
    assert not at.exception and not at.error
    assert component_data(at.main)["images"] == list(shipped_image_names())


def test_a_visitor_brings_a_picture_and_looks_at_it(client: TestClient, seers: Path) -> None:
    name = bring(client, photo(40))["name"]
    _, numbers = ask(client, image=name)
    assert numbers != ask(client)[1]
    shown = client.get(f"/api/image/{name}")
    assert shown.content == photo(40)
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["cache-control"] == "no-store"
    assert shown.headers["x-content-type-options"] == "nosniff"


def test_nobody_else_finds_it_however_they_ask(client: TestClient, server: Starlette) -> None:
    name = bring(client, photo(40))["name"]
    ask(client, image=name)  # its trace is now cached
    with TestClient(server) as other:
        for cookie in (False, True):
            if cookie:
                other.get("/")
            assert "no longer here" in ask(other, image=name)[0]["error"]
            assert "no longer here" in ask(other, "head_matrix", image=name, path="encoder.0.self.weights")[0]["error"]
            assert other.get(f"/api/image/{name}").status_code == 404


def test_the_drawn_pictures_are_there_for_everybody(server: Starlette) -> None:
    with TestClient(server) as client:
        for name in shipped_image_names():
            shown = client.get(f"/api/image/{name}")
            assert shown.content.startswith(b"\x89PNG")
        for name in ("dog", "%2e%2e", "..%2fdraw.py", "cat.png"):
            assert client.get(f"/api/image/{name}").status_code == 404


@pytest.mark.parametrize(
    ("raw", "kind", "sentence"),
    [
        (b"no picture", "image/png", "is not a PNG, JPEG or WebP"),
        (bytes(MAX_IMAGE_BYTES + 1), "image/jpeg", "may have at most 8 MB"),
        (b"<svg></svg>", "image/svg+xml", "This is not a PNG"),
        (photo(), "text/plain", "This is not a PNG"),
        (photo(), "application/json", "This is not a PNG"),
    ],
)
def test_what_cannot_be_kept_gets_a_sentence(client: TestClient, raw: bytes, kind: str, sentence: str) -> None:
    assert sentence in bring(client, raw, kind)["error"]


def test_without_a_cookie_nothing_is_kept(server: Starlette) -> None:
    with TestClient(server) as client:
        assert "no cookie" in bring(client, photo())["error"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"image": "dog"}, "There is no picture 'dog'"),
        ({"image": f"{OWN_IMAGE_PREFIX}gone"}, "no longer here"),
        ({"image": 3}, "image is 3; expected a text"),
        ({"masked_positions": [2]}, "cannot be masked"),
        ({"edits": ["decoder.0.self.weights=set:0"]}, "changes nothing"),
        ({"edits": ["pixels[9]=set:0"]}, "asks for color_channel 9"),
    ],
)
def test_a_question_without_an_answer_gets_a_sentence(
    client: TestClient, fields: dict[str, Any], sentence: str
) -> None:
    assert sentence in ask(client, **fields)[0]["error"]


def test_a_bare_model_shows_its_heads_and_says_that_it_predicts_nothing(client: TestClient) -> None:
    meta, numbers = ask(client, model="bare")
    assert meta["no_prediction_reason"] and not meta["predictions"]
    assert len(numbers) == 2 * 4 * 17 * 17


@pytest.mark.parametrize("model", ["seer", "bare"])
def test_explore_opens_a_model_of_pictures(model: str) -> None:
    at = open_app(model=model, image="chess")
    assert not at.exception
    data = component_data(at.main)
    assert data["images"] == list(shipped_image_names())
    assert (data["state"]["image"], data["state"]["query"]) == ("chess", 0)
    assert unfolded(at, "numbers").get("plotly_chart") and not at.exception


@pytest.mark.parametrize("fields", [{}, {"image": "house", "edits": ("pixels[0]=set:0",)}])
def test_programs_make_the_numbers_of_the_view(
    fields: dict[str, Any], seers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, state = (
        make_question("seer", "", **fields),
        State(layer=1, head=2, quantity="minus_text", other_text="faces"),
    )
    monkeypatch.chdir(Path(__file__).parents[3])
    found = executed(python_code(resolve(question), state), seers)
    np.testing.assert_array_equal(found, made_view(resolve(question), state).values)
    numbers = run_shell(shell_code(resolve(question), state), seers, tmp_path)
    np.testing.assert_array_equal(
        numbers["attention"][1, 2], made_view(resolve(question), replace(state, quantity="weights")).values
    )


def test_a_program_names_no_picture_that_is_somebodys_own() -> None:
    question = make_question("seer", "", image=f"{OWN_IMAGE_PREFIX}secret")
    with pytest.raises(ImageError):
        python_code(resolve(question), State())


def test_the_page_and_the_backend_say_the_same(client: TestClient, seers: Path) -> None:
    from headlight.checkpoints import load
    from headlight.paths import assets_dir
    from headlight.vision.image import read_image

    checkpoint = load(seers / "seer")
    seen = process_image(read_image(assets_dir() / "pictures" / "inputs" / "faces.png"), READS)
    traced = run(checkpoint.model, checkpoint.tokenizer, seen)
    meta, numbers = ask(client, "head_matrix", image="faces", path="encoder.1.self.weights", head=3)
    found = np.frombuffer(numbers, "<f4").reshape(meta["rows"], meta["columns"])
    np.testing.assert_allclose(found, traced.attention()[1, 3], atol=1e-5)


# Models that write about pictures, with the tokens that they read before the patches.
WRITERS = {"captioner": [], "reader": ["[CLS]", "[DIST]"]}


@pytest.mark.parametrize("name", WRITERS)
def test_a_model_writes_about_a_drawing_until_somebody_types(name: str, client: TestClient) -> None:
    first, *others = shipped_image_names(toys.captioner().config)
    written, _ = ask(client, model=name, writes_target=True)
    before = written["patches"]["first_token"]
    assert written["patches"]["side"] == "source" and len(written["source_tokens"]) == before + 6
    assert [token["text"] for token in written["source_tokens"]][:before] == WRITERS[name]
    assert [group["name"] for group in written["attention_groups"]] == ["decoder.cross", "decoder.self", "encoder.self"]
    assert set(written["attention_groups"][2]["metrics"]) >= {"neighbours", "row", "column"}
    text = written["question"]["text"]
    assert text and ask(client, model=name, writes_target=True, image=first)[0]["question"]["text"] == text
    assert any(
        ask(client, model=name, writes_target=True, image=each)[1] != ask(client, text=text, image=first)[1]
        for each in others
    )
    typed, _ = ask(client, model=name, text="the cat", image=others[0])
    assert typed["question"]["text"] == "the cat" and len(typed["tokens"]) == 3


@pytest.mark.parametrize("name", [*WRITERS, "listener"])
def test_what_is_generated_about_one_signal_does_not_depend_on_another(name: str, client: TestClient) -> None:
    names = shipped_image_names(open_checkpoint(name).model.config)[:2]
    asked = [{"model": name, "image": image, "text": "the cat sat"} for image in names]
    alone, other = (ask(client, "generate", use_cache=False, **each) for each in asked)
    assert alone[1] != other[1]
    for each, (wanted, numbers) in zip(asked * 2, (alone, other) * 2, strict=True):
        meta, weights = ask(client, "generate", **each)
        now, before = (found["step"]["rows"][0]["views"][0]["series"]["by the model"] for found in (meta, wanted))
        assert now == pytest.approx(before, rel=1e-4)
        np.testing.assert_allclose(np.frombuffer(weights, "<f4"), np.frombuffer(numbers, "<f4"), atol=1e-5)


@pytest.mark.parametrize("name", WRITERS)
def test_explore_opens_a_model_that_writes_about_pictures(name: str) -> None:
    at = open_app(model=name)
    assert not at.exception
    data = component_data(at.main)
    assert data["images"] == list(shipped_image_names(toys.captioner().config)) and data["writes_target"]
    assert data["opening"]["text"] and {row["reads"] for row in data["metrics"]} == {"text", "image"}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("view", ["weights", "scores", "value_norm", "gradient", "minus_text"])
def test_a_drawing_can_be_seen_every_way_by_its_caption(client: TestClient, view: str, name: str) -> None:
    other = shipped_image_names(toys.captioner().config)[1]
    meta, numbers = ask(client, "head_view", model=name, text="the cat", quantity=view, other_text=other)
    labels = [*WRITERS[name], "0,0", "0,1"]
    assert "error" not in meta and meta["columns"]["labels"][: len(labels)] == labels
    assert len(numbers) == 3 * (len(labels) + 4) * 5


@pytest.mark.parametrize("name", WRITERS)
def test_programs_make_the_numbers_of_a_caption(
    name: str, seers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, state = make_question(name, "the cat"), State(layer=1, head=2)
    monkeypatch.chdir(Path(__file__).parents[3])
    shown = made_view(resolve(question), state).values
    np.testing.assert_allclose(executed(python_code(resolve(question), state), seers), shown, atol=1e-6)
    numbers = run_shell(shell_code(resolve(question), state), seers, tmp_path)
    np.testing.assert_allclose(numbers["cross_attention"][1, 2], shown, atol=1e-6)


@pytest.mark.parametrize("name", WRITERS)
def test_each_word_of_a_caption_has_the_patches_that_its_step_looked_at(name: str) -> None:
    drawing = shipped_image_names(toys.captioner().config)[1]
    asked = {"model": name, "image": drawing, "text": "the cat"}
    (view,) = ask_views("describe", **asked, choice={"layer": 1, "head": 0})
    trace = resolve(make_question(name, "the cat", image=drawing)).trace
    looks = trace["decoder.1.cross.weights"][0][:2, len(WRITERS[name]) :]
    assert [word for word, _ in view["shades"]] == ["the", "cat"] and view["rows"] * view["columns"] == looks.shape[1]
    for found in ([numbers for _, numbers in view["shades"]], view["tables"]["Where each word looked"]["values"]):
        np.testing.assert_allclose(found, looks, atol=1e-6, err_msg="the step before wrote the word")
    (other,) = ask_views("describe", **asked, choice={"attention": "decoder.self"})
    assert other["title"] == "Where each word looked: the mean of the heads of layer 1"
    (nothing,) = ask_views("describe", **asked | {"text": ""})
    assert nothing["text"] == NOTHING_WRITTEN
