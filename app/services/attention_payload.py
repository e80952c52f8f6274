"""A question's answer in the page's own terms: tokens, heads, predictions before and after, and what to know."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from app.services.traces import loaded, said, trace, wired
from app.state.state import Question, own_parts
from model.analysis.head_metrics import head_metrics
from model.array_types import Float
from model.attention_groups import Grid, grids
from model.config import Config
from model.rendering.html import ends, patches, told_numbers
from model.rendering.quantize import LARGEST_SIDE, codes, pool
from model.text.tokenizer import Encoded, Tokenizer
from model.text.word_groups import sentences
from model.tracing.recompute import overview
from model.tracing.trace import Trace, shares
from model.vision.patches import Patched

SILENT = {
    True: "This model ends without a head, so it predicts nothing.",
    False: "What this model says is no number (NaN or infinite), so it predicts nothing.",
}
PARTS = {"masks": "Mask", "position": "Positions", "kernel": "Kernel", "scale": "Scale 1/√d"}
SHOWN = 10  # candidates of one prediction
MEASURED = 1 << 20  # cells of all heads; up to here the metrics are as good as free


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


def blocks(traced: Trace, grid: Grid) -> np.ndarray:
    """The byte codes of all heads of a grid, [layer head row column], at most 80 cells a side.

    All zero where the trace of a long text holds no weights: `layer_codes` makes them, layer by layer.
    """
    if not whole(traced, grid):
        rows, columns = (min(length, LARGEST_SIDE) for length in lengths(traced, grid))
        return np.zeros((grid.layers, grid.heads, rows, columns), dtype=np.uint8)
    layers = []
    for layer in range(grid.layers):
        path = f"{grid.stack}.{layer}.{grid.kind}"
        weights = traced[f"{path}.weights"]
        allowed = traced[f"{path}.mask"]
        allowed = allowed if allowed.strides[0] else allowed[:1]  # the heads of most models share one mask
        layers.append(codes(pool(weights), pool(allowed > 0)))
    return np.stack(layers)


def layer_codes(question: Question, grid: Grid, layer: int) -> np.ndarray:
    """The byte codes of one layer's heads, [head row column], made again from what a long text's trace holds."""
    path = f"{grid.stack}.{layer}.{grid.kind}"
    return codes(*overview(wired(question), trace(question), path, side=LARGEST_SIDE))


def whole(traced: Trace, grid: Grid) -> bool:
    """Whether a trace holds the weights of all heads."""
    return f"{grid.stack}.0.{grid.kind}.weights" in traced.values


def soon(traced: Trace, grid: Grid) -> bool:
    """Whether what all heads do is measured while nobody notices."""
    return whole(traced, grid) and grid.layers * grid.heads * math.prod(lengths(traced, grid)) <= MEASURED


def lengths(traced: Trace, grid: Grid) -> tuple[int, int]:
    """How many queries and keys a grid's heads have."""
    texts = {"text": traced.text, "source": traced.source or traced.text}
    return len(texts[grid.queries].ids), len(texts[grid.keys].ids)


def answer(question: Question, query: int = -1) -> tuple[dict[str, Any], bytes]:
    """All that the instrument paints: JSON values, and the byte codes of every grid one after the other.

    Raises HeadlightError where the question has no answer; its text is what the person should read.
    """
    traced, tokenizer = trace(question), loaded(question.model, question.device).tokenizer
    shapes, parts, offset = [], [], 0
    for grid in grids(traced.config):
        block = blocks(traced, grid)
        rows, columns = lengths(traced, grid)
        found = measured(traced, grid) if soon(traced, grid) else None
        text = traced.source if grid.queries == "source" and traced.source else traced.text
        shape = {"rows": rows, "columns": columns, "cells": block.shape[-2:], "offset": offset, "metrics": found,
                 "pending": not whole(traced, grid)}  # fmt: skip
        pairs = grid.queries == grid.keys and max(sentences(text, tokenizer.end_id)) > 0
        shapes.append(asdict(grid) | shape | {"pairs": pairs})
        parts.append(block.tobytes())
        offset += block.size
    predicted = predictions(question, query)
    meta = {
        "tokens": tokens(traced.text, tokenizer),
        "sourceTokens": tokens(traced.source, tokenizer) if traced.source else None,
        "maskable": tokenizer.mask_id is not None and traced.config.top == "masked-language",
        "context": traced.config.context,
        "patches": patches(traced.text),
        "grids": shapes,
        "predictions": [asdict(prediction) for prediction in predicted],
        "changed": changed(question),
        "silent": "" if predicted else SILENT[traced.config.top == "none"],
        "notes": notes(question, traced),
        "question": {**asdict(question), "query": query},
    }
    return meta, b"".join(parts)


def measured(traced: Trace, grid: Grid) -> dict[str, list[float | None]]:
    """Every metric of every head of a grid, layer after layer; None where the text gives a head no occasion."""
    return told_numbers(head_metrics(traced, grid.stack, grid.kind))


def tokens(encoded: Encoded, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """Each token for the browser."""
    last = ends(encoded)
    return [
        {
            "piece": encoded.pieces[place],
            "special": encoded.special[place],
            "masked": encoded.ids[place] == tokenizer.mask_id,
            "end": last[place],
        }
        for place in range(len(encoded.ids))
    ]


def changed(question: Question) -> bool:
    """Whether there is a before and an after: an edit, or a part exchanged."""
    return bool(question.edits) or question.rewired


def predictions(question: Question, query: int = -1) -> tuple[Prediction, ...]:
    """What the model says, compared with the model as trained: at `query`, or at each masked token.

    Nothing, where it has no head to say it with or says what is no number.
    """
    after = trace(question)
    if after.config.top == "none":
        return ()
    found = _predicted(question, after, query)
    shares = [share for one in found for item in one.candidates for share in (item.before, item.after)]
    return found if np.isfinite(shares).all() else ()


def _predicted(question: Question, after: Trace, query: int) -> tuple[Prediction, ...]:
    tokenizer = loaded(question.model, question.device).tokenizer
    if after.config.top in ("sequence-classifier", "token-classifier"):
        return (_labels(question, _place(after, query)),)
    if after.config.top == "masked-language":
        hidden = [place for place, token in enumerate(after.text.ids) if token == tokenizer.mask_id]
        if hidden:
            return tuple(_tokens(question, place, "Masked token", "at ") for place in hidden)
        return (_tokens(question, _place(after, query), "Nothing is masked", "at "),)
    return (_tokens(question, _place(after, query), "Next token", "after "),)


def _place(traced: Trace, query: int) -> int:
    last = len(traced.text.ids) - 1
    return query if 0 <= query <= last else last


def _tokens(question: Question, place: int, title: str, preposition: str) -> Prediction:
    tokenizer, piece = loaded(question.model, question.device).tokenizer, trace(question).text.pieces[place]
    found = _candidates(*_beside(question, place))
    chosen = (replace(candidate, piece=tokenizer.piece(candidate.id)) for candidate in found)
    return Prediction(place, title, preposition, piece, tuple(chosen))


def _beside(question: Question, place: int) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of every answer at one place, before all changes and after."""
    after = chances(question, place)
    return (chances(question.untouched, place) if changed(question) else after), after


def chances(question: Question, place: int) -> Float[np.ndarray, " token"]:
    """The probability of every answer at one place of a text of any length."""
    return shares(said(question, place))


def _labels(question: Question, place: int) -> Prediction:
    """The labels of a classifier: of the whole text, or of one token."""
    after = trace(question)
    of_text = after.config.top == "sequence-classifier"
    names = after.config.labels
    chosen = _candidates(*_beside(question, place))
    told = tuple(replace(item, piece=names[item.id] if item.id < len(names) else f"label {item.id}") for item in chosen)
    if of_text and isinstance(after.text, Patched):
        return Prediction(0, "Label", "of the picture, read at ", after.text.pieces[0], told)
    return Prediction(place, "Label", "of the text up to " if of_text else "of ", after.text.pieces[place], told)


def _candidates(before: Float[np.ndarray, " token"], after: Float[np.ndarray, " token"]) -> tuple[Candidate, ...]:
    """The likeliest of both, most likely after the changes first; shares are of the whole vocabulary."""
    either = np.maximum(before, after)
    count = min(SHOWN, len(either))
    best = np.argpartition(-either, count - 1)[:count]
    ranked = sorted(map(int, best), key=lambda token: (-after[token], -before[token], token))
    return tuple(Candidate("", token, float(before[token]), float(after[token])) for token in ranked)


def notes(question: Question, traced: Trace) -> list[str]:
    """What somebody should know before believing the picture."""
    told = rewiring(question)
    longest = max(len(traced.text.ids), len(traced.source.ids) if traced.source else 0)
    if longest > 80:
        told.append(f"{longest} tokens: each cell of a thumbnail shows the largest weight of its block.")
    return [" ".join(told)] if told else []


def rewiring(question: Question) -> list[str]:
    """What was exchanged, in sentences, and what that means."""
    trained, model = loaded(question.model, question.device).model.config, wired(question)
    told = [_rewired(part, was, now) for part, was, now in exchanged(trained, model.config)]
    if told:
        told.append("The model was not trained this way; its weights expect the other.")
    if model.added:
        told.append(f"New and zero, because the model has none: {', '.join(model.added)}.")
    return told


def exchanged(trained: Config, now: Config) -> list[tuple[str, str, str]]:
    """Each part that differs from training: its name, what it was, what it is."""
    was, is_now = own_parts(trained), own_parts(now)
    changes = [(title, was[part], is_now[part]) for part, title in PARTS.items() if was[part] != is_now[part]]
    return [(title, before.replace("+", " + "), after.replace("+", " + ")) for title, before, after in changes]


def _rewired(part: str, was: str, now: str) -> str:
    return f"{part}: {now if len(now) < 40 else 'custom'} instead of {was}."
