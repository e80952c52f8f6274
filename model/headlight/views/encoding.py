"""Views as JSON for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from headlight.views.kinds import View
from headlight.views.rows import Row, as_rows

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def plain(value: Any) -> Any:
    """A value for JSON: arrays as lists, and infinite numbers and NaN as the words that JavaScript reads."""
    if type(value) in (str, int, bool):
        return value  # first, because they are most
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and np.isfinite(value).all():
        return value.tolist()  # at once, for many numbers
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, View):
        return {"kind": value.kind} | _plain_fields(value.as_drawn())
    if is_dataclass(value) and not isinstance(value, type):
        return _plain_fields(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple | list | range) else value


def _plain_fields(value: DataclassInstance) -> dict[str, Any]:
    return {each.name: plain(getattr(value, each.name)) for each in fields(value)}


def plain_rows(
    shown: Iterable[Row | View | str], *, with_tables: bool, plain_view: Callable[[View], Any] = plain
) -> tuple[dict[str, Any], ...]:
    """Rows for JSON, each view by `plain_view`, with or without the numbers to be saved."""
    return tuple(
        plain(replace(row, views=()))
        | {"views": [plain_view(view if with_tables else replace(view, tables=None)) for view in row.views]}
        for row in as_rows(shown)
    )
