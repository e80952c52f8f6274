"""Masks: which query may attend to which key. True means "may attend"; several masks AND together.

A mask is written as its name, with its argument behind a colon: `causal`, `window:8`, `custom:100/110/111`,
`padding`. Rows of a custom matrix are queries, columns keys, and `/` ends a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from model.array_types import Bool, Shaped
from model.errors import ConfigError, TextError
from model.registry import Registry


@dataclass(frozen=True)
class QueryKeyPositions:
    """The places a mask speaks of: absolute positions of queries and keys, and which keys are real tokens."""

    queries: Shaped[Tensor, " query"]
    keys: Shaped[Tensor, " key"]
    padding_mask: Bool[Tensor, "batch key"] | None = None

    @property
    def distance(self) -> Shaped[Tensor, "query key"]:
        """How far back each key lies, in tokens: query minus key."""
        return self.queries[:, None] - self.keys[None, :]


def causal(positions: QueryKeyPositions, argument: str) -> Bool[Tensor, "#batch 1 query key"]:
    """No query sees what comes after it (Vaswani et al. 2017, section 3.2.3)."""
    return (positions.distance >= 0)[None, None]


def window(positions: QueryKeyPositions, argument: str) -> Bool[Tensor, "#batch 1 query key"]:
    """Only keys fewer than `argument` tokens away (sliding window; Beltagy et al. 2020, section 3.1)."""
    return (positions.distance.abs() < int(argument))[None, None]


def padding(positions: QueryKeyPositions, argument: str) -> Bool[Tensor, "#batch 1 query key"]:
    """Only real tokens, never the filling of a batch."""
    padding_mask = (
        positions.padding_mask
        if positions.padding_mask is not None
        else torch.ones_like(positions.keys, dtype=torch.bool)[None]
    )
    return padding_mask[:, None, None, :].expand(-1, -1, len(positions.queries), -1)


def custom(positions: QueryKeyPositions, argument: str) -> Bool[Tensor, "#batch 1 query key"]:
    """A matrix that somebody wrote; it must be as large as the text."""
    matrix = _parse_matrix(argument)
    length = 1 + int(torch.maximum(positions.queries.max(), positions.keys.max()))
    if length != len(matrix):
        raise TextError(
            f"The custom mask is {len(matrix)} x {len(matrix)}, but the text has {length} tokens; "
            "both must be the same."
        )
    allowed: Tensor = torch.tensor(matrix, device=positions.keys.device)
    return allowed[positions.queries][:, positions.keys][None, None]


def check_mask(mask: str) -> None:
    """Raise ConfigError or UnknownName unless `mask` is a known name with the argument it needs."""
    name, _, argument = mask.partition(":")
    MASKS[name]
    if name == "window":
        if not (argument.isascii() and argument.isdigit() and int(argument[:9]) > 0 and len(argument) < 10):
            raise ConfigError(f"The mask {mask!r} needs a width of at least one token, as in 'window:8'.")
    elif name == "custom":
        _parse_matrix(argument)
    elif argument:
        raise ConfigError(f"The mask {name!r} takes no argument, but {mask!r} gives one.")


def parse_masks(text: str) -> tuple[str, ...]:
    """`causal+window:8` as a tuple of masks; `none` (or nothing) is the empty one: everybody sees everybody."""
    masks = tuple(part.strip() for part in text.split("+") if part.strip() not in ("", "none"))
    for mask in masks:
        check_mask(mask)
    return masks


def extend_custom_mask(mask: str, old_length: int, new_length: int) -> str:
    """A mask for a text that had `begun` tokens and has grown to `length`.

    Only a custom matrix of the text's first size needs to grow: each new token sees all before it and itself, and is
    seen by none before it.
    """
    name, _, argument = mask.partition(":")
    if name != "custom" or len(rows := argument.split("/")) != old_length:
        return mask
    old_rows = (row + "0" * (new_length - old_length) for row in rows)
    new_rows = ("1" * (position + 1) + "0" * (new_length - position - 1) for position in range(old_length, new_length))
    return f"custom:{'/'.join((*old_rows, *new_rows))}"


def combine_masks(masks: Sequence[str], positions: QueryKeyPositions) -> Bool[Tensor, "#batch 1 query key"]:
    """All of `masks` at once: a cell is allowed where every one of them allows it."""
    allowed = torch.ones(len(positions.queries), len(positions.keys), dtype=torch.bool, device=positions.keys.device)
    combined = allowed[None, None]
    for mask in masks:
        name, _, argument = mask.partition(":")
        combined = combined & MASKS[name](positions, argument)
    return combined


@lru_cache(maxsize=64)
def _parse_matrix(text: str) -> tuple[tuple[bool, ...], ...]:
    rows = text.split("/")
    if not text or set(text) - set("01/") or any(len(row) != len(rows) for row in rows):
        raise ConfigError("A custom mask is a square of 0 and 1 with '/' between its rows, as in 'custom:100/110/111'.")
    return tuple(tuple(cell == "1" for cell in row) for row in rows)


MASKS: Registry[Callable[[QueryKeyPositions, str], Tensor]] = Registry(
    "mask", {"causal": causal, "window": window, "padding": padding, "custom": custom}
)
