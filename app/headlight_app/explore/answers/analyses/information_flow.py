"""Information flow: which tokens, heads and feed-forwards the residual stream of one token came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from headlight.analysis import information_flow as routes
from headlight.analysis.information_flow import Edge
from headlight.analysis.residual_stream import require_attention_alone, require_one_stream
from headlight.tracing.trace import Trace
from headlight.views.kinds import ChoiceView, FlowEdge, FlowKind, FlowView, NumberTable, Pick
from headlight.views.words import in_line, names, percent, quoted
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.explore.answers.layer_analysis import (
    answer_number,
    depth_labels,
    extended_trace,
    position_of,
)
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.resolved_question import ResolvedQuestion

PERCENTAGES: tuple[int, ...] = (*range(1, 9), 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80)  # of the least share
HEADS = 3  # told for each edge
KINDS = {
    "residual": FlowKind("stream", "Layer {row}: {target} keeps {share} of its own stream from before attention"),
    "self": FlowKind("line", "Layer {row}: {target} takes {share} from {source} ({note})"),
    "cross": FlowKind("second line", "Layer {row}: {target} takes {share} from {source} ({note})"),
    "feed_forward": FlowKind("square", "Layer {row}: the feed-forward is {share} of the stream of {target} after it"),
    "layer_embedding": FlowKind(
        "second square", "Layer {row}: the layer embedding is {share} of the stream of {target} after it"
    ),
}
Column = tuple[Literal["text", "source"], int]  # and a position there


def least_shares(resolved: ResolvedQuestion, state: State) -> Views:
    """The slider of the least share. Raises ConfigError for a model of which no flow is known."""
    require_one_stream(resolved.config, "information flow")
    require_attention_alone(resolved.config, "information flow")
    chosen = PERCENTAGES.index(_least_share(state))
    picks = tuple({"least_share": percentage} for percentage in PERCENTAGES)
    options = tuple(f"{percentage} %" for percentage in PERCENTAGES)
    between = None if state.least_share in PERCENTAGES else chosen
    return (ChoiceView("Least share", options, picks, form="slider", chosen=between),)


def _least_share(state: State) -> int:
    """The chosen percentage; for one between the steps, which an address may have, the step below it."""
    return max(percentage for percentage in PERCENTAGES if percentage <= state.least_share)


def information_flow(resolved: ResolvedQuestion, state: State) -> Views:
    """The graph of all shares of at least a percentage."""
    traced = extended_trace(resolved)
    position = position_of(state.query, traced)
    found = routes.information_flow(resolved.model, traced, position, _least_share(state) / 100)
    return (_flow(resolved, traced, position, found, _least_share(state)),)


def _flow(
    resolved: ResolvedQuestion, traced: Trace, position: int, found: Sequence[Edge], least_share: int
) -> FlowView:
    columns = {column: place for place, column in enumerate(_columns(found, position))}
    texts = {"text": traced.text.token_texts, "source": traced.source.token_texts if traced.source else ()}
    told = f"{len(found)} shares. Point at a line to read it; the arrow keys go through them."
    return FlowView(
        f"What flows to {quoted(texts['text'][position])}: shares of each residual stream of at least {least_share} %",
        names([in_line(texts[side][token]) for side, token in columns]),
        depth_labels(traced.config),
        tuple(_edge(edge, columns, traced.config.stacks[-1]) for edge in found),
        kinds={name: kind for name, kind in KINDS.items() if any(edge.kind == name for edge in found)},
        tokens=tuple(columns),
        end=columns["text", position],
        end_text=_prediction(resolved, position),
        note=told if found else "No share is this large; lower the least share.",
        tables={
            "Information flow": NumberTable(
                {"edge": tuple(_file_name(edge, texts) for edge in found), "number": ("share of the stream",)},
                np.array([[edge.importance] for edge in found]).reshape(-1, 1),
            )
        },
    )


def _columns(found: Sequence[Edge], position: int) -> list[Column]:
    """The tokens of the graph, those of the source first."""
    sources: set[Column] = {("source", edge.source) for edge in found if edge.kind == "cross"}
    own: set[Column] = {("text", edge.source) for edge in found if edge.kind != "cross"}
    own |= {("text", edge.target) for edge in found} | {("text", position)}
    return [*sorted(sources), *sorted(own)]


def _edge(edge: Edge, columns: Mapping[Column, int], stack: str) -> FlowEdge:
    heads = edge.heads[:HEADS]
    pick: Pick = {}
    if heads:
        pick = {"attention": f"{stack}.{edge.kind}", "layer": edge.layer, "head": heads[0][0]}
    return FlowEdge(
        edge.kind,
        edge.layer,
        columns["source" if edge.kind == "cross" else "text", edge.source],
        columns["text", edge.target],
        round(edge.importance, 4),
        ", ".join(f"head {head} {percent(share)}" for head, share in heads),
        pick,
    )


def _file_name(edge: Edge, texts: Mapping[str, Sequence[str]]) -> str:
    source = texts["source" if edge.kind == "cross" else "text"][edge.source]
    return f"layer {edge.layer} {edge.kind}: {source} → {texts['text'][edge.target]}"


def _prediction(resolved: ResolvedQuestion, position: int) -> str:
    """The likeliest answer at the last node, if the model gives one there."""
    shown = [found.candidates[0] for found in predictions(resolved, position) if found.position == position]
    return f"{in_line(shown[0].text)} {answer_number(resolved.config, shown[0].after)}" if shown else ""


ANALYSIS = Analysis(
    "Information flow",
    "Where the answer came from. A line shows a share of a token's residual stream: slanting lines are attention, "
    "vertical lines the residual connection, squares the feed-forward. Click a line to select its head.",
    reads=("query", "least_share"),
    compute=least_shares,
    compute_long=information_flow,
)
