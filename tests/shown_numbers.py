"""How numbers are written in what a page shows: the one way of `headlight.views.words` and of numbers.ts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

# 72%, a hyphen for a minus, 35333 without a comma, and 1e-07 or 1.2e−7.
OTHERWISE = re.compile(r"\d%|(?:^|[\s(≈±])-\d|(?<![\w.,−#-])\d{5,}(?![\w^])|(?<![\w])[\d.]+e[+−-]?\d+(?!\w)")
# Formulas in LaTeX, addresses, choices, files of numbers, and what only the page and the server tell each other.
NOT_READ = {"lines", "source", "picks", "column_picks", "row_picks", "tables", "solution", "digest", "progress"}


def odd_numbers(shown: Any) -> list[str]:
    """The texts of a view, row or question in which a number is written in another way."""
    return [text for text in _texts(shown) if OTHERWISE.search(text)]


def _texts(shown: Any) -> Iterator[str]:
    if isinstance(shown, str):
        yield shown
    elif is_dataclass(shown) and not isinstance(shown, type):
        yield from _texts({field.name: getattr(shown, field.name) for field in fields(shown)})
    elif isinstance(shown, Mapping):
        for name, value in shown.items():
            if name == "mistakes":
                yield from _texts([reply for _, reply in value])  # the mistakes themselves are typed
            elif name not in NOT_READ and not (name == "text" and "media_type" in shown):
                yield from _texts((name, value))
    elif isinstance(shown, Sequence):
        for value in shown:
            yield from _texts(value)
