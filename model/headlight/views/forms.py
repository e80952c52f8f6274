"""Views that many screens and analyses show, with less to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, SupportsFloat

import numpy as np

from headlight.questions.kinds import Number
from headlight.views.kinds import Array, BarsView, HeatMapView, MatrixView, Numbers, Pick, Verdict
from headlight.views.words import digits

ROUNDING = 1e-4  # the largest difference of two computations of the same number, as a share of it


def bars(
    title: str,
    labels: Sequence[str] | Mapping[str, Number],
    values: Numbers = (),
    *,
    name: str = "",
    high: float | None = None,
    digits: int = 2,
    note: str = "",
) -> BarsView:
    """One bar for each label, or for each entry of a mapping; `name` is the name of the numbers."""
    if isinstance(labels, Mapping):
        values = list(labels.values())
    return BarsView(title=title, labels=tuple(labels), series={name: values}, high=high, digits=digits, note=note)


def weights_matrix(
    title: str,
    values: Array,
    names: tuple[str, ...] = (),
    *,
    before: str = "",
    crossed: Array | None = None,
    row_axis: str = "",
    column_axis: str = "",
) -> MatrixView:
    """The self-attention weights of a text with their numbers, and the sum of each row."""
    return MatrixView(
        title=title, values=values, rows=names, columns=names, colours="weights", row_sums=True, before=before,
        crossed=crossed, row_axis=row_axis, column_axis=column_axis,
    )  # fmt: skip


def weights_map(
    title: str,
    values: Array,
    queries: tuple[str, ...] = (),
    keys: tuple[str, ...] | None = None,
    *,
    colours: Literal["weights", "sequential"] = "weights",
    is_small: bool = False,
    note: str = "",
) -> HeatMapView:
    """Attention weights as coloured cells; `keys` are named as the queries unless others are given."""
    return HeatMapView(
        title=title, values=values, rows=queries, columns=queries if keys is None else keys, row_axis="query",
        column_axis="key", colours=colours, is_small=is_small, note=note,
    )  # fmt: skip


def layers_matrix(
    title: str,
    values: np.ndarray,
    columns: Sequence[str],
    column_axis: str,
    *,
    name: Callable[[int, int], str],
    details: Callable[[float], str],
    pick: Callable[[int, int], Pick],
    note: str = "",
) -> MatrixView:
    """A number of each layer and column, such as a head: its name, what is told of it, and what a click chooses."""
    places = [[(layer, column) for column in range(len(columns))] for layer in range(len(values))]
    return MatrixView(
        title,
        values,
        rows=tuple(f"L{layer}" for layer in range(len(values))),
        columns=tuple(columns),
        row_axis="layer",
        column_axis=column_axis,
        digits=None,
        titles=tuple(tuple(name(*place) for place in line) for line in places),
        details=tuple(tuple(map(details, line)) for line in values.tolist()),
        picks=tuple(tuple(pick(*place) for place in line) for line in places),
        note=note,
    )


def agreement(said: str, error: float, size: SupportsFloat = 1.0, bound: float = ROUNDING) -> Verdict:
    """The sentence that two computations of the same agree up to rounding; if they do not, how far they differ instead.

    `bound` is the largest difference by rounding of numbers up to 1; of those that are as large as `size` it is larger.
    """
    agrees = error <= bound * max(1.0, float(size))
    told = (
        said
        if agrees
        else f"Two results that should be the same differ by up to {digits(error, 2)}, more than rounding."
    )
    return Verdict(told, good=agrees)


def shape_text(shape: Sequence[int]) -> str:
    """A shape for a table, on one line: 36 × 192."""
    return "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}".join(f"{side:,}" for side in shape)
