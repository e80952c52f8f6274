"""Pictures of heads as answers to a request: JSON values, and numbers for the browser to paint."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from app.explore.head_view import points
from app.explore.long_text import picture
from app.packing import pack
from app.services.attention_payload import layer_codes, measured
from app.services.attention_payload import whole as traced_whole
from app.services.head_selection import chosen_grid
from app.services.traces import trace
from app.state.request import question_of, state_of, whole
from model.errors import EditError


def view_work(body: dict[str, Any]) -> bytes:
    """The picture of the chosen heads, float32 [row column], and last a byte of state for each cell.

    With `each` every head by itself follows the numbers, float32 [head row column].
    """
    made = picture(question_of(body), state_of(body))
    each = made.each if body.get("each") is True else made.each[:0]
    low, high = made.limits
    meta = {
        "rows": asdict(made.rows),
        "columns": asdict(made.columns),
        "signed": made.kind.signed,
        "scale": made.kind.scale,
        "low": low,
        "high": high,
        "each": len(each),
        "said": made.said,
    }
    numbers = np.concatenate([made.numbers.ravel(), each.ravel()]).astype("<f4")
    return pack(meta, numbers.tobytes() + made.states.tobytes())


def thumbs_work(body: dict[str, Any]) -> bytes:
    """The byte codes of all heads of one layer of a long text, [head row column], as `trace` gives them of others."""
    question, layer = question_of(body), whole(body.get("layer", 0))
    grid = chosen_grid(question, state_of(body))
    if not 0 <= layer < grid.layers:
        raise EditError(f"There is no layer {layer}; this attention has {grid.layers}, counted from 0.")
    made = layer_codes(question, grid, layer)
    return pack({"layer": layer, "cells": made.shape[-2:]}, made.tobytes())


def points_work(body: dict[str, Any]) -> bytes:
    """Queries and then keys of the chosen head in one plane, float32 [token axis], and what part its axes hold."""
    found = points(question_of(body), state_of(body))
    numbers = np.concatenate([found.queries, found.keys]).astype("<f4")
    return pack({"queries": len(found.queries), "shares": found.shares}, numbers.tobytes())


def metrics_work(body: dict[str, Any]) -> bytes:
    """The metrics of all heads of one attention, for texts so long that no answer carries them along."""
    question = question_of(body)
    grid, traced = chosen_grid(question, state_of(body)), trace(question)
    if not traced_whole(traced, grid):
        raise EditError("What heads do is measured from all weights at once; this text is too long for that.")
    return pack({"metrics": measured(traced, grid)})
