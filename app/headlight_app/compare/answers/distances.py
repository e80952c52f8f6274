"""The distance of each head of A from its partner in B as views: of all heads, and of those that differ most."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np

from headlight.array_types import Float
from headlight.views.forms import layers_matrix
from headlight.views.kinds import ChoiceView, NumberTable, Pick
from headlight.views.rows import Row, row
from headlight.views.words import digits
from headlight_app.contract.parts import LayerHead

Distances = Float[np.ndarray, "layer head"]  # NaN if there is nothing to compare

RANKED = 6
ALIKE = 1e-5  # smaller distances are rounding errors, and closer ones are equal
LEAST_DEEPEST = 0.25  # the least distance of the deepest colour, so that small differences stay pale
UNIT = "Jensen–Shannon distance"
MEANING = "The mean over corresponding queries: 0 is identical, 1 is nothing in common."


def ranked_heads(distances: Distances) -> list[LayerHead]:
    """All heads, the most distant first; of equal ones, and of those without a distance, the first."""
    steps = np.round(np.nan_to_num(distances, nan=-1.0) / ALIKE)
    return [divmod(place, distances.shape[1]) for place in np.argsort(-steps, axis=None, kind="stable").tolist()]


def distance_rows(distances: Distances) -> tuple[Row, Row]:
    """The table of all heads, and buttons for those that differ most."""
    if np.isnan(distances).all():
        return _table(distances, "Nothing can be compared: no query of A corresponds to one of B."), row()
    ranked = [place for place in ranked_heads(distances)[:RANKED] if distances[place] > ALIKE]
    return _table(distances, MEANING if ranked else "0: alike everywhere."), _buttons(distances, ranked)


def _table(distances: Distances, note: str) -> Row:
    layers, heads = (tuple(map(str, range(count))) for count in distances.shape)
    title = "Distance of each head"
    columns = [f"H{head}" for head in heads]
    shown = np.where(distances < ALIKE, 0.0, distances)
    table = layers_matrix(title, shown, columns, "head", name=_name, details=_written, pick=_pick, note=note)
    saved = {title: NumberTable({"layer": layers, "head": heads}, distances)}
    return row(replace(table, colours="sequential", least_scale=LEAST_DEEPEST, unit=UNIT, tables=saved))


def _buttons(distances: Distances, ranked: list[LayerHead]) -> Row:
    if not ranked:
        return row(text="No head differs between the two sides.")
    words = "They differ most in"
    options = tuple(f"layer {layer}, head {head} · {_written(float(distances[layer, head]))}" for layer, head in ranked)
    return row(ChoiceView(words, options, tuple(_pick(*place) for place in ranked)), text=words)


def _name(layer: int, head: int) -> str:
    return f"Layer {layer}, head {head}"


def _pick(layer: int, head: int) -> Pick:
    return {"layer": layer, "head": head}


def _written(distance: float) -> str:
    """A distance; a small one, such as to a quantised model, keeps two digits."""
    if isnan(distance):
        return "nothing to compare"
    return digits(distance, 2) if distance < 0.1 else f"{distance:.3f}"
