"""The Compare page's question: two runs side by side, which tokens correspond, and how far their heads are apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from app.packing import pack
from app.services.attention_payload import blocks, rewiring, tokens
from app.services.traces import loaded, said, trace
from app.state.request import question_of, whole
from app.state.state import Question
from model.analysis.run_comparison import Pairs, align, distance, jensen_shannon
from model.attention_groups import Grid, grids
from model.errors import HeadlightError, TextError
from model.text.tokenizer import Tokenizer
from model.tracing.run import encode
from model.tracing.trace import Trace

SIDES = ("A", "B")
SHOWN = 8  # candidates of each side
MOST = 1 << 26  # weights of all heads of one side; 12 x 12 heads at 680 tokens
TITLES = {"language": "Next token", "masked-language": "Masked token"}


@dataclass(frozen=True)
class Side:
    """One of the two: what is asked, what the model did, and its tokenizer."""

    question: Question
    traced: Trace
    tokenizer: Tokenizer

    def places(self, query: int) -> tuple[int, ...]:
        """Where somebody wants to know what it predicts: at each masked token, or at `query` (-1: the last)."""
        ids = self.traced.text.ids
        hidden = tuple(place for place, token in enumerate(ids) if token == self.tokenizer.mask_id)
        if hidden and self.traced.config.top == "masked-language":
            return hidden
        return (query if 0 <= query < len(ids) else len(ids) - 1,)


@dataclass(frozen=True)
class Partner:
    """An attention of the one side and the one of the other that it is compared with."""

    one: Grid
    other: Grid

    @property
    def common(self) -> tuple[int, int]:
        """How many layers and heads both have."""
        return min(self.one.layers, self.other.layers), min(self.one.heads, self.other.heads)


def compare_work(body: dict[str, Any]) -> bytes:
    """Both sides' tokens, the byte codes of all their heads, the distance of each head, and both predictions."""
    begun = perf_counter()
    left, right = (_side(body, place) for place in range(2))
    by = str(body.get("align", "tokens"))
    text = align(left.traced.text, right.traced.text, by)
    sources = left.traced.source, right.traced.source
    pairs: dict[str, Pairs] = {"text": text}
    if sources[0] and sources[1]:
        pairs["source"] = align(sources[0], sources[1], by)
    told, parts, offset = [], [], 0
    for side in (left, right):
        meta, numbers = _painted(side, offset)
        told.append(meta)
        parts.append(numbers)
        offset += len(numbers)
    meta = {
        "sides": told,
        "pairs": pairs,
        "attentions": [_apart(left, right, partner, pairs) for partner in partners(left, right)],
        "predictions": _predictions(left, right, whole(body.get("query", -1)), text),
        "milliseconds": (perf_counter() - begun) * 1_000,
    }
    return pack(meta, b"".join(parts))


def _side(body: dict[str, Any], place: int) -> Side:
    """One side of a request. Raises TextError, with the side's name in front, for what cannot be run."""
    given = body.get(("left", "right")[place])
    if not isinstance(given, dict):
        raise TextError("A comparison needs two questions, left and right.")
    try:
        question = question_of(given)
        tokenizer = loaded(question.model, question.device).tokenizer
        _require_room(question, tokenizer)
        return Side(question, trace(question), tokenizer)
    except HeadlightError as error:
        raise TextError(f"{SIDES[place]}: {error}") from error


def _require_room(question: Question, tokenizer: Tokenizer) -> None:
    model = loaded(question.model, question.device).model
    config, count = model.config, len(encode(model, tokenizer, question.text).ids)
    if config.layers * config.heads * count**2 > MOST:
        longest = int((MOST / (config.layers * config.heads)) ** 0.5)
        raise TextError(
            f"The text has {count} tokens; all heads of this model are compared on at most {longest}. Shorten it."
        )


def _painted(side: Side, offset: int) -> tuple[dict[str, Any], bytes]:
    """What the browser needs of one side, and the byte codes of all its heads."""
    traced, shapes, parts = side.traced, [], []
    for grid in grids(traced.config):
        block = blocks(traced, grid)
        rows, columns = traced[f"{grid.stack}.0.{grid.kind}.weights"].shape[-2:]
        shape = {"rows": rows, "columns": columns, "cells": block.shape[-2:], "offset": offset}
        shapes.append(asdict(grid) | shape)
        parts.append(block.tobytes())
        offset += block.size
    meta = {
        "tokens": tokens(traced.text, side.tokenizer),
        "sourceTokens": tokens(traced.source, side.tokenizer) if traced.source else None,
        "grids": shapes,
        "context": traced.config.context,
        "notes": [" ".join(rewiring(side.question))] if side.question.rewired else [],
    }
    return meta, b"".join(parts)


def partners(left: Side, right: Side) -> tuple[Partner, ...]:
    """Which attentions are compared: those of one name, else the first of the same kind; self with self."""
    ours, theirs = grids(left.traced.config), grids(right.traced.config)
    found = []
    for grid in ours:
        alike = [other for other in theirs if other.name == grid.name] or [
            other for other in theirs if other.kind == grid.kind and other.name not in {grid.name for grid in ours}
        ]
        found += [Partner(grid, other) for other in alike[:1]]
    return tuple(found)


def _apart(left: Side, right: Side, partner: Partner, pairs: dict[str, Pairs]) -> dict[str, Any]:
    """How far each head of the one side is from the same head of the other, layer after layer."""
    layers, heads = partner.common
    queries, keys = pairs.get(partner.one.queries, ()), pairs.get(partner.one.keys, ())

    def layer(number: int) -> np.ndarray:
        one, other = (
            side.traced[f"{grid.stack}.{number}.{grid.kind}.weights"][:heads]
            for side, grid in ((left, partner.one), (right, partner.other))
        )
        return distance(one, other, queries, keys)

    numbers = [[None if np.isnan(head) else float(head) for head in layer(number)] for number in range(layers)]
    return {"name": partner.one.name, "other": partner.other.name, "title": partner.one.title, "distance": numbers}


def _predictions(left: Side, right: Side, query: int, pairs: Pairs) -> list[dict[str, Any]]:
    """What both sides predict at corresponding places; `query` counts the left side's tokens."""
    if "none" in (left.traced.config.top, right.traced.config.top):
        return []
    there = dict(pairs).get(query, -1) if query >= 0 else -1
    places = zip(left.places(query), right.places(there), strict=False)
    return [_prediction(left, right, ours, theirs) for ours, theirs in places]


def _prediction(left: Side, right: Side, ours: int, theirs: int) -> dict[str, Any]:
    """Two predictions over what both vocabularies can say; None for the share of what one of them cannot."""
    sides = (left, ours), (right, theirs)
    one, other = (_shares(side, place) for side, place in sides)
    if left.tokenizer is right.tokenizer and len(one) == len(other):
        names, here, there = _names(left, len(one)), np.ones(len(one)), np.ones(len(other))
    else:
        names, ours_at, theirs_at = _union(_names(left, len(one)), _names(right, len(other)))
        here, there = (np.bincount(at, minlength=len(names)).astype(float) for at in (ours_at, theirs_at))
        one, other = np.bincount(ours_at, one, len(names)), np.bincount(theirs_at, other, len(names))
    best = {int(key) for side in (one, other) for key in np.argsort(-side, kind="stable")[:SHOWN]}
    return {
        "titles": [TITLES.get(side.traced.config.top, "Label") for side, _ in sides],
        "places": [ours, theirs],
        "pieces": [side.traced.text.pieces[place] for side, place in sides],
        "apart": float(jensen_shannon(one, other)),
        "candidates": [
            {
                "piece": names[key],
                "before": float(one[key]) if here[key] else None,
                "after": float(other[key]) if there[key] else None,
            }
            for key in sorted(best, key=lambda key: (-max(one[key], other[key]), key))
        ],
    }


def _shares(side: Side, place: int) -> np.ndarray:
    """Each token's probability, or each label's."""
    row = said(side.question, place).astype(np.float64)
    powers = np.exp(row - row.max())
    return np.asarray(powers / powers.sum())


def _names(side: Side, count: int) -> tuple[str, ...]:
    """What there is to predict, in words."""
    config = side.traced.config
    if config.top in TITLES:
        return _pieces(side.tokenizer, count)
    return (*config.labels, *(f"label {place}" for place in range(len(config.labels), count)))


@lru_cache(maxsize=8)
def _pieces(tokenizer: Tokenizer, count: int) -> tuple[str, ...]:
    return tuple(map(tokenizer.piece, range(count)))


@lru_cache(maxsize=4)
def _union(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Everything that either can say, by what it reads, spaces apart; and where each one's own stand in it."""
    words = [piece.strip() or piece for piece in (*ours, *theirs)]
    names = tuple(dict.fromkeys(words))
    at = {name: place for place, name in enumerate(names)}
    index = np.array([at[word] for word in words])
    return names, index[: len(ours)], index[len(ours) :]
