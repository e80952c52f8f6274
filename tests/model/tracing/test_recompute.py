"""Values omitted from the trace of a long text are recomputed as in the forward pass."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from headlight.config import EmbeddingConfig
from headlight.errors import EditError
from headlight.nn.transformer import Transformer
from headlight.tracing import request
from headlight.tracing.recompute import (
    RecomputedAttention,
    logits_at,
    max_pool,
    max_pooled_value,
    recompute_value,
    trace_logits,
)
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from tests.model import toys
from tests.model.toys import both, captioner, causal, decoder, listener, masked, reader, summarizer

TEXT = "the cat sat on the mat and the dog ran"
EDITS = ((), ("decoder.1.self.weights[1]=set:0",), ("decoder.*.self.mask[:,5,2]=set:0", "decoder.0.self.q[0]=scale:2"),
         ("decoder.position_ids[3]=set:6", "decoder.1.self.scale[1]=scale:2"))  # fmt: skip
RECOMPUTED = ("bias", "scores", "mask", "masked_scores", "weights")


def full_and_lean_trace(
    model: Transformer, monkeypatch: pytest.MonkeyPatch, edits: tuple[str, ...] = ()
) -> tuple[Trace, Trace]:
    """The trace of a run with all values, and with those kept for a long text."""
    source, words = toys.source(model, TEXT), masked() if model.config.has_cross_attention else causal()
    full = run(model, words, TEXT, edits, source=source)
    monkeypatch.setattr(request, "ATTENTION_BYTES_BUDGET", 0)
    return full, run(model, words, TEXT, edits, source=source)


@pytest.mark.parametrize("edits", EDITS)
@pytest.mark.parametrize("position", ["rope", "learned", "alibi", "relative"])
def test_a_region_of_some_heads_is_recomputed(
    position: str, edits: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = decoder(positional_encoding=position)
    full, lean = full_and_lean_trace(model, monkeypatch, edits)
    assert not [path for path in lean.values if path.endswith(RECOMPUTED) or path == "logits"]
    for site in RECOMPUTED:
        path = f"decoder.1.self.{site}"
        found = recompute_value(model, lean, path, range(1, 3), range(2, 7), range(1, 4))
        np.testing.assert_allclose(found, full[path][1:3, 2:7, 1:4], atol=1e-5)


@pytest.mark.parametrize("edits", [(), ("decoder.1.self.k=add:0.3",), ("decoder.0.self.rotated_k[1]=scale:2",)])
@pytest.mark.parametrize("parts", toys.UNUSUAL, ids=["unlike", "streams"])
def test_keys_of_another_layer_are_recomputed(
    parts: dict[str, Any], edits: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = decoder(**parts)
    full, lean = full_and_lean_trace(model, monkeypatch, edits)
    for layer in range(4):
        path = f"decoder.{layer}.self.weights"
        found = recompute_value(model, lean, path, range(4), range(7), range(7))
        np.testing.assert_allclose(found, full[path][:, :7, :7], atol=1e-5)


@pytest.mark.parametrize("make", [both, captioner, listener, reader, summarizer])
def test_cross_attention_and_the_encoder_are_recomputed(
    make: Callable[[], Transformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make()
    full, lean = full_and_lean_trace(model, monkeypatch)
    for path in ("decoder.1.cross.weights", "encoder.0.self.weights"):
        rows, columns = full[path].shape[1:]
        np.testing.assert_allclose(
            recompute_value(model, lean, path, range(1), range(rows), range(columns)), full[path][:1], atol=1e-5
        )


@pytest.mark.parametrize("side", [3, 80])
def test_max_pooled_values_are_the_largest_of_each_block(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder()
    full, lean = full_and_lean_trace(model, monkeypatch)
    weights, allowed = max_pooled_value(model, lean, "decoder.0.self.weights", side)
    exact = full["decoder.0.self.weights"]
    cells = min(side, exact.shape[-1])
    starts = np.arange(cells) * exact.shape[-1] // cells
    expected = np.maximum.reduceat(np.maximum.reduceat(exact, starts, axis=1), starts, axis=2)
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    may = np.maximum.reduceat(np.maximum.reduceat(full["decoder.0.self.mask"], starts, axis=1), starts, axis=2)
    np.testing.assert_array_equal(allowed, may > 0)
    one_head, _ = max_pooled_value(model, lean, "decoder.0.self.weights", side, slice(1, 2))
    np.testing.assert_allclose(one_head, weights[1:2], atol=1e-6)
    region, _ = max_pooled_value(model, lean, "decoder.0.self.scores", side, slice(2, 3), range(2, 9), range(1, 5))
    scores, _ = max_pooled_value(model, lean, "decoder.0.self.scores", 80)
    np.testing.assert_allclose(region, max_pool(scores[2:3, 2:9, 1:5], side), atol=1e-6)


@pytest.mark.parametrize("edits", [(), ("logits[3,5]=add:4",), ("decoder.final_residual[2:4]=scale:0.5",)])
def test_logits_of_one_position(edits: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder()
    full, lean = full_and_lean_trace(model, monkeypatch, edits)
    for place in (0, 3, -1):
        np.testing.assert_allclose(logits_at(model, lean, place), full["logits"][place], atol=1e-5)


def test_a_mean_over_all_tokens_is_in_the_logits_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder()
    full, lean = full_and_lean_trace(model, monkeypatch, ("logits[2]=mean",))
    np.testing.assert_allclose(logits_at(model, lean, 2), full["logits"][2], atol=1e-5)


def test_the_logits_of_a_pooled_classifier_are_those_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder(
        output_head="sequence-classifier", labels=("good", "bad"), pooling="mean", embedding=EmbeddingConfig(tied=False)
    )
    full, lean = full_and_lean_trace(model, monkeypatch)
    np.testing.assert_allclose(trace_logits(model, lean).numpy(), full["logits"], atol=1e-5)
    np.testing.assert_allclose(logits_at(model, lean, 3), full["logits"], atol=1e-5)


def test_a_region_is_recomputed_a_chunk_of_queries_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder()
    full, lean = full_and_lean_trace(model, monkeypatch)
    monkeypatch.setattr("headlight.nn.attention.CELLS_AT_ONCE", 130)
    shapes = []
    compute = RecomputedAttention.compute

    def watched(attention: RecomputedAttention, queries: slice, heads: slice) -> Any:
        values = compute(attention, queries, heads)
        shapes.append(values["weights"].shape)
        return values

    monkeypatch.setattr(RecomputedAttention, "compute", watched)
    found = recompute_value(model, lean, "decoder.0.self.weights", range(1, 2), range(1, 10), range(0, 4))
    np.testing.assert_allclose(found, full["decoder.0.self.weights"][1:2, 1:10, :4], atol=1e-5)
    assert {shape[:2] for shape in shapes} <= {(1, 2), (1, 3), (1, 1)}, "one head, few queries"


def test_a_model_without_an_output_head_has_no_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder(output_head="none", embedding=EmbeddingConfig(tied=False))
    with pytest.raises(EditError, match="no logits"):
        logits_at(model, full_and_lean_trace(model, monkeypatch)[1], 0)
