"""What the Layers tab asks of one feed-forward: its neurons that matter for an answer, and one neuron more closely."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.explore.layer_analysis import answer_text, extended_trace, extreme_logits, target_answer
from app.state.request import integer_or_zero, parse_question
from app.ui.wire_format import pack
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.analysis.attribution.neuron_attribution import (
    NeuronAttribution,
    attribute_neurons,
    neuron_vocabulary,
    neurons_path,
)
from model.tracing.trace import Trace

MAX_LISTED = 12  # neurons, the largest


@dataclass(frozen=True, eq=False)
class NeuronAnswer:
    """The neurons of a layer, for the answer that was asked about; `trace` holds their activations."""

    trace: Trace
    layer: int
    position: int
    token: int
    found: NeuronAttribution


def neuron_answer(resolved: ResolvedQuestion, body: dict[str, Any]) -> NeuronAnswer:
    """The neurons of a layer that a request asks about. Raises HeadlightError where there are none."""
    layer = integer_or_zero(body.get("layer", 0))
    traced = extended_trace(resolved)
    path = neurons_path(traced, layer)
    traced = replace(traced, values={**traced.values, path: resolved.value(path)})
    position, token, _ = target_answer(body, resolved)
    found = attribute_neurons(resolved.model, traced, layer, position, token)
    return NeuronAnswer(traced, layer, position, token, found)


def handle_neurons(body: dict[str, Any]) -> bytes:
    """The neurons of a layer that add most to the logit of an answer, or take most from it.

    Numbers: for each its number, its activation there, and what it adds.
    """
    resolved = resolve(parse_question(body))
    asked = neuron_answer(resolved, body)
    found, added = asked.found, asked.found.contributions
    listed = np.argsort(-np.abs(added), kind="stable")[:MAX_LISTED]
    meta = {
        "layer": asked.layer,
        "position": asked.position,
        "token": asked.token,
        "text": answer_text(asked.trace, resolved.tokenizer, asked.token),
        "path": neurons_path(asked.trace, asked.layer),
        "count": len(added),
        "sum": float(added.sum()),
        "bias": found.bias,
        "edit": found.edit,
        "total": found.total,
    }
    return pack(meta, np.stack((listed, found.activations[listed], added[listed]), axis=1).astype("<f4").tobytes())


def handle_neuron(body: dict[str, Any]) -> bytes:
    """One neuron: what it adds to the answer, what its output vector promotes, and its activation at each token."""
    resolved, neuron = resolve(parse_question(body)), integer_or_zero(body.get("neuron", 0))
    asked = neuron_answer(resolved, body)
    (row,) = neuron_vocabulary(resolved.model, asked.trace, asked.layer, asked.position, (neuron,))
    meta = {
        "layer": asked.layer,
        "neuron": neuron,
        "activation": asked.found.activations[neuron],
        "answer_weight": asked.found.answer_weights[neuron],
        "contribution": asked.found.contributions[neuron],
        "promoted": extreme_logits(row, 1, asked.trace, resolved.tokenizer),
        "suppressed": extreme_logits(row, -1, asked.trace, resolved.tokenizer),
    }
    activations = asked.trace[neurons_path(asked.trace, asked.layer)][:, neuron]
    return pack(meta, activations.astype("<f4").tobytes())
