"""Checks of requested positions and heads, each with a sentence for one that does not exist."""

from __future__ import annotations

from headlight.errors import EditError, TextError


def position_index(position: int, length: int) -> int:
    """A position counted from 0, or from the end if it is negative. Raises TextError for one outside the text."""
    if not -length <= position < length:
        raise TextError(f"There is no token {position}: the text has {length}, counted from 0.")
    return position % length


def require_position(position: int, length: int) -> None:
    """Raise TextError unless a text of `length` tokens has a position counted from 0."""
    if not 0 <= position < length:
        raise TextError(f"There is no token {position}: the text has {length}, counted from 0.")


def require_head(head: int, heads: int) -> None:
    """Raise EditError unless a layer of `heads` heads has a head counted from 0."""
    if not 0 <= head < heads:
        raise EditError(f"There is no head {head}; this layer has {heads}, counted from 0.")
