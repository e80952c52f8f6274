"""Neurons of a feed-forward: each neuron's contribution to a logit, and the tokens that its output vector promotes.

A feed-forward writes the sum of each neuron's activation times its output vector, and a bias. So it acts as a memory,
with the input weights as keys and the output vectors as values (Geva et al. 2021, "Transformer Feed-Forward Layers Are
Key-Value Memories"), each of which promotes some tokens and suppresses others (Geva et al. 2022, "Transformer
Feed-Forward Layers Build Predictions by Promoting Concepts in the Vocabulary Space"). From there to the logit
everything is linearized as for the other components (Elhage et al. 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.attribution import attribute_probes
from headlight.analysis.residual_stream import Probe
from headlight.array_types import Float
from headlight.errors import ConfigError, EditError
from headlight.nn.attention import query_chunks
from headlight.nn.layers import MLP, GatedMLP
from headlight.nn.transformer import Transformer
from headlight.tracing.interventions import is_edited
from headlight.tracing.trace import Trace, position_index


@dataclass(frozen=True)
class NeuronAttribution:
    """The contributions of the neurons of one layer's feed-forward to the logit of an answer at a token.

    A neuron adds its activation there (in a gated feed-forward: activation(gate) x up) times its weight towards the
    answer, the product of its output vector and the direction of that answer. `bias` is the contribution of the bias of
    the feed-forward, `edit` of edits to its output; all together are `total`, the feed-forward's contribution.
    """

    activations: Float[np.ndarray, " neuron"]
    answer_weights: Float[np.ndarray, " neuron"]
    bias: float
    edit: float
    total: float

    @property
    def contributions(self) -> Float[np.ndarray, " neuron"]:
        """Each neuron's contribution."""
        added: np.ndarray = self.activations * self.answer_weights
        return added


def neurons_path(trace: Trace, layer: int) -> str:
    """The path of a layer's neurons, in the stack that predicts. Raises EditError for a layer that does not exist."""
    stack = trace.config.stacks[-1]
    layers = trace.config.num_layers(stack)
    if not 0 <= layer < layers:
        raise EditError(f"There is no layer {layer}; this model has {layers}, counted from 0.")
    return f"{_feed_forward_path(trace, layer)}.neurons"


def _feed_forward_path(trace: Trace, layer: int) -> str:
    return f"{trace.config.stacks[-1]}.{layer}.feed_forward"


def attribute_neurons(model: Transformer, trace: Trace, layer: int, position: int, answer: int) -> NeuronAttribution:
    """The neurons of a layer at one token; the trace holds the values for `attribute_logits`, and `neurons_path`.

    Raises EditError for a layer that does not exist, ConfigError for a feed-forward without neurons; otherwise raises
    as `attribute_logits`.
    """
    path, down = neurons_path(trace, layer), _down_projection(model, trace, layer)
    place = position_index(position, len(trace.text.ids))
    direction = _answer_direction(model, trace, layer, place, answer)
    activations = trace[path][place].astype(np.float64)
    answer_weights = _towards(down.weight, direction)
    bias = 0.0 if down.bias is None else float(down.bias.to(direction) @ direction)
    output = path.replace("neurons", "output")
    total = float(torch.tensor(trace[output][place]).to(direction) @ direction)
    edit = total - bias - float(activations @ answer_weights) if is_edited(trace, output) else 0.0
    return NeuronAttribution(activations, answer_weights, bias, edit, total)


@torch.inference_mode()
def neuron_vocabulary(
    model: Transformer, trace: Trace, layer: int, position: int, neurons: Sequence[int]
) -> Float[np.ndarray, "neuron answer"]:
    """The contribution of some neurons, at an activation of 1, to the logit of every token (or label).

    At one token of a text, with the norms frozen at their current scale. Raises as `attribute_neurons`, and EditError
    for a neuron that does not exist.
    """
    neurons_path(trace, layer)
    down = _down_projection(model, trace, layer)
    for neuron in neurons:
        if not 0 <= neuron < down.in_features:
            raise EditError(f"There is no neuron {neuron}; this feed-forward has {down.in_features}, counted from 0.")
    vectors = down.weight[:, list(neurons)].T.cpu()
    probe = Probe(_feed_forward_path(trace, layer), vectors)
    return attribute_probes(model, trace, position, (probe,)).vocabulary_logits("probe")


def _down_projection(model: Transformer, trace: Trace, layer: int) -> torch.nn.Linear:
    feed_forward = model.stack(trace.config.stacks[-1]).blocks[layer].feed_forward
    if feed_forward is None:
        raise ConfigError("This model has no feed-forward, so it has no neurons: its blocks end with their attention.")
    if not isinstance(feed_forward, (MLP, GatedMLP)):
        kind = type(feed_forward).__name__
        raise ConfigError(
            f"A feed-forward of the kind {kind} is not a sum of neurons, so it cannot be split into them."
        )
    return feed_forward.down


def _answer_direction(
    model: Transformer, trace: Trace, layer: int, position: int, answer: int
) -> Float[Tensor, " d_model"]:
    """The direction of an answer: the gradient of its linearized logit with respect to the feed-forward output."""
    with torch.inference_mode(False), torch.enable_grad():
        vector = torch.zeros(1, model.config.d_model, dtype=torch.float64, requires_grad=True)
        probe = Probe(_feed_forward_path(trace, layer), vector)
        logit = attribute_probes(model, trace, position, (probe,)).unedited_logits(np.array([answer]))[-1, 0]
        if not logit.requires_grad:  # a later block without a residual connection blocks the gradient
            return vector[0].detach()
        (direction,) = torch.autograd.grad(logit, vector)
    return direction[0].detach()


def _towards(weight: Tensor, direction: Float[Tensor, " d_model"]) -> Float[np.ndarray, " neuron"]:
    """The product of each output vector, a column of the weight, with a direction."""
    parts = [
        weight[:, chunk].T.to(direction).detach() @ direction for chunk in query_chunks(weight.shape[1], len(weight))
    ]
    found: np.ndarray = torch.cat(parts).numpy()
    return found
