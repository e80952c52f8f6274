"""Which rows of a parametrized browser test are part of `make test`."""

from collections.abc import Iterable
from typing import Any

import pytest


def with_journeys(values: Iterable[Any], *journeys: Any) -> list[Any]:
    """The values as rows for `parametrize`; those in `journeys` are marked, and each must be a value."""
    rows = list(values)
    if unknown := [journey for journey in journeys if journey not in rows]:
        raise ValueError(f"{unknown} are not among {rows}.")
    return [pytest.param(row, marks=pytest.mark.journey) if row in journeys else row for row in rows]
