"""Answers for one feed-forward of Layers: its most important neurons for an answer, and details of one neuron."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headlight.analysis.neuron_attribution import (
    NeuronAttribution,
    attribute_neurons,
    neuron_vocabulary,
    neurons_path,
)
from headlight.tracing.trace import Trace
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.layer_analysis import answer_text, extended_trace, extreme_logits, target_answer
from headlight_app.explore.contract import NeuronAnswer, NeuronRequest, NeuronsAnswer, NeuronsRequest
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

MAX_LISTED = 12  # the neurons with the largest contributions


@dataclass(frozen=True, eq=False)
class AttributedNeurons:
    """The neurons of a layer for the requested answer; `trace` contains their activations."""

    trace: Trace
    layer: int
    position: int
    token: int
    found: NeuronAttribution


def attributed_neurons(resolved: ResolvedQuestion, layer: int, query: int, token: int) -> AttributedNeurons:
    """The requested neurons of a layer. Raises HeadlightError if there are none."""
    traced = extended_trace(resolved)
    path = neurons_path(traced, layer)
    traced = replace(traced, values={**traced.values, path: resolved.value(path)})
    position, token, _ = target_answer(resolved, query, token)
    found = attribute_neurons(resolved.model, traced, layer, position, token)
    return AttributedNeurons(traced, layer, position, token, found)


def answer_neurons(request: NeuronsRequest) -> Reply[NeuronsAnswer]:
    """The neurons of a layer that add most to the logit of an answer, or take most from it.

    Numbers for each neuron: its index, its activation there, and its contribution.
    """
    resolved = resolve(request.question)
    asked = attributed_neurons(resolved, request.layer, request.query, request.token)
    found, added = asked.found, asked.found.contributions
    listed = np.argsort(-np.abs(added), kind="stable")[:MAX_LISTED]
    answer = NeuronsAnswer(
        layer=asked.layer,
        position=asked.position,
        token=asked.token,
        text=answer_text(asked.trace, resolved.tokenizer, asked.token),
        path=neurons_path(asked.trace, asked.layer),
        count=len(added),
        sum=float(added.sum()),
        bias=found.bias,
        edit=found.edit,
        total=found.total,
    )
    return Reply(answer, np.stack((listed, found.activations[listed], added[listed]), axis=1).astype("<f4").tobytes())


def answer_neuron(request: NeuronRequest) -> Reply[NeuronAnswer]:
    """One neuron: its contribution to the answer, the tokens its output vector promotes, and its activation at each
    token.
    """
    resolved, neuron = resolve(request.question), request.neuron
    asked = attributed_neurons(resolved, request.layer, request.query, request.token)
    (row,) = neuron_vocabulary(resolved.model, asked.trace, asked.layer, asked.position, (neuron,))
    answer = NeuronAnswer(
        layer=asked.layer,
        neuron=neuron,
        activation=float(asked.found.activations[neuron]),
        answer_weight=float(asked.found.answer_weights[neuron]),
        contribution=float(asked.found.contributions[neuron]),
        promoted=extreme_logits(row, 1, asked.trace, resolved.tokenizer),
        suppressed=extreme_logits(row, -1, asked.trace, resolved.tokenizer),
    )
    activations = asked.trace[neurons_path(asked.trace, asked.layer)][:, neuron]
    return Reply(answer, activations.astype("<f4").tobytes())
