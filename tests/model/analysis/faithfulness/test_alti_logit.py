"""ALTI-Logit: tokens and rest add up to the logit, and both steps follow their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from headlight import ConfigError
from headlight.analysis.faithfulness.alti_logit import KEEP, alti_logit
from headlight.nn.layers import RMSNorm
from tests.model import toys
from tests.model.toys import traced

ANSWER, PLACE = 7, 5


@pytest.mark.parametrize("placement", toys.NORMED_PLACEMENTS)
def test_tokens_and_rest_add_up_to_the_logit(placement: str) -> None:
    model = toys.decoder(norm_placement=placement, bias=True, key_value_heads=2)
    trace = traced(model)
    found = alti_logit(model, trace, 3, ANSWER)
    assert found.tokens.sum() + found.rest == pytest.approx(trace["logits"][3, ANSWER], abs=1e-4)
    assert not found.tokens[4:].any(), "later tokens contribute nothing"
    encoder = toys.encoder(norm_placement=placement)
    trace = traced(encoder)
    found = alti_logit(encoder, trace, 2, ANSWER)
    assert found.tokens.sum() + found.rest == pytest.approx(trace["logits"][2, ANSWER], abs=1e-4)
    assert found.tokens.all()


def test_layers_that_share_keys_and_are_scaled_add_up_too() -> None:
    model = toys.decoder(**toys.UNLIKE)
    trace = traced(model, "decoder.0.self.v=scale:2")
    found = alti_logit(model, trace, 5, ANSWER)
    assert found.tokens.sum() + found.rest == pytest.approx(trace["logits"][5, ANSWER], abs=1e-4)
    assert abs(found.rest) > 1e-3, "the layer embeddings and feed-forwards contribute"


def test_two_layers_of_attention_by_hand() -> None:
    """The first layer's proximities redistribute the second layer's contributions; there is no norm on the stream."""
    model = toys.decoder(feed_forward="none")
    trace = traced(model)
    found = alti_logit(model, traced(model, keep=KEEP), PLACE, ANSWER)
    stack = model.stack("decoder")
    norm = stack.final_norm
    assert isinstance(norm, RMSNorm)
    stream = trace["decoder.residual"][PLACE]
    direction = model.embedding.weight[ANSWER].numpy() * norm.weight.numpy() / np.sqrt((stream**2).mean() + norm.eps)
    terms = []
    for layer in range(2):
        projection = stack.blocks[layer].self_attention.output.weight.numpy().reshape(16, 4, 4)  # type: ignore[union-attr, operator]
        weights, values = (trace[f"decoder.{layer}.self.{name}"] for name in ("weights", "v"))
        terms.append(np.einsum("hqk,hkc,dhc->qkd", weights, values, projection))
    first = terms[0] + np.eye(len(stream[:0]) + len(trace.text.ids))[:, :, None] * trace["decoder.0.residual"]
    whole = first.sum(1, keepdims=True)
    shares = np.maximum(np.abs(whole).sum(-1) - np.abs(whole - first).sum(-1), 0)
    shares /= shares.sum(-1, keepdims=True)
    wanted = terms[0][PLACE] @ direction + (terms[1][PLACE] @ direction) @ shares
    wanted[PLACE] += trace["decoder.embedding"][PLACE] @ direction
    np.testing.assert_allclose(found.tokens, wanted, atol=1e-4)
    assert found.rest == pytest.approx(0, abs=1e-4)


def test_several_streams_cannot_be_shared_out() -> None:
    model = toys.decoder(**toys.STREAMS)
    with pytest.raises(ConfigError, match="several residual streams side by side; ALTI-Logit is not available"):
        alti_logit(model, traced(model), 1, ANSWER)


def test_two_texts_cannot_be_shared_out() -> None:
    model = toys.both()
    with pytest.raises(ConfigError, match="reads two"):
        alti_logit(model, traced(model, source="a small bird sang"), 1, ANSWER)
