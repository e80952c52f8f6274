"""Mixtures of experts: the router's choice is recorded, and an edit of it takes effect."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headlight import run
from headlight.analysis.neuron_attribution import attribute_neurons
from headlight.config import AttentionConfig, ExpertsConfig, LatentConfig
from headlight.errors import ConfigError
from headlight.nn.experts import MixtureOfExperts
from headlight.nn.transformer import Transformer
from tests.model import toys


def mixture(**experts: object) -> Transformer:
    return toys.decoder(feed_forward="swiglu", experts=ExpertsConfig(count=3, **experts))  # type: ignore[arg-type]


def test_each_token_goes_to_its_best_experts() -> None:
    trace = run(mixture(per_token=2), toys.causal(), toys.SENTENCE)
    scores, weights = (trace[f"decoder.0.feed_forward.router_{name}"] for name in ("scores", "weights"))
    assert weights.shape == (trace["decoder.0.residual"].shape[0], 3)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
    assert ((weights == 0).argmax(-1) == scores.argmin(-1)).all()


def test_shares_that_are_not_normalized_are_those_of_all_experts() -> None:
    trace = run(mixture(per_token=1, normalized=False), toys.causal(), toys.SENTENCE)
    scores, weights = (trace[f"decoder.0.feed_forward.router_{name}"] for name in ("scores", "weights"))
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(weights.max(-1), shares.max(-1), atol=1e-6)


def test_sigmoids_that_are_all_one_do_not_hide_the_best_expert() -> None:
    model = mixture(per_token=1, scoring="sigmoid", normalized=False)
    experts = model.stack("decoder").blocks[0].feed_forward
    assert isinstance(experts, MixtureOfExperts)
    assert experts.choose(torch.tensor([[[30.0, 40.0, 20.0]]])).tolist() == [[[0.0, 1.0, 0.0]]]


def test_a_share_may_multiply_what_an_expert_reads() -> None:
    model = mixture(per_token=1, scoring="sigmoid", normalized=False, share_of_input=True)
    trace = run(model, toys.causal(), toys.SENTENCE)
    experts = model.stack("decoder").blocks[0].feed_forward
    assert isinstance(experts, MixtureOfExperts)
    read, shares = (torch.tensor(trace[f"decoder.0.feed_forward.{name}"]) for name in ("input", "router_weights"))
    for token, chosen in enumerate(shares.argmax(-1).tolist()):
        wanted = experts.expert(chosen, (shares[token, chosen] * read[token])[None])[0]
        np.testing.assert_allclose(trace["decoder.0.feed_forward.output"][token], wanted, atol=1e-6)


def test_some_layers_may_have_experts_and_others_none() -> None:
    model = toys.decoder(experts=ExpertsConfig(count=3, dense_layers=(0,)))
    assert model.config.expert_layers == (1,)
    assert [isinstance(block.feed_forward, MixtureOfExperts) for block in model.stack("decoder").blocks] == [
        False,
        True,
    ]


def test_a_token_can_be_sent_to_another_expert() -> None:
    model = mixture(per_token=1)
    path = "decoder.0.feed_forward"
    edits = [f"{path}.router_weights=set:0", f"{path}.router_weights[:,2]=set:1"]
    trace = run(model, toys.causal(), toys.SENTENCE, edits)
    experts = model.stack("decoder").blocks[0].feed_forward
    assert isinstance(experts, MixtureOfExperts)
    read = torch.tensor(trace[f"{path}.input"])
    np.testing.assert_allclose(trace[f"{path}.output"], experts.expert(2, read).numpy(), atol=1e-6)


def test_neurons_of_experts_are_refused_by_a_sentence() -> None:
    model = mixture()
    trace = run(model, toys.causal(), toys.SENTENCE)
    with pytest.raises(ConfigError, match="not a sum of neurons"):
        attribute_neurons(model, trace, 0, 1, 2)


@pytest.mark.parametrize(
    "numbers",
    [
        {"count": -1}, {"count": 2, "per_token": 3}, {"count": 2**20},
        {"count": 4, "groups": 3}, {"count": 4, "groups": 2, "chosen_groups": 3},
        {"count": 4, "groups": 4}, {"count": 4, "groups": 4, "chosen_groups": 2, "group_best": 2},
        {"count": 4, "shared_d_ff": 2**30},
    ],
)  # fmt: skip
def test_numbers_of_experts_that_cannot_be_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="experts"):
        toys.config(experts=ExpertsConfig(**numbers))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sizes", [{"query_channels": -1}, {"shared_key_channels": 2}, {"key_value_channels": 3, "shared_key_channels": 4}]
)
def test_latent_vectors_that_cannot_be_are_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="latent"):
        toys.config(attention=AttentionConfig(latent=LatentConfig(**sizes)))


def test_experts_without_a_gate_are_refused() -> None:
    with pytest.raises(ConfigError, match="have a gate"):
        Transformer(toys.config(feed_forward="relu", experts=ExpertsConfig(count=2)))
