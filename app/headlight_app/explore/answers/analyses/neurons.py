"""The neurons of one feed-forward: those that add most to the logit of an answer, and one of them in detail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from headlight.analysis.neuron_attribution import (
    NeuronAttribution,
    attribute_neurons,
    neuron_vocabulary,
    neurons_path,
)
from headlight.errors import HeadlightError
from headlight.tracing.trace import Trace
from headlight.views.kinds import ChangesView, ChoiceView, NumberTable, Pick, TableView, TokensView, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import equals, quoted, rounded, signed, three_digits
from headlight_app.contract.state import State
from headlight_app.explore.answers.layer_analysis import answer_text, extended_trace, promoted_words, target_answer
from headlight_app.inference.resolved_question import ResolvedQuestion

LISTED = 12  # the neurons with the largest contributions
NAMED = 3  # tokens named as the strongest
COLUMNS = ("activation", "weight towards the answer", "contribution")


@dataclass(frozen=True, eq=False)
class AttributedNeurons:
    """The neurons of a layer for an answer; `trace` contains their activations."""

    trace: Trace
    layer: int
    position: int
    answer: str
    found: NeuronAttribution

    @property
    def path(self) -> str:
        """The path of the neurons."""
        return neurons_path(self.trace, self.layer)


def opened_neuron(state: State) -> tuple[int, int | None] | None:
    """The layer whose neurons are open, and the chosen neuron."""
    if not state.neuron:
        return None
    layer, _, neuron = state.neuron.partition(".")
    return int(layer), int(neuron) if neuron else None


def neuron_rows(resolved: ResolvedQuestion, state: State) -> Iterator[Row]:
    """The neurons of the open layer; a sentence if there are none."""
    opened = opened_neuron(state)
    if opened is None:
        return
    layer, neuron = opened
    title = f"Neurons of layer {layer}’s feed-forward"
    try:
        asked = attributed_neurons(resolved, layer, state.query, state.target_token)
        largest = int(np.abs(asked.found.contributions).argmax())
        yield row(_total(asked), _largest(asked, largest if neuron is None else neuron), title=title)
        yield from _one_neuron(resolved, asked, largest if neuron is None else neuron)
    except HeadlightError as error:
        yield row(str(error), _closing(), title=title)


def attributed_neurons(resolved: ResolvedQuestion, layer: int, query: int, token: int) -> AttributedNeurons:
    """The neurons of a layer for an answer. Raises HeadlightError if there are none."""
    traced = extended_trace(resolved)
    path = neurons_path(traced, layer)
    traced = replace(traced, values={**traced.values, path: resolved.value(path)})
    position, token, _ = target_answer(resolved, query, token)
    found = attribute_neurons(resolved.model, traced, layer, position, token)
    activations, answer_weights = found.activations.astype(float), found.answer_weights.astype(float)
    found = replace(found, activations=activations, answer_weights=answer_weights)
    return AttributedNeurons(traced, layer, position, answer_text(traced, resolved.tokenizer, token), found)


def _total(asked: AttributedNeurons) -> Verdict:
    found = asked.found
    more = {"its bias": found.bias, "edits": found.edit}
    parts = [
        f"its {len(found.activations):,} neurons {signed(found.contributions.sum())}",
        *(f"{name} {signed(number)}" for name, number in more.items() if number),
    ]
    return Verdict(
        f"The feed-forward of layer {asked.layer} adds {signed(found.total)} to the logit of {quoted(asked.answer)}: "
        f"{', '.join(parts)}. Each neuron adds its activation at this token times its weight towards the answer."
    )


def _largest(asked: AttributedNeurons, chosen: int) -> ChangesView:
    found, added = asked.found, asked.found.contributions
    listed = [int(neuron) for neuron in np.argsort(-np.abs(added), kind="stable")[:LISTED]]
    others = len(added) - len(listed)
    rest = {f"All {others:,} others": added.sum() - added[listed].sum()} if others else {}
    rest |= {name: number for name, number in (("Bias", found.bias), ("Edits", found.edit)) if number}
    numbers = np.stack((found.activations, found.answer_weights, added), axis=1)
    axes = {"neuron": tuple(map(str, range(len(added)))), "number": COLUMNS}
    return ChangesView(
        "The largest",
        (*((f"Neuron {neuron}", added[neuron]) for neuron in listed), *rest.items()),
        end=("Together: the feed-forward", found.total),
        picks=tuple({"neuron": f"{asked.layer}.{neuron}"} for neuron in listed),
        marked=listed.index(chosen) if chosen in listed else None,
        tables={f"Neurons of layer {asked.layer}": NumberTable(axes, numbers)},
    )


def _one_neuron(resolved: ResolvedQuestion, asked: AttributedNeurons, neuron: int) -> Iterator[Row]:
    found = asked.found
    (line,) = neuron_vocabulary(resolved.model, asked.trace, asked.layer, asked.position, (neuron,))
    activation = float(found.activations[neuron])
    reversed_here = ", reversed here by its negative activation" if activation < 0 else ""
    factor, contribution = float(found.answer_weights[neuron]), float(found.contributions[neuron])
    weight = f"weight towards {quoted(asked.answer)} {three_digits(factor)}"
    sign = equals(rounded(activation, 3) * rounded(factor, 3), contribution)
    yield row(
        TableView(
            ("", "Tokens"),
            tuple((name, promoted_words(line, sign, resolved)) for name, sign in (("Promotes", 1), ("Suppresses", -1))),
            title=f"What its output vector writes{reversed_here}",
        ),
        _activations(asked, neuron),
        title=f"Neuron {neuron}",
        text=f"Activation {three_digits(activation)} × {weight} {sign} {signed(contribution)}",
    )
    edit = f"{asked.path}[:,{neuron}]=set:0"
    # The neuron is chosen too: one that is off would no longer be the largest, and another would be shown.
    switch: Pick = {"neuron": f"{asked.layer}.{neuron}", "toggle_edits": (edit,)}
    yield row(ChoiceView("", (f"Switch off neuron {neuron}",), (switch,)), _closing())


def _closing() -> ChoiceView:
    return ChoiceView("", ("Close the neurons",), ({"neuron": ""},), form="actions")


def _activations(asked: AttributedNeurons, neuron: int) -> TokensView:
    activations, tokens = asked.trace[asked.path][:, neuron].astype(float), asked.trace.text.token_texts
    largest = np.abs(activations).max()
    strongest = [int(place) for place in np.argsort(-np.abs(activations), kind="stable")[:NAMED] if activations[place]]
    words = ", ".join(f"{quoted(tokens[place])} {three_digits(activations[place])}" for place in strongest)
    return TokensView(
        "Which tokens activate it",
        tuple(tokens),
        shades=activations / (largest or 1),
        details=tuple(map(three_digits, activations)),
        as_text=True,
        note=f"Strongest at {words}. Orange is positive, blue negative." if words else "It is 0 at every token.",
    )
