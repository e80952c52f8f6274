"""The route of the Compare page: its numbers are those of the two runs."""

import json
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.ui.wire_format import unpack
from app.worker.open_models import open_checkpoint
from model import run, variant
from model.analysis.run_comparison import align, head_distance, jensen_shannon_distance
from model.rendering.quantize import quantize_weights

TEXT = "the cat sat on the mat"
OTHER = "she gave the cat the ball on the mat"


def ask(client: TestClient, left: object, right: object, **body: Any) -> tuple[dict[str, Any], bytes]:
    content = json.dumps({"side_a": left, "side_b": right, **body})
    answer = client.post("/api/compare", content=content, headers={"Content-Type": "application/json"})
    return unpack(answer.content)


def causal(text: str = TEXT, **choices: Any) -> dict[str, Any]:
    return {"model": "next", "text": text, **choices}


def test_a_run_compared_with_itself_has_distance_0(client: TestClient) -> None:
    meta, numbers = ask(client, causal(), causal())
    (attention,) = meta["attentions"]
    assert np.allclose(attention["distance"], 0)
    (prediction,) = meta["predictions"]
    assert prediction["distance"] == 0
    assert all(item["left"] == item["right"] for item in prediction["candidates"])
    half = len(numbers) // 2
    assert numbers[:half] == numbers[half:]


def test_distances_are_those_of_the_two_runs(client: TestClient) -> None:
    meta, _ = ask(client, causal(), causal(OTHER, positional_encoding="alibi"))
    model, tokenizer = open_checkpoint("next").model, open_checkpoint("next").tokenizer
    one, other = run(model, tokenizer, TEXT), run(variant(model, positional_encoding="alibi"), tokenizer, OTHER)
    pairs = align(one.text, other.text)
    assert meta["alignments"] == {"text": [list(pair) for pair in pairs]}
    wanted = head_distance(one.attention(), other.attention(), pairs, pairs)
    np.testing.assert_allclose(meta["attentions"][0]["distance"], wanted, atol=1e-5)
    assert meta["sides"][1]["notes"] and not meta["sides"][0]["notes"]


def test_the_same_words_in_another_order_are_paired_by_word_unless_told_otherwise(client: TestClient) -> None:
    """A model without positions and mask does not know the order: its heads are equal up to the swap."""
    side = {"model": "masked", "positional_encoding": "none"}
    sides = {**side, "text": "the cat saw the dog"}, {**side, "text": "the dog saw the cat"}
    by_word, _ = ask(client, *sides)
    in_order, _ = ask(client, *sides, alignment="tokens")
    assert (by_word["alignment"], in_order["alignment"]) == ("words", "tokens")
    distances = [np.max(meta["attentions"][0]["distance"]) for meta in (by_word, in_order)]
    assert distances[0] < 1e-6 and distances[1] > 1e-3
    assert ask(client, causal(), causal(OTHER))[0]["alignment"] == "tokens"


def test_the_bytes_are_the_quantized_weights_of_both_sides(client: TestClient) -> None:
    meta, numbers = ask(client, causal(), causal(OTHER))
    for side, text in zip(meta["sides"], (TEXT, OTHER), strict=True):
        traced = run(open_checkpoint("next").model, open_checkpoint("next").tokenizer, text)
        (grid,) = side["attention_groups"]
        size = grid["layers"] * grid["heads"] * np.prod(grid["pooled_shape"])
        found = np.frombuffer(numbers[grid["offset"] : grid["offset"] + size], np.uint8)
        wanted = quantize_weights(
            traced.attention(), np.stack([traced[f"decoder.{layer}.self.mask"] for layer in range(2)])
        )
        assert np.array_equal(found.reshape(wanted.shape), wanted)


def test_predictions_are_of_corresponding_tokens(client: TestClient) -> None:
    meta, _ = ask(client, causal(), causal(OTHER), query=2)
    (prediction,) = meta["predictions"]
    ours, theirs = prediction["positions"]
    assert ours == 2 and [ours, theirs] in meta["alignments"]["text"]
    shares = [
        run(open_checkpoint("next").model, open_checkpoint("next").tokenizer, text).probabilities(place).astype(float)
        for text, place in ((TEXT, ours), (OTHER, theirs))
    ]
    assert prediction["distance"] == pytest.approx(float(jensen_shannon_distance(*shares)), abs=1e-5)
    numbers = {
        open_checkpoint("next").tokenizer.token_text(number): number
        for number in range(open_checkpoint("next").tokenizer.vocabulary_size)
    }
    assert prediction["candidates"]
    for item in prediction["candidates"]:
        pair = item["left"], item["right"]
        assert pair == pytest.approx([side[numbers[item["text"]]] for side in shares], rel=1e-4)


def test_labels_are_of_the_whole_text(client: TestClient) -> None:
    meta, _ = ask(client, {"model": "mood", "text": TEXT}, {"model": "mood", "text": OTHER}, query=2)
    (prediction,) = meta["predictions"]
    assert prediction["places"] == [["of the whole text", None]] * 2


def test_two_vocabularies_are_compared_by_the_texts_of_their_tokens(client: TestClient) -> None:
    meta, _ = ask(client, causal("the cat"), {"model": "masked", "text": "the [MASK]"})
    (prediction,) = meta["predictions"]
    assert prediction["titles"] == ["Next token", "Masked token"]
    assert [preposition for preposition, _ in prediction["places"]] == ["after ", "at "]
    models = [open_checkpoint(name) for name in ("next", "masked")]
    shares = [run(models[0].model, models[0].tokenizer, "the cat").probabilities(-1)]
    shares.append(run(models[1].model, models[1].tokenizer, "the [MASK]").probabilities(2))
    for item in prediction["candidates"]:
        for side, share, model in zip(("left", "right"), shares, models, strict=True):
            same = [
                n
                for n in range(model.tokenizer.vocabulary_size)
                if model.tokenizer.stripped_token_text(n) == item["text"]
            ]
            assert (item[side] is None) == (not same)
            assert item[side] is None or item[side] == pytest.approx(share[same].sum(), rel=1e-4)
    assert meta["attentions"][0]["right_name"] == "encoder.self"


def test_predictions_of_two_models_are_at_the_same_word(client: TestClient) -> None:
    meta, _ = ask(client, causal("the cat"), {"model": "masked", "text": "the cat"})
    (prediction,) = meta["predictions"]
    assert prediction["positions"] in meta["alignments"]["text"]


def test_masked_tokens_are_compared_in_their_order(client: TestClient) -> None:
    left = {"model": "masked", "text": "the cat sat", "masked_positions": [1, 3]}
    right = {"model": "masked", "text": "the dog lay", "masked_positions": [2, 3]}
    meta, _ = ask(client, left, right)
    assert [prediction["positions"] for prediction in meta["predictions"]] == [[1, 2], [3, 3]]


def test_sources_correspond_too(client: TestClient) -> None:
    left = {"model": "both", "text": "the cat", "source": "the dog lay on the rug"}
    meta, _ = ask(client, left, {**left, "source": "the dog sat on the rug"})
    assert [attention["left_name"] for attention in meta["attentions"]] == [
        "decoder.self",
        "decoder.cross",
        "encoder.self",
    ]
    assert set(meta["alignments"]) == {"text", "source"}
    assert np.shape(meta["attentions"][2]["distance"]) == (2, 4)


def test_labels_are_compared_by_name(client: TestClient) -> None:
    meta, _ = ask(client, {"model": "mood", "text": "the cat"}, {"model": "mood", "text": "the dog"})
    assert {item["text"] for item in meta["predictions"][0]["candidates"]} == {"glad", "sad"}


def test_a_head_switched_off_is_the_one_that_differs_most(client: TestClient) -> None:
    meta, _ = ask(client, causal(), causal(edits=["decoder.1.self.weights[3]=set:0"]))
    apart = np.array(meta["attentions"][0]["distance"])
    assert int(apart.argmax()) == 4 * 1 + 3
    assert apart.max() == 1


@pytest.mark.parametrize(
    ("edit", "heads"),
    [
        ("decoder.1.self.weights[3]=set:0", [[1, 3]]),
        ("decoder.1.self.weights[3]=scale:0", [[1, 3]]),
        ("decoder.*.self.weights[0]=set:0", [[0, 0], [1, 0]]),
        ("decoder.1.self.weights[0:2]=set:0", [[1, 0], [1, 1]]),
        ("decoder.0.self.weights[2:,:]=set:0", [[0, 2], [0, 3]]),
        ("decoder.1.self.weights=set:0", [[1, 0], [1, 1], [1, 2], [1, 3]]),
        ("decoder.1.self.weights[3,2]=set:0", []),
        ("decoder.1.self.weights[3]=set:1", []),
        ("decoder.1.self.mask=set:1", []),
    ],
)
def test_the_answer_says_which_heads_each_edit_switches_off(
    client: TestClient, edit: str, heads: list[list[int]]
) -> None:
    meta, _ = ask(client, causal(), causal(edits=[edit]))
    (left,), (right,) = (side["attention_groups"] for side in meta["sides"])
    assert (left["ablations"], right["ablations"]) == ({}, {edit: heads})


@pytest.mark.parametrize(
    ("left", "right", "body", "said"),
    [
        (causal(""), causal(), {}, "A: The text is empty"),
        (causal(), causal(model="nowhere"), {}, "B: There is no model"),
        (causal(), causal(positional_encoding="gps"), {}, "B: "),
        (causal(), None, {}, "two questions"),
        (causal(), {"model": "next"}, {}, "B: The question lacks text"),
        (causal(), causal(), {"alignment": "meaning"}, "meaning"),
    ],
)
def test_what_cannot_be_compared_gets_a_sentence(
    client: TestClient, left: object, right: object, body: dict[str, Any], said: str
) -> None:
    meta, numbers = ask(client, left, right, **body)
    assert said in meta["error"]
    assert "Something went wrong" not in meta["error"]
    assert not numbers


def test_a_text_too_long_to_compare_all_heads_gets_a_sentence(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.compare.api.MAX_WEIGHTS", 100)
    meta, _ = ask(client, causal(), causal())
    assert "at most 3" in meta["error"]
