"""Attention weights and moved values: shares by hand, and detection of sinks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headlight import EditError, Transformer
from headlight.analysis.moved_values import KEEP, attention_sinks, moved_values
from headlight.attention_groups import attention_groups
from tests.model import toys
from tests.model.toys import traced


def by_hand(model: Transformer, path: str, head: int, query: int) -> tuple[np.ndarray, np.ndarray]:
    """The shares of one row, from the definition."""
    trace = traced(model)
    attention = model.get_submodule(path.replace(".self", "").replace("decoder.", "decoder.blocks.")).self_attention
    size = model.config.value_head_dim
    projection = attention.output.weight.numpy()[:, head * size : (head + 1) * size]  # type: ignore[union-attr, operator]
    values = trace[f"{path}.v"][head // (model.config.heads // model.config.key_value_heads)]
    terms = trace[f"{path}.weights"][head, query][:, None] * (values @ projection.T)
    lengths, output = np.linalg.norm(terms, axis=1), terms.sum(0)
    return lengths / lengths.sum(), terms @ output / (output @ output)


@pytest.mark.parametrize("key_value_heads", [1, 4])
def test_shares_by_hand(key_value_heads: int) -> None:
    model = toys.decoder(key_value_heads=key_value_heads, value_head_dim=3, bias=True)
    found = moved_values(model, traced(model, keep=KEEP), "decoder.1.self")
    length, direction = by_hand(model, "decoder.1.self", 2, 5)
    np.testing.assert_allclose(found.length[2, 5], length, atol=1e-5)
    np.testing.assert_allclose(found.direction[2, 5], direction, atol=1e-4)


def test_rows_of_every_attention_add_up_to_one() -> None:
    both, unusual = toys.both(bias=True), [toys.decoder(**parts) for parts in toys.UNUSUAL]
    runs = [(both, traced(both, source="a small bird sang")), *((model, traced(model)) for model in unusual)]
    for model, trace in runs:
        for group in attention_groups(model.config):
            found = moved_values(model, trace, group.path(group.layers - 1))
            np.testing.assert_allclose(found.length.sum(-1), 1, atol=1e-5)
            np.testing.assert_allclose(found.direction.sum(-1), 1, atol=1e-4)


def test_a_head_that_attends_to_a_token_without_a_value_is_a_sink() -> None:
    """In one head the first token's score is raised and its value scaled to nearly zero."""
    model = toys.decoder()
    edits = ("decoder.1.self.scores[2,:,0]=add:5", "decoder.1.self.v[2,0]=scale:0.001")
    (sink, *others) = attention_sinks(model, traced(model, *edits))
    assert (sink.path, sink.head, sink.key) == ("decoder.1.self", 2, 0)
    assert sink.weight > 0.6 and sink.share < 0.2 and not [other for other in others if other.head == 2]
    assert not [sink for sink in attention_sinks(model, traced(model, edits[0])) if sink.head == 2 and sink.share < 0.2]


def test_an_empty_row_has_shares_of_zero() -> None:
    model = toys.decoder()
    found = moved_values(model, traced(model, "decoder.0.self.weights[1]=set:0"), "decoder.0.self")
    assert not found.length[1].any() and not found.direction[1].any()


def test_values_that_cancel_have_no_shares_along_their_direction() -> None:
    """Two tokens with equal weights, and values that are opposite but for a thousandth."""
    model = toys.decoder()
    halves = [f"decoder.0.self.weights[0,1,{key}]=set:0.5" for key in (0, 1)]
    trace = traced(model, *halves)
    values = trace["decoder.0.self.v"].copy()
    values[0, 1] = -0.999 * values[0, 0]
    opposed = replace(trace, values={**trace.values, "decoder.0.self.v": values})
    found = moved_values(model, opposed, "decoder.0.self")
    assert np.isnan(found.direction[0, 1]).all() and not np.isnan(found.direction[1:]).any()
    np.testing.assert_allclose(found.length[0, 1, :2], 0.5, atol=1e-3)


def test_less_than_is_needed_is_a_sentence() -> None:
    model = toys.decoder()
    with pytest.raises(EditError, match="holds no"):
        moved_values(model, traced(model, keep=("*.weights",)), "decoder.0.self")
    with pytest.raises(EditError, match="no attention"):
        moved_values(model, traced(model), "decoder.7.self")
