"""Views as JSON for a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

from headlight.views.kinds import View


def plain(value: Any) -> Any:
    """A value for JSON: arrays as lists, and infinite numbers and NaN as the words that JavaScript reads."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": value.kind} if isinstance(value, View) else {}
        return kind | {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple | list | range) else value
