"""Patching maps: each number equals a run with that patch as an edit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headlight import TextError, Trace, Transformer, find_checkpoint, load, run
from headlight.analysis.patching import KEEP, PatchingMap, patching_map, path_patching
from headlight.text.tokenizer import Tokenizer
from tests.model import toys

TEXT, OTHER = "the cat sat on the mat", "the dog sat on the mat"
EDIT = "decoder.0.self.scores[2]=scale:0.5"


def restored(found: PatchingMap, patched: Trace) -> float:
    """The share of the difference that a patched run recovers."""
    logits = patched["logits"][found.position]
    difference = float(logits[found.other_answer] - logits[found.answer])
    return (difference - found.before) / (found.after - found.before)


@pytest.mark.parametrize(
    ("parts", "edits"),
    [
        ({}, ()),
        ({}, (EDIT,)),
        (toys.UNLIKE, ()),
        (toys.UNLIKE, (EDIT, "decoder.0.self.rotated_k=scale:2", "decoder.embedding[2]=scale:0.5")),
        (toys.STREAMS, ()),
        (toys.HYBRID, ()),
        (toys.STREAMS, (EDIT, "decoder.1.residual_streams[2]=scale:2", "decoder.1.residual=scale:0.5")),
    ],
)
def test_each_number_is_that_of_a_run_with_the_patch(parts: dict[str, Any], edits: tuple[str, ...]) -> None:
    model, tokenizer = toys.decoder(**parts), toys.causal()
    last = model.config.layers - 1
    trace, other = run(model, tokenizer, TEXT, edits), run(model, tokenizer, OTHER)
    found = patching_map(model, trace, other, answers=(7, 11))
    assert found.residual.shape == (last + 1, len(trace.text.ids)) and found.heads.shape == (last + 1, 4)
    for layer, place in ((0, 1), (1, 1), (last, len(trace.text.ids) - 1)):
        patch = f"decoder.{layer}.residual[{place}]=from:B"
        patched = run(model, tokenizer, TEXT, [*edits, patch], runs={"B": other})
        assert found.residual[layer, place] == pytest.approx(restored(found, patched), abs=1e-3)
    for layer, head in ((0, 2), (1, 3), (last, 0)):
        patch = f"decoder.{layer}.self.weighted_values[{head}]=from:B"
        patched = run(model, tokenizer, TEXT, [*edits, patch], runs={"B": other})
        assert found.heads[layer, head] == pytest.approx(restored(found, patched), abs=1e-3)
        if model.config.has_recurrence:  # freezing heads leaves the path through layers of linear attention open
            assert np.isnan(found.direct_heads).all()
            continue
        held = [f"decoder.{later}.self.weighted_values=from:A" for later in range(layer + 1, last + 1)]
        patched = run(model, tokenizer, TEXT, [*edits, patch, *held], runs={"A": trace, "B": other})
        assert found.direct_heads[layer, head] == pytest.approx(restored(found, patched), abs=1e-3)


def test_an_encoder_is_patched_for_its_decoder() -> None:
    model, tokenizer = toys.both(), toys.masked()
    trace, other = (run(model, tokenizer, "a bird", source=each) for each in (TEXT, OTHER))
    found = patching_map(model, trace, other, answers=(7, 11), stack="encoder")
    patch = "encoder.1.residual[1]=from:B"
    patched = run(model, tokenizer, "a bird", [patch], source=TEXT, runs={"B": other})
    assert found.residual[1, 1] == pytest.approx(restored(found, patched), abs=1e-3)


def test_the_cross_attention_after_a_patched_head_is_held_too() -> None:
    model, tokenizer = toys.both(), toys.masked()
    trace, other = (run(model, tokenizer, each, source="a bird") for each in (TEXT, OTHER))
    found = patching_map(model, trace, other, answers=(7, 11))
    edits = ["decoder.0.self.weighted_values[1]=from:B", "decoder.0.cross.weighted_values=from:A"]
    edits += [f"decoder.1.{kind}.weighted_values=from:A" for kind in ("self", "cross")]
    patched = run(model, tokenizer, TEXT, edits, source="a bird", runs={"A": trace, "B": other})
    assert found.direct_heads[0, 1] == pytest.approx(restored(found, patched), abs=1e-3)
    assert abs(found.direct_heads[0, 1] - found.heads[0, 1]) > 1e-4  # other heads carry part of the effect


@pytest.mark.parametrize("parts", [{"layers": 3}, *toys.UNUSUAL], ids=["own keys", "shared keys", "streams"])
@pytest.mark.parametrize("part", ["q", "k", "v"])
def test_what_a_head_says_to_a_later_head_is_computed_in_two_runs(part: str, parts: dict[str, Any]) -> None:
    model, tokenizer = toys.decoder(**parts), toys.causal()
    trace, other = run(model, tokenizer, TEXT), run(model, tokenizer, OTHER)
    found, pair = (
        path_patching(model, trace, other, f"decoder.2.self.{part}[1]", answers=(7, 11)),
        {"A": trace, "B": other},
    )
    assert found.shape == (2, 4)
    difference = patching_map(model, trace, other, answers=(7, 11))
    for layer, head in ((0, 2), (1, 3)):
        held = [f"decoder.{later}.self.weighted_values=from:A" for later in range(layer + 1, 3)]
        heard = run(model, tokenizer, TEXT, [f"decoder.{layer}.self.weighted_values[{head}]=from:B", *held], runs=pair)
        patch = f"decoder.2.self.{part}[1]=from:C"
        patched = run(model, tokenizer, TEXT, [patch], runs={"C": heard})
        assert found[layer, head] == pytest.approx(restored(difference, patched), abs=1e-3)
    if parts in toys.UNUSUAL and part != "q":
        np.testing.assert_allclose(found, 0, atol=1e-3)  # layer 2 reads keys and values from before all heads
    else:
        assert np.abs(found).max() > 1e-3


@pytest.mark.parametrize("receiver", ["decoder.0.self.q[0]", "decoder.9.self.q[0]", "decoder.1.self.weights[0]", "q"])
def test_a_receiver_that_hears_no_earlier_head_is_refused(receiver: str) -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    trace, other = run(model, tokenizer, TEXT), run(model, tokenizer, OTHER)
    with pytest.raises(TextError, match=r"such as decoder\.1\.self\.q"):
        path_patching(model, trace, other, receiver)
    with pytest.raises(TextError, match="0 to 3"):
        path_patching(model, trace, other, "decoder.1.self.q[4]")


@pytest.fixture(scope="module")
def induction() -> tuple[Transformer, Tokenizer]:
    checkpoint = load(find_checkpoint("induction"))
    return checkpoint.model, checkpoint.tokenizer


def test_the_induction_head_carries_the_word_that_was_exchanged(induction: tuple[Transformer, Tokenizer]) -> None:
    model, tokenizer = induction
    texts = [f"cat {word} sun cat" for word in ("dog", "sea")]
    trace, other = (run(model, tokenizer, text, keep=KEEP) for text in texts)
    found = patching_map(model, trace, other)
    exchanged = 2  # after <|endoftext|> and "cat"
    assert found.residual[0, exchanged] == pytest.approx(1, abs=1e-3)  # the texts differ only here
    assert np.abs(np.delete(found.residual[0], exchanged)).max() < 1e-3
    assert found.heads[1].max() > 2 * found.heads[0].max()  # the second layer copies


def test_texts_that_cannot_be_compared_get_a_sentence() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    trace = run(model, tokenizer, TEXT)
    with pytest.raises(TextError, match="equally many"):
        patching_map(model, trace, run(model, tokenizer, f"{TEXT} again and again"))
    with pytest.raises(TextError, match="same answer"):
        patching_map(model, trace, trace)
