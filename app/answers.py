"""A question's answer in the page's own terms: tokens, heads, predictions before and after, and what to know."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from app.cached import loaded, trace, wired
from app.packing import codes, pool
from app.state import Question
from model.config import Config
from model.shapes import Float
from model.tokenizer import Encoded, Tokenizer
from model.trace import Trace

SHOWN = 10  # candidates of one prediction
NAMES = {"encoder": "Encoder", "decoder": "Decoder"}


@dataclass(frozen=True)
class Candidate:
    """One possible token (or label): its text with white space, and its probability before and after all changes."""

    piece: str
    id: int
    before: float
    after: float


@dataclass(frozen=True)
class Prediction:
    """What the model says at one position; `title` and `before` are the words of the page for it."""

    position: int
    title: str
    before: str
    piece: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Grid:
    """One kind of attention in one stack, named `decoder.self`; queries and keys are "text" or "source"."""

    name: str
    stack: str
    kind: str
    title: str
    layers: int
    heads: int
    queries: str
    keys: str


def grids(config: Config) -> tuple[Grid, ...]:
    """Every kind of attention a model has; the one that gives the answer first."""

    def grid(stack: str, kind: str, title: str, queries: str, keys: str) -> Grid:
        layers = config.depth(stack)
        return Grid(f"{stack}.{kind}", stack, kind, title, layers, config.heads, queries, keys)

    if not config.has_cross:
        stack = config.stacks[-1]
        return (grid(stack, "self", NAMES[stack], "text", "text"),) if config.layers else ()
    return (
        grid("decoder", "self", "Decoder", "text", "text"),
        grid("decoder", "cross", "Cross", "text", "source"),
        grid("encoder", "self", "Encoder", "source", "source"),
    )


def blocks(traced: Trace, grid: Grid) -> np.ndarray:
    """The byte codes of all heads of a grid, [layer head row column], at most 80 cells a side."""
    layers = []
    for layer in range(grid.layers):
        path = f"{grid.stack}.{layer}.{grid.kind}"
        weights = traced[f"{path}.weights"]
        allowed = np.broadcast_to(traced[f"{path}.mask"] > 0, weights.shape)
        layers.append(codes(pool(weights), pool(allowed)))
    return np.stack(layers)


def answer(question: Question, query: int = -1) -> tuple[dict[str, Any], bytes]:
    """All that the instrument paints: JSON values, and the byte codes of every grid one after the other.

    Raises HeadlightError where the question has no answer; its text is what the person should read.
    """
    traced, tokenizer = trace(question), loaded(question.model, question.device).tokenizer
    shapes, parts, offset = [], [], 0
    for grid in grids(traced.config):
        block = blocks(traced, grid)
        rows, columns = traced[f"{grid.stack}.0.{grid.kind}.weights"].shape[-2:]
        shapes.append({**asdict(grid), "rows": rows, "columns": columns, "cells": block.shape[-2:], "offset": offset})
        parts.append(block.tobytes())
        offset += block.size
    predicted = predictions(question, query)
    meta = {
        "tokens": tokens(traced.text, tokenizer),
        "sourceTokens": tokens(traced.source, tokenizer) if traced.source else None,
        "maskable": tokenizer.mask_id is not None and traced.config.top == "masked-language",
        "context": traced.config.context,
        "grids": shapes,
        "predictions": [asdict(prediction) for prediction in predicted],
        "changed": changed(question),
        "silent": "" if predicted else "This model ends without a head, so it predicts nothing.",
        "notes": notes(question, traced),
        "question": {**asdict(question), "query": query},
    }
    return meta, b"".join(parts)


def tokens(encoded: Encoded, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """Each token for the browser; `end` counts as JavaScript does, in units of UTF-16."""

    def end(place: int) -> int:
        return len(encoded.text[: encoded.spans[place][1]].encode("utf-16-le", "surrogatepass")) // 2

    return [
        {
            "piece": encoded.pieces[place],
            "special": encoded.special[place],
            "masked": encoded.ids[place] == tokenizer.mask_id,
            "end": end(place),
        }
        for place in range(len(encoded.ids))
    ]


def changed(question: Question) -> bool:
    """Whether there is a before and an after: an edit, or a part exchanged."""
    return bool(question.edits) or question.rewired


def predictions(question: Question, query: int = -1) -> tuple[Prediction, ...]:
    """What the model says, compared with the model as trained: at `query`, or at each masked token."""
    after = trace(question)
    if after.logits is None:
        return ()
    before = trace(question.untouched) if changed(question) else after
    tokenizer = loaded(question.model, question.device).tokenizer
    if after.config.top in ("sequence-classifier", "token-classifier"):
        return (_labels(before, after, _place(after, query)),)
    if after.config.top == "masked-language":
        hidden = [place for place, token in enumerate(after.text.ids) if token == tokenizer.mask_id]
        if hidden:
            return tuple(_tokens(before, after, tokenizer, place, "Masked token", "at ") for place in hidden)
        return (_tokens(before, after, tokenizer, _place(after, query), "Nothing is masked", "at "),)
    return (_tokens(before, after, tokenizer, _place(after, query), "Next token", "after "),)


def _place(traced: Trace, query: int) -> int:
    last = len(traced.text.ids) - 1
    return query if 0 <= query <= last else last


def _tokens(before: Trace, after: Trace, tokenizer: Tokenizer, place: int, title: str, preposition: str) -> Prediction:
    chosen = _candidates(before.probabilities(place), after.probabilities(place))
    told = tuple(replace(candidate, piece=tokenizer.piece(candidate.id)) for candidate in chosen)
    return Prediction(place, title, preposition, after.text.pieces[place], told)


def _labels(before: Trace, after: Trace, place: int) -> Prediction:
    """The labels of a classifier: of the whole text, or of one token."""
    whole = after.config.top == "sequence-classifier"

    def shares(traced: Trace) -> np.ndarray:
        logits = traced["logits"]
        row = (logits if whole else logits[place]).astype(np.float64)
        powers = np.exp(row - row.max())
        return np.asarray(powers / powers.sum())

    names = after.config.labels
    chosen = _candidates(shares(before), shares(after))
    told = tuple(replace(item, piece=names[item.id] if item.id < len(names) else f"label {item.id}") for item in chosen)
    return Prediction(place, "Label", "of the text up to " if whole else "of ", after.text.pieces[place], told)


def _candidates(before: Float[np.ndarray, " token"], after: Float[np.ndarray, " token"]) -> tuple[Candidate, ...]:
    """The likeliest of both, most likely after the changes first; shares are of the whole vocabulary."""
    either = np.maximum(before, after)
    count = min(SHOWN, len(either))
    best = np.argpartition(-either, count - 1)[:count]
    ranked = sorted(map(int, best), key=lambda token: (-after[token], -before[token], token))
    return tuple(Candidate("", token, float(before[token]), float(after[token])) for token in ranked)


def notes(question: Question, traced: Trace) -> list[str]:
    """What somebody should know before believing the picture."""
    trained = loaded(question.model, question.device).model.config
    told = [_rewired(part, was, now) for part, was, now in exchanged(trained, traced.config)]
    if told:
        told.append("The model was not trained this way; its weights expect the other.")
    if added := wired(question).added:
        told.append(f"New and zero, because the model has none: {', '.join(added)}.")
    longest = max(len(traced.text.ids), len(traced.source.ids) if traced.source else 0)
    if longest > 80:
        told.append(f"{longest} tokens: each cell of a thumbnail shows the largest weight of its block.")
    return [" ".join(told)] if told else []


def exchanged(trained: Config, now: Config) -> list[tuple[str, str, str]]:
    """Each part that differs from training: its name, what it was, what it is."""

    def words(config: Config) -> dict[str, str]:
        return {
            "Mask": " + ".join(config.masks) or "none",
            "Positions": config.position,
            "Kernel": config.kernel,
            "Scale 1/√d": "on" if config.scale else "off",
        }

    was, is_now = words(trained), words(now)
    return [(part, was[part], is_now[part]) for part in was if was[part] != is_now[part]]


def _rewired(part: str, was: str, now: str) -> str:
    return f"{part}: {now if len(now) < 40 else 'custom'} instead of {was}."
