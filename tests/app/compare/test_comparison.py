"""Two questions compared: the numbers are those of the two runs."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from headlight import run, variant
from headlight.analysis.run_comparison import align, head_distance, jensen_shannon_distance
from headlight.checkpoints import save
from headlight.errors import HeadlightError
from headlight.rendering.html import quantize_weights
from headlight.views.words import quoted
from headlight_app.compare.contract import CompareAnswer
from headlight_app.contract.request import LONG_TEXT, Lane
from headlight_app.inference.open_models import open_checkpoint
from tests.app.asking import ask_worker, make_request
from tests.families.gguf_files import FILE, SIZES, small, write
from tests.model import toys

TEXT = "the cat sat on the mat"
OTHER = "she gave the cat the ball on the mat"


def ask(left: object, right: object, **body: Any) -> tuple[CompareAnswer, bytes]:
    """The answer, decoded from its wire format."""
    answer, numbers = ask_worker("compare", sides=[left, right], **body)
    return msgspec.convert(answer, CompareAnswer), numbers


def distances(answer: CompareAnswer, attention: int = 0) -> np.ndarray:
    """The distance of each head, [layer head]; NaN if undefined."""
    table = answer.attentions[attention].rows[0]["views"][0]["tables"]["Distance of each head"]
    return np.array(table["values"], dtype=float)


def candidates(answer: CompareAnswer) -> dict[str, list[float]]:
    """The numbers of A and of B by the text of each candidate; NaN if a side cannot predict it."""
    (row,) = answer.rows
    (table,) = row["views"][0]["tables"].values()
    names = [name.partition(" ")[2] for name in table["axes"]["token"]]
    return dict(zip(names, np.array(table["values"], dtype=float).tolist(), strict=True))


def causal(text: str = TEXT, variant: Mapping[str, str] = {}, **choices: Any) -> dict[str, Any]:
    return {"model": "next", "text": text, "variant": variant, **choices}


def test_a_run_compared_with_itself_has_distance_0() -> None:
    answer, numbers = ask(causal(), causal())
    assert len(answer.attentions) == 1 and np.allclose(distances(answer), 0)
    assert answer.rows[0]["text"].endswith("Jensen–Shannon distance 0.000")
    assert all(left == right for left, right in candidates(answer).values())
    half = len(numbers) // 2
    assert numbers[:half] == numbers[half:]


def test_distances_are_those_of_the_two_runs() -> None:
    answer, _ = ask(causal(), causal(OTHER, {"positional_encoding": "alibi"}))
    model, tokenizer = open_checkpoint("next").model, open_checkpoint("next").tokenizer
    one, other = run(model, tokenizer, TEXT), run(variant(model, positional_encoding="alibi"), tokenizer, OTHER)
    pairs = align(one.text, other.text)
    assert answer.alignments == {"text": pairs}
    wanted = head_distance(one.attention(), other.attention(), pairs, pairs)
    np.testing.assert_allclose(distances(answer), wanted, atol=1e-5)
    assert answer.sides[1].notes and not answer.sides[0].notes


def test_heads_drift_further_the_fewer_bits_their_weights_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small(("llama", "LlamaForCausalLM", SIZES))
    for kind in ("F32", "Q8_0", "Q4_0"):
        write(model, "llama", tmp_path / kind, kind)
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    sides = {kind: {"model": f"{kind}/{FILE}", "text": TEXT} for kind in ("F32", "Q8_0", "Q4_0")}
    drifts = [distances(ask(sides["F32"], sides[kind])[0]) for kind in sides]
    assert drifts[0].shape == (2, 4) and not drifts[0].any()
    assert drifts[1].min() > 0 and drifts[1].max() < 0.05
    assert (drifts[2] > 3 * drifts[1]).all()


def test_a_side_says_how_much_of_its_text_its_model_does_not_know() -> None:
    foreign = {"model": "mood", "text": "the 猫 sat", "variant": {"positional_encoding": "none"}}
    answer, _ = ask(causal(), foreign)
    assert not answer.sides[0].notes
    replaced, unknown = answer.sides[1].notes
    assert replaced.startswith("Positional encoding: None instead of")
    assert unknown.startswith("1 of 5 tokens are [UNK], which replaces text that this model has no token for.")


def test_parts_that_a_model_was_trained_with_are_no_note() -> None:
    answer, _ = ask(causal(), causal(variant={"masks": "causal"}))
    assert not answer.sides[1].notes


def test_the_same_words_in_another_order_are_paired_by_word_unless_told_otherwise() -> None:
    """A model without positions and mask ignores word order: its heads are equal up to the swap."""
    side = {"model": "masked", "variant": {"positional_encoding": "none"}}
    sides = {**side, "text": "the cat saw the dog"}, {**side, "text": "the dog saw the cat"}
    by_word, _ = ask(*sides)
    in_order, _ = ask(*sides, alignment="tokens")
    assert (by_word.alignment, in_order.alignment) == ("words", "tokens")
    assert distances(by_word).max() < 1e-6 and distances(in_order).max() > 1e-3
    assert ask(causal(), causal(OTHER))[0].alignment == "tokens"


def test_the_bytes_are_the_quantized_weights_of_both_sides() -> None:
    answer, numbers = ask(causal(), causal(OTHER))
    for side, text in zip(answer.sides, (TEXT, OTHER), strict=True):
        traced = run(open_checkpoint("next").model, open_checkpoint("next").tokenizer, text)
        (grid,) = side.attention_groups
        size = grid.layers * grid.heads * np.prod(grid.pooled_shape)
        found = np.frombuffer(numbers[grid.offset : grid.offset + size], np.uint8)
        wanted = quantize_weights(
            traced.attention(), np.stack([traced[f"decoder.{layer}.self.mask"] for layer in range(2)])
        )
        assert np.array_equal(found.reshape(wanted.shape), wanted)


def test_predictions_are_of_corresponding_tokens() -> None:
    answer, _ = ask(causal(), causal(OTHER), query=2)
    ((ours, theirs),) = answer.positions
    assert ours == 2 and (ours, theirs) in answer.alignments["text"]
    shares = [
        run(open_checkpoint("next").model, open_checkpoint("next").tokenizer, text).probabilities(place).astype(float)
        for text, place in ((TEXT, ours), (OTHER, theirs))
    ]
    assert answer.rows[0]["text"].endswith(f"distance {float(jensen_shannon_distance(*shares)):.3f}")
    numbers = {
        open_checkpoint("next").tokenizer.token_text(number): number
        for number in range(open_checkpoint("next").tokenizer.vocabulary_size)
    }
    assert candidates(answer)
    for text, pair in candidates(answer).items():
        assert pair == pytest.approx([side[numbers[text]] for side in shares], rel=1e-4)


def test_labels_are_of_the_whole_text() -> None:
    answer, _ = ask({"model": "mood", "text": TEXT}, {"model": "mood", "text": OTHER}, query=2)
    assert answer.rows[0]["text"].startswith("A: of the whole text · B: of the whole text · Jensen–Shannon distance 0.")


def test_two_vocabularies_are_compared_by_the_texts_of_their_tokens() -> None:
    answer, _ = ask(causal("the cat"), {"model": "masked", "text": "the [MASK]"})
    (row,) = answer.rows
    assert row["title"] == "Next token / Masked token" and row["views"][0]["missing"] == "cannot"
    cat, mask = quoted("cat"), quoted("[MASK]")
    assert row["text"].startswith(f"A: after {cat} (position 2) · B: at {mask} (position 2) · ")
    models = [open_checkpoint(name) for name in ("next", "masked")]
    shares = [run(models[0].model, models[0].tokenizer, "the cat").probabilities(-1)]
    shares.append(run(models[1].model, models[1].tokenizer, "the [MASK]").probabilities(2))
    for text, pair in candidates(answer).items():
        for number, share, model in zip(pair, shares, models, strict=True):
            same = [n for n in range(model.tokenizer.vocabulary_size) if model.tokenizer.stripped_token_text(n) == text]
            assert np.isnan(number) == (not same)
            assert not same or number == pytest.approx(share[same].sum(), rel=1e-4)
    assert answer.attentions[0].right_name == "encoder.self"


def test_predictions_of_two_models_are_at_the_same_word() -> None:
    answer, _ = ask(causal("the cat"), {"model": "masked", "text": "the cat"})
    (positions,) = answer.positions
    assert positions in answer.alignments["text"]


def test_masked_tokens_are_compared_in_their_order() -> None:
    left = {"model": "masked", "text": "the cat sat", "masked_positions": [1, 3]}
    right = {"model": "masked", "text": "the dog lay", "masked_positions": [2, 3]}
    answer, _ = ask(left, right)
    assert answer.positions == ((1, 2), (3, 3))
    saved = [tuple(row["views"][0]["tables"]) for row in answer.rows]
    assert saved == [("Predictions at position 1",), ("Predictions at position 3",)]


def test_sources_correspond_too() -> None:
    left = {"model": "both", "text": "the cat", "source": "the dog lay on the rug"}
    answer, _ = ask(left, {**left, "source": "the dog sat on the rug"})
    assert [attention.left_name for attention in answer.attentions] == [
        "decoder.self",
        "decoder.cross",
        "encoder.self",
    ]
    assert set(answer.alignments) == {"text", "source"}
    assert distances(answer, 2).shape == (2, 4)


def test_labels_are_compared_by_name() -> None:
    answer, _ = ask({"model": "mood", "text": "the cat"}, {"model": "mood", "text": "the dog"})
    assert set(candidates(answer)) == {"glad", "sad"}


def test_a_head_switched_off_is_the_one_that_differs_most() -> None:
    answer, _ = ask(causal(), causal(edits=["decoder.1.self.weights[3]=set:0"]))
    apart = distances(answer)
    assert int(apart.argmax()) == 4 * 1 + 3
    assert apart.max() == 1
    assert answer.attentions[0].most_distant == (1, 3)
    distance, ranked = answer.attentions[0].rows
    assert distance["views"][0]["details"][1][3] == "1.000" and distance["views"][0]["picks"][1][3] == {
        "layer": 1,
        "head": 3,
    }
    assert ranked["views"][0]["options"] == ["layer 1, head 3 · 1.000"]


def test_a_model_without_a_head_predicts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "bare", toys.encoder(output_head="none"), toys.masked(), dtype="float32")
    monkeypatch.setenv("HEADLIGHT_MODELS", os.pathsep.join([os.environ["HEADLIGHT_MODELS"], str(tmp_path)]))
    answer, _ = ask(causal(), {"model": "bare", "text": TEXT})
    (row,) = answer.rows
    assert not answer.positions and not row["views"]
    assert (row["title"], row["text"]) == ("No prediction", "At least one of the two models ends without a head.")


@pytest.mark.parametrize(
    ("edit", "heads"),
    [
        ("decoder.1.self.weights[3]=set:0", ((1, 3),)),
        ("decoder.1.self.weights[3]=scale:0", ((1, 3),)),
        ("decoder.*.self.weights[0]=set:0", ((0, 0), (1, 0))),
        ("decoder.1.self.weights[0:2]=set:0", ((1, 0), (1, 1))),
        ("decoder.0.self.weights[2:,:]=set:0", ((0, 2), (0, 3))),
        ("decoder.1.self.weights=set:0", ((1, 0), (1, 1), (1, 2), (1, 3))),
        ("decoder.1.self.weights[3,2]=set:0", ()),
        ("decoder.1.self.weights[3]=set:1", ()),
        ("decoder.1.self.mask=set:1", ()),
    ],
)
def test_the_answer_says_which_heads_each_edit_switches_off(edit: str, heads: tuple[tuple[int, int], ...]) -> None:
    answer, _ = ask(causal(), causal(edits=[edit]))
    (left,), (right,) = (side.attention_groups for side in answer.sides)
    assert (left.ablations, right.ablations) == ({}, {edit: heads})


@pytest.mark.parametrize(
    ("left", "right", "body", "said"),
    [
        (causal(""), causal(), {}, "A: The text is empty"),
        (causal(), causal(model="nowhere"), {}, "B: There is no model"),
        (causal(), causal(variant={"positional_encoding": "gps"}), {}, "B: "),
        (causal(), None, {}, "sides[1] is None; expected a table of fields"),
        (causal(), {"text": TEXT}, {}, "The sides[1] lacks a field: model"),
        (causal(), causal(masks="none"), {}, "The sides[1] has a field that is not known: masks"),
        (causal(), causal(), {"alignment": "meaning"}, "meaning"),
    ],
)
def test_what_cannot_be_compared_gets_a_sentence(left: object, right: object, body: dict[str, Any], said: str) -> None:
    with pytest.raises(HeadlightError, match=re.escape(said)):
        ask(left, right, **body)


def test_both_sides_are_found_where_models_and_pictures_are_looked_for() -> None:
    own, shipped = causal(model="mine", image="own-1"), causal(image="cat")
    for sides in ([own, shipped], [shipped, own]):
        request = make_request("compare", sides=sides)
        assert set(request.models()) == {"mine", "next"} and set(request.images()) == {"own-1", "cat"}
        assert request.wanted_lane() == Lane.SHORT
    long = make_request("compare", sides=[causal(), causal("cat " * LONG_TEXT)])
    assert long.wanted_lane() == Lane.LONG


def test_a_text_too_long_to_compare_all_heads_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headlight_app.compare.answers.side.MAX_WEIGHTS", 100)
    with pytest.raises(HeadlightError, match="at most 3"):
        ask(causal(), causal())
