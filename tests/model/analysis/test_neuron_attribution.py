"""Neurons of a feed-forward: they add up to its contribution, and each follows its definition."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from headlight import ConfigError, EditError, TextError, Trace, Transformer
from headlight.analysis.attribution import attribute_logits
from headlight.analysis.neuron_attribution import (
    NeuronAttribution,
    attribute_neurons,
    neuron_vocabulary,
    neurons_path,
)
from headlight.analysis.residual_stream import KEEP, Component
from headlight.config import EmbeddingConfig, OutputHeadConfig, ResidualConfig
from headlight.nn.layers import FEED_FORWARDS, NORMS, RMSNorm
from headlight.nn.stack import NORM_PLACEMENTS
from tests.model import toys
from tests.model.toys import traced
from tests.sampling import combinations

ANSWER = 7


def assert_adds_up(model: Transformer, trace: Trace, position: int, layer: int) -> NeuronAttribution:
    """The neurons, the bias and the edits, listed separately, add up to the feed-forward's component of the logit."""
    found = attribute_neurons(model, trace, layer, position, ANSWER)
    components = attribute_logits(model, trace, position)
    row = components.components.index(Component("feed_forward", layer))
    whole = components.logits(np.array([ANSWER]))[row, 0]
    size = np.abs(found.contributions).sum() + abs(found.bias) + abs(found.edit)
    assert found.total == pytest.approx(whole, abs=1e-5 * size)
    assert found.contributions.sum() + found.bias + found.edit == pytest.approx(whole, abs=1e-5 * size)
    assert found.activations.shape == found.contributions.shape == (model.config.for_layer(layer).d_ff,)
    return found


@pytest.mark.parametrize("feed_forward", sorted(set(FEED_FORWARDS) - {"none"}))
@pytest.mark.parametrize("bias", [False, True], ids=["bare", "bias"])
def test_neurons_and_bias_add_up_to_the_feed_forward(feed_forward: str, bias: bool) -> None:
    model = toys.decoder(feed_forward=feed_forward, bias=bias)
    trace = traced(model)
    for layer in (0, 1):
        found = assert_adds_up(model, trace, 3, layer)
        assert (found.bias != 0) == bias
        assert found.edit == 0


@pytest.mark.parametrize("parts", toys.UNUSUAL, ids=["unlike", "streams"])
def test_layers_of_several_widths_add_up(parts: dict[str, Any]) -> None:
    model = toys.decoder(**parts)
    for layer in range(4):
        assert_adds_up(model, traced(model), 3, layer)


@pytest.mark.parametrize(("placement", "parallel", "norm"), combinations(NORM_PLACEMENTS, [False, True], NORMS))
def test_they_add_up_wherever_the_norms_are(placement: str, parallel: bool, norm: str) -> None:
    model = toys.decoder(norm_placement=placement, residual=ResidualConfig(parallel=parallel), norm=norm, bias=True)
    trace = traced(model)
    for layer in (0, 1):
        assert_adds_up(model, trace, -1, layer)


def test_they_add_up_through_every_output_head_that_predicts_at_each_token() -> None:
    cap = OutputHeadConfig(logit_scale=0.5, logit_soft_cap=3.0)
    narrow = EmbeddingConfig(dim=8, projection="tokens")
    assert_adds_up(model := toys.decoder(embedding=narrow, output_head_config=cap), traced(model), 2, 0)
    assert_adds_up(model := toys.encoder(), traced(model, masked_positions=(2,)), 2, 1)
    assert_adds_up(model := toys.both(), traced(model, source="a small bird sang"), 3, 1)
    labels = tuple("abcdefgh")
    assert_adds_up(model := toys.decoder(output_head="token-classifier", labels=labels), traced(model), 1, 1)


@pytest.mark.parametrize(
    ("edit", "is_own"),
    [
        ("decoder.1.feed_forward.neurons[:,5]=set:0", False),
        ("decoder.1.feed_forward.output[3]=scale:0.5", True),
        ("decoder.*.feed_forward.output=add:1", True),
        ("decoder.1.residual_after_self[3]=set:0.2", False),
        ("decoder.final_residual[:,3]=set:1", False),
        ("logits=add:5", False),
    ],
)
def test_they_add_up_after_an_edit(edit: str, is_own: bool) -> None:
    model = toys.decoder(bias=True)
    found = assert_adds_up(model, traced(model, edit), 3, 1)
    assert (found.edit != 0) == is_own


def test_a_neuron_that_is_switched_off_adds_nothing() -> None:
    model = toys.decoder()
    before = attribute_neurons(model, traced(model), 1, 3, ANSWER)
    after = attribute_neurons(model, traced(model, "decoder.1.feed_forward.neurons[:,5]=set:0"), 1, 3, ANSWER)
    assert before.contributions[5] != 0 == after.contributions[5]
    assert np.delete(after.activations, 5) == pytest.approx(np.delete(before.activations, 5))


def test_each_neuron_by_hand() -> None:
    """Pre-norm RMSNorm with a bare language head, in NumPy from the definition: a (w / rms * stretch) . W_U."""
    model = toys.decoder(feed_forward="swiglu")
    trace, stack = traced(model), model.stack("decoder")
    norm, project, down = stack.final_norm, model.output_head.projection, stack.blocks[0].feed_forward.down  # type: ignore[union-attr]
    assert isinstance(norm, RMSNorm) and norm.eps is not None and isinstance(project, nn.Linear)
    stream = trace["decoder.residual"][4].astype(np.float64)
    factor = norm.weight.double().numpy() / np.sqrt((stream**2).mean() + norm.eps)
    columns = down.weight.double().numpy()  # type: ignore[union-attr, operator]
    weights = project.weight.double().numpy() @ (columns * factor[:, None])
    found = attribute_neurons(model, trace, 0, 4, ANSWER)
    assert found.answer_weights == pytest.approx(weights[ANSWER])
    assert found.contributions == pytest.approx(weights[ANSWER] * trace[neurons_path(trace, 0)][4])
    assert neuron_vocabulary(model, trace, 0, 4, [3, 9]) == pytest.approx(weights[:, [3, 9]].T, abs=1e-5)


@pytest.mark.parametrize("placement", NORM_PLACEMENTS)
def test_what_a_neuron_promotes_is_its_weight_towards_each_answer(placement: str) -> None:
    model = toys.decoder(norm_placement=placement, bias=True, output_head_config=OutputHeadConfig(logit_soft_cap=9.0))
    trace = traced(model)
    promoted = neuron_vocabulary(model, trace, 0, 2, range(model.config.d_ff))
    for answer in (ANSWER, 0):
        found = attribute_neurons(model, trace, 0, 2, answer)
        assert promoted[:, answer] == pytest.approx(found.answer_weights, abs=1e-4)


def test_little_of_a_trace_is_enough() -> None:
    model = toys.decoder()
    small = traced(model, keep=(*KEEP, "decoder.1.feed_forward.neurons"))
    whole = attribute_neurons(model, traced(model), 1, 2, ANSWER)
    assert attribute_neurons(model, small, 1, 2, ANSWER).contributions == pytest.approx(whole.contributions)
    with pytest.raises(EditError, match="holds no"):
        attribute_neurons(model, small, 0, 2, ANSWER)


def test_they_are_found_in_inference_mode_and_leave_no_gradients() -> None:
    model = toys.decoder().requires_grad_(True)
    with torch.inference_mode():
        attribute_neurons(model, traced(model), 1, 3, ANSWER)
    assert all(parameter.grad is None for parameter in model.parameters())


class Experts(nn.Module):
    """A feed-forward that is not a sum over neurons, such as a mixture of experts."""

    def forward(self, x: torch.Tensor, hook: Any) -> torch.Tensor:
        neurons: torch.Tensor = hook("neurons", hook("input", x))
        return hook("output", neurons)  # type: ignore[no-any-return]


def test_what_has_no_neurons_gets_a_sentence() -> None:
    attention_alone = toys.decoder(feed_forward="none")
    with pytest.raises(ConfigError, match="no feed-forward"):
        attribute_neurons(attention_alone, traced(attention_alone), 1, 3, ANSWER)
    model = toys.decoder()
    model.stack("decoder").blocks[1].feed_forward = Experts()
    with pytest.raises(ConfigError, match="Experts is not a sum of neurons"):
        attribute_neurons(model, traced(model), 1, 3, ANSWER)
    labels = toys.decoder(output_head="sequence-classifier", labels=("good", "bad"))
    with pytest.raises(ConfigError, match="predicts at each token"):
        attribute_neurons(labels, traced(labels), 1, 3, 0)
    none = toys.decoder(layers=0)
    with pytest.raises(EditError, match="no layer 0; this model has 0"):
        attribute_neurons(none, traced(none), 0, 3, ANSWER)


def test_layers_neurons_positions_and_answers_out_of_range_get_a_sentence() -> None:
    model = toys.decoder()
    trace = traced(model)
    with pytest.raises(EditError, match="no layer 2"):
        attribute_neurons(model, trace, 2, 3, ANSWER)
    with pytest.raises(TextError, match="no token 99"):
        attribute_neurons(model, trace, 1, 99, ANSWER)
    with pytest.raises(TextError, match="knows"):
        attribute_neurons(model, trace, 1, 3, 10**6)
    with pytest.raises(EditError, match="no neuron 9999"):
        neuron_vocabulary(model, trace, 1, 3, [9999])
