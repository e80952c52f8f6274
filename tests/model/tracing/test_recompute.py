"""What a long text's trace leaves out is made again exactly as the forward pass made it."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from model.errors import EditError
from model.nn.transformer import Transformer
from model.tracing.recompute import logits_at, max_pooled_weights, recompute_value
from model.tracing.run import run
from model.tracing.trace import Trace
from tests.model.toys import both, causal, decoder, masked

TEXT = "the cat sat on the mat and the dog ran"
EDITS = ((), ("decoder.1.self.weights[1]=set:0",), ("decoder.*.self.mask[:,5,2]=set:0", "decoder.0.self.q[0]=scale:2"),
         ("decoder.position_ids[3]=set:6", "decoder.1.self.scale[1]=scale:2"))  # fmt: skip
SITES = ("bias", "scores", "mask", "masked_scores", "weights")


def pair(model: Transformer, monkeypatch: pytest.MonkeyPatch, edits: tuple[str, ...] = ()) -> tuple[Trace, Trace]:
    """The same run kept whole, and kept as a long text's is."""
    source, words = (TEXT, masked()) if model.config.has_cross_attention else (None, causal())
    whole = run(model, words, TEXT, edits, source=source)
    monkeypatch.setattr(
        import_module("model.tracing.run"), "ATTENTION_BYTES_BUDGET", 0
    )  # the package calls its function run, too
    return whole, run(model, words, TEXT, edits, source=source)


@pytest.mark.parametrize("edits", EDITS)
@pytest.mark.parametrize("position", ["rope", "learned", "alibi", "relative"])
def test_one_head_and_region(position: str, edits: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder(positional_encoding=position)
    whole, lean = pair(model, monkeypatch, edits)
    assert not [path for path in lean.values if path.endswith(SITES) or path == "logits"]
    for site in SITES:
        path = f"decoder.1.self.{site}"
        made = recompute_value(model, lean, path, 1, range(2, 7), range(1, 4))
        np.testing.assert_allclose(made, whole[path][1, 2:7, 1:4], atol=1e-5)


def test_cross_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    model = both()
    whole, lean = pair(model, monkeypatch)
    for path in ("decoder.1.cross.weights", "encoder.0.self.weights"):
        rows, columns = whole[path].shape[1:]
        np.testing.assert_allclose(
            recompute_value(model, lean, path, 0, range(rows), range(columns)), whole[path][0], atol=1e-5
        )


@pytest.mark.parametrize("side", [3, 80])
def test_an_overview_holds_the_largest_of_each_block(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder()
    whole, lean = pair(model, monkeypatch)
    weights, allowed = max_pooled_weights(model, lean, "decoder.0.self", side=side)
    exact = whole["decoder.0.self.weights"]
    cells = min(side, exact.shape[-1])
    starts = np.arange(cells) * exact.shape[-1] // cells
    expected = np.maximum.reduceat(np.maximum.reduceat(exact, starts, axis=1), starts, axis=2)
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    may = np.maximum.reduceat(np.maximum.reduceat(whole["decoder.0.self.mask"], starts, axis=1), starts, axis=2)
    np.testing.assert_array_equal(allowed, may > 0)
    np.testing.assert_allclose(max_pooled_weights(model, lean, "decoder.0.self", 1, side)[0], weights[1:2], atol=1e-6)


@pytest.mark.parametrize("edits", [(), ("logits[3,5]=add:4",), ("decoder.final_residual[2:4]=scale:0.5",)])
def test_logits_of_one_place(edits: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder()
    whole, lean = pair(model, monkeypatch, edits)
    for place in (0, 3, -1):
        np.testing.assert_allclose(logits_at(model, lean, place), whole["logits"][place], atol=1e-5)


def test_a_bare_model_has_no_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder(output_head="none", tied_embeddings=False)
    with pytest.raises(EditError, match="no logits"):
        logits_at(model, pair(model, monkeypatch)[1], 0)
