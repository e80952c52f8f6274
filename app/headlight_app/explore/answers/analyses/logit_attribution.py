"""Logit attribution: what each part of the model adds to the logit of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from headlight.analysis import attribution
from headlight.analysis.attribution import LogitAttribution
from headlight.analysis.residual_stream import Component
from headlight.array_types import Float
from headlight.config import Config
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.problem_types import problem_type_of
from headlight.rendering.predictions import answer_place
from headlight.tasks import task_of
from headlight.views.kinds import ChangesView, MatrixView, NumberTable, TableView, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import quoted, three_digits
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.neurons import neuron_rows, opened_neuron
from headlight_app.explore.answers.analyses.parts import part_pick, part_title
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.explore.answers.layer_analysis import (
    answer_text,
    extended_trace,
    promoted_words,
    target_answer,
)
from headlight_app.inference.resolved_question import ResolvedQuestion

Added = Float[np.ndarray, " component"]

LISTED = 10  # of the largest parts
HELP = (
    "Orange adds to the logit, blue takes from it. Click a head to choose it, a feed-forward (FF) to see its neurons."
)
_BESIDE_HEADS = {"feed_forward": "FF", "layer_embedding": "LE", "bias": "bias"}
_ABOVE, _BELOW = {"embedding": "token", "positions": "position"}, {"bias": "answer", "edit": "edits"}


def logit_attribution(resolved: ResolvedQuestion, state: State) -> Views:
    """The parts as a table and the largest as bars, the neurons of an open feed-forward, and promoted tokens."""
    position, token, logits = target_answer(resolved, state.query, state.target_token)
    traced = extended_trace(resolved)
    found = attribution.attribute_logits(resolved.model, traced, position)
    added = found.logits(np.array([token]))[:, 0].astype(float)
    answer = answer_text(traced, resolved.tokenizer, token)
    return (
        _total(resolved, position, answer, float(logits[token]), float(added.sum())),
        row(
            _table(resolved.config, found.components, added, state), _largest(resolved.config, found.components, added)
        ),
        *neuron_rows(resolved, state),
        *_promoted(resolved, found),
        Row(text=" ".join(attribution_assumptions(resolved.config))),
    )


def _total(resolved: ResolvedQuestion, position: int, answer: str, logit: float, total: float) -> Verdict:
    preposition, read = answer_place(resolved.trace, position)
    place = preposition if read is None else f"{preposition}{quoted(read)}"
    sum_words = f"is {three_digits(logit)}; all parts add up to {three_digits(total)}."
    excludes = " Adding the same amount to all logits changes no probability."
    rest = "" if problem_type_of(resolved.config).has_scores else excludes
    return Verdict(f"The logit of {quoted(answer)} {place} {sum_words}{rest}")


def _table(config: Config, parts: Sequence[Component], added: Added, state: State) -> MatrixView:
    """Rows are layers, columns heads; other parts of a layer are beside them, those outside of them above and below."""
    columns, rows = part_table(config, parts, added)
    numbers, opened = dict(zip(parts, added, strict=True)), opened_neuron(state)
    network = Component("feed_forward", opened[0]) if opened else None
    cells = tuple(tuple(part if part in numbers else None for part in line) for line in rows.values())
    names = {"part": tuple(map(part_title, parts)), "number": ("added to the logit",)}
    return MatrixView(
        "All components",
        np.array([[numbers[part] if part else np.nan for part in line] for line in cells]),
        rows=tuple(rows),
        columns=columns,
        digits=None,
        titles=tuple(tuple(part_title(part) if part else "" for part in line) for line in cells),
        marked=tuple((place, line.index(network)) for place, line in enumerate(cells) if network and network in line),
        picks=tuple(tuple(part_pick(part, config.stacks[-1]) if part else {} for part in line) for line in cells),
        note=HELP + " LE is the token's own vector for the layer." * ("LE" in columns),
        tables={"Logit attribution": NumberTable(names, added[:, None])},
    )


def part_table(
    config: Config, parts: Sequence[Component], added: Added
) -> tuple[tuple[str, ...], dict[str, tuple[Component | None, ...]]]:
    """The columns of the table, and its rows by their names; biases and parts outside only if they add something."""
    used = {part for part, number in zip(parts, added, strict=True) if number or part.kind == "embedding"}
    kinds = [kind for kind in ("self", "cross") if any(part.kind == kind for part in parts)]
    heads = range(max(part.head for part in parts) + 1)
    beside = [
        kind
        for kind in _BESIDE_HEADS
        if any(part.kind == kind and part.layer >= 0 and (kind != "bias" or part in used) for part in parts)
    ]
    columns = tuple(f"{'×' * (kind == 'cross')}{head}" for kind in kinds for head in heads)
    width = len(columns) + len(beside)

    def outside(names: dict[str, str]) -> dict[str, tuple[Component | None, ...]]:
        return {
            title: (Component(kind), *[None] * (width - 1)) for kind, title in names.items() if Component(kind) in used
        }

    layers = {
        f"L{layer}": (
            *(Component(kind, layer, head) for kind in kinds for head in heads),
            *(Component(kind, layer) for kind in beside),
        )
        for layer in range(config.num_layers(config.stacks[-1]))
    }
    return (*columns, *(_BESIDE_HEADS[kind] for kind in beside)), outside(_ABOVE) | layers | outside(_BELOW)


def _largest(config: Config, parts: Sequence[Component], added: Added) -> ChangesView:
    order = [place for place in np.argsort(-np.abs(added), kind="stable") if added[place]]
    listed, others = order[:LISTED], added[order[LISTED:]]
    rest = ((f"All {len(others)} others", others.sum()),) if len(others) else ()
    return ChangesView(
        "The largest",
        (*((part_title(parts[place]), added[place]) for place in listed), *rest),
        end=("Together: the logit", added.sum()),
        picks=tuple(part_pick(parts[place], config.stacks[-1]) for place in listed),
        tables={},
    )


def _promoted(resolved: ResolvedQuestion, found: LogitAttribution) -> Iterator[Row]:
    layers = [part.layer for part in found.components if part.kind == "feed_forward"]
    if not layers:
        return
    logits = found.vocabulary_logits("feed_forward")
    yield row(
        TableView(
            ("", "Promoted", "Suppressed"),
            tuple(
                (f"Layer {layer}", *(promoted_words(line, sign, resolved) for sign in (1, -1)))
                for layer, line in zip(layers, logits, strict=True)
            ),
            picks=tuple({"neuron": str(layer)} for layer in layers),
            title="What each feed-forward promotes and suppresses here",
        )
    )


def attribution_assumptions(config: Config) -> list[str]:
    """The assumptions under which the contributions add up, as sentences."""
    sentences = []
    if (
        config.final_norm
        or NORM_PLACEMENTS[config.norm_placement].output_is_normed
        or NORM_PLACEMENTS[config.norm_placement].norm_after
    ):
        sentences.append("Norms are frozen: each part is divided by the scale that the whole stream has in this text.")
    if config.has_several_streams:
        sentences.append(
            "The mixing weights and scales of the residual streams are frozen at their values in this text."
        )
    if task_of(config).fills_masks or (config.output_head_config.transform or "none") != "none":
        sentences.append(
            "The output head's transform is nonlinear; the slope of each of its channels is frozen at its value here."
        )
    if config.output_head_config.logit_soft_cap:
        sentences.append("The logits are soft-capped; each part is scaled down like the whole.")
    if config.has_cross_attention:
        sentences.append("The encoder's contribution is included in the cross-attention heads that read it.")
    return sentences


ANALYSIS = Analysis(
    "Logit attribution",
    "Each head and each feed-forward writes to the residual stream and so adds to the logit of the answer.",
    reads=("query", "target_token", "neuron"),
    compute=logit_attribution,
)
