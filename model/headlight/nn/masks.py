"""Masks: which query may attend to which key. True means "may attend"; several masks are combined with AND.

A mask is written as its name, with its argument after a colon: `causal`, `window:8`, `custom:100/110/111`, `padding`,
`painted:3-1.4-1`. Rows of a custom matrix are queries, columns are keys, and `/` ends a row. A painted cell is a query
and a key; painting inverts what the masks before it say about this cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import Tensor

from headlight.array_types import Bool, Shaped
from headlight.errors import ConfigError, TextError
from headlight.registry import Registry, titles


@dataclass(frozen=True)
class QueryKeyPositions:
    """Positions of the queries and keys, and which keys are tokens (True) rather than padding."""

    queries: Shaped[Tensor, " query"]
    keys: Shaped[Tensor, " key"]
    padding_mask: Bool[Tensor, "batch key"] | None = None

    @property
    def distance(self) -> Shaped[Tensor, "query key"]:
        """Query position minus key position, in tokens."""
        return self.queries[:, None] - self.keys[None, :]


@dataclass(frozen=True)
class MaskArgument:
    """The argument after a mask's colon: its title, its default, and how its text is parsed.

    `parse` raises ConfigError. `extend` returns the text for a sequence that has grown from the first to the second
    number of tokens. `control` is the input on a page: a slider within `limits`, or cells to paint.
    """

    title: str
    default: str
    parse: Callable[[str], Any]
    extend: Callable[[str, int, int], str] = lambda text, old_length, new_length: text
    control: Literal["number", "cells"] = "number"
    limits: tuple[int, int] = (1, 64)


@dataclass(frozen=True, kw_only=True)
class Mask:
    """A kind of mask; `allowed` computes its cells from the positions and the parsed argument (None without one).

    `selectable` says whether pages offer it (padding is always applied), `with_causal` whether they also offer it
    together with the causal mask. If it `inverts`, its cells invert what the masks before it say.
    """

    title: str
    description: str
    formula: str
    allowed: Callable[[QueryKeyPositions, Any], Bool[Tensor, "#batch 1 query key"]]
    argument: MaskArgument | None = None
    selectable: bool = True
    with_causal: bool = False
    inverts: bool = False


def causal(positions: QueryKeyPositions, argument: None) -> Bool[Tensor, "#batch 1 query key"]:
    """No query attends to a later key (Vaswani et al. 2017, section 3.2.3)."""
    return (positions.distance >= 0)[None, None]


def window(positions: QueryKeyPositions, width: int) -> Bool[Tensor, "#batch 1 query key"]:
    """Only keys fewer than `width` tokens away (sliding window; Beltagy et al. 2020, section 3.1)."""
    return (positions.distance.abs() < width)[None, None]


def chunks(positions: QueryKeyPositions, length: int) -> Bool[Tensor, "#batch 1 query key"]:
    """Only keys in the query's own chunk of `length` tokens (chunked attention; Meta AI 2025, Llama 4)."""
    queries, keys = (each.div(length, rounding_mode="floor") for each in (positions.queries, positions.keys))
    return (queries[:, None] == keys[None, :])[None, None]


def padding(positions: QueryKeyPositions, argument: None) -> Bool[Tensor, "#batch 1 query key"]:
    """Only tokens, not the padding of a batch."""
    tokens = positions.padding_mask
    if tokens is None:
        tokens = torch.ones_like(positions.keys, dtype=torch.bool)[None]
    return tokens[:, None, None, :].expand(-1, -1, positions.queries.shape[0], -1)


def custom(positions: QueryKeyPositions, matrix: Matrix) -> Bool[Tensor, "#batch 1 query key"]:
    """A mask matrix given by the user; it must be as large as the text."""
    length = positions.keys.shape[0]
    if length != len(matrix):
        raise TextError(
            f"The custom mask is {len(matrix)} x {len(matrix)}, but the text has {length} tokens; "
            "both must be the same."
        )
    allowed: Tensor = torch.tensor(matrix, device=positions.keys.device)
    return allowed[positions.queries][:, positions.keys][None, None]


def painted(positions: QueryKeyPositions, cells: Cells) -> Bool[Tensor, "#batch 1 query key"]:
    """The cells painted by the user; cells outside the text have no effect until it is long enough."""
    numbers = torch.tensor([query << 32 | key for query, key in cells], device=positions.keys.device)
    found: Tensor = torch.isin((positions.queries[:, None] << 32) + positions.keys, numbers.long())
    return found[None, None]


def check_mask(mask: str) -> None:
    """Raise ConfigError or UnknownNameError unless `mask` is a known name with the argument it needs."""
    _parse(mask)


def _parse(mask: str) -> tuple[Mask, Any]:
    """The row of a mask and its parsed argument."""
    name, _, argument = mask.partition(":")
    row = MASKS[name]
    if row.argument is not None:
        return row, row.argument.parse(argument)
    if argument:
        raise ConfigError(f"The mask {name!r} takes no argument, but {mask!r} gives one.")
    return row, None


def parse_masks(text: str) -> tuple[str, ...]:
    """`causal+window:8` as a tuple of masks; `none` or an empty text is the empty tuple, no mask."""
    masks = tuple(part.strip() for part in text.split("+") if part.strip() not in ("", NO_MASK))
    for mask in masks:
        check_mask(mask)
    return masks


def extend_mask(mask: str, old_length: int, new_length: int) -> str:
    """A mask for a text that has grown from `old_length` to `new_length` tokens.

    Only a custom matrix of the old size changes: each new token attends to all before it and to itself, and no earlier
    token attends to it.
    """
    name, _, argument = mask.partition(":")
    row = MASKS[name]
    return mask if row.argument is None else f"{name}:{row.argument.extend(argument, old_length, new_length)}"


def combine_masks(masks: Sequence[str], positions: QueryKeyPositions) -> Bool[Tensor, "#batch 1 query key"]:
    """The cells that `masks` allow together: from left to right, each forbids cells or inverts their state so far."""
    shape = positions.queries.shape[0], positions.keys.shape[0]
    allowed = torch.ones(shape, dtype=torch.bool, device=positions.keys.device)
    combined = allowed[None, None]
    for mask in masks:
        row, argument = _parse(mask)
        cells = row.allowed(positions, argument)
        combined = combined ^ cells if row.inverts else combined & cells
    return combined


def is_causal(masks: Sequence[str]) -> bool:
    """Whether `masks` forbid every token to see a later one, however long the text becomes."""
    painted_cells = (cell for row, cells in map(_parse, masks) if row.inverts for cell in cells)
    return "causal" in masks and all(key <= query for query, key in painted_cells)


def mask_titles() -> dict[str, str]:
    """The choices that pages offer, by name: no mask, each mask alone, and combinations with the causal mask."""
    offered = {name: row for name, row in MASKS.items() if row.selectable}
    combined = {f"causal+{name}": f"Causal + {row.title.lower()}" for name, row in offered.items() if row.with_causal}
    return {NO_MASK: BIDIRECTIONAL, **titles(offered), **combined}


def masks_title(masks: Sequence[str]) -> str:
    """The title of a model's masks: `Causal + sliding window (4)`, or `Bidirectional` for none."""
    parts = []
    for mask in masks:
        name, _, argument = mask.partition(":")
        row = MASKS[name]
        has_number = row.argument is not None and row.argument.control == "number"
        parts.append(f"{row.title} ({argument})" if has_number else row.title)
    together = " + ".join(parts)
    return together[:1] + together[1:].lower() if together else BIDIRECTIONAL


def mask_examples() -> tuple[str, ...]:
    """The text form of each mask except padding, with its default argument (`window:4`), and of no mask."""
    rows = {name: row.argument for name, row in MASKS.items() if name != "padding"}
    return (*(name if argument is None else f"{name}:{argument.default}" for name, argument in rows.items()), NO_MASK)


def mask_arguments() -> dict[str, MaskArgument]:
    """The arguments of the choices that have one, by the names of `mask_titles`."""
    offered = {name: MASKS[name.removeprefix("causal+")] for name in mask_titles() if name != NO_MASK}
    return {name: row.argument for name, row in offered.items() if row.argument is not None}


Matrix = tuple[tuple[bool, ...], ...]


Cells = tuple[tuple[int, int], ...]  # query and key


def _parse_cells(text: str) -> Cells:
    if not _CELLS.fullmatch(text):
        raise ConfigError(f"Each painted cell is a query and a key, as in 'painted:3-1.4-1', not {text[:40]!r}.")
    pairs = (cell.split("-") for cell in text.split(".") if cell)
    return tuple((int(query), int(key)) for query, key in pairs)


def _parse_tokens(name: str, what: str) -> Callable[[str], int]:
    """Parses the number of tokens of the mask `name`, which is `what` ("a width")."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
            raise ConfigError(f"The mask '{name}:{text}' needs {what} of at least one token, as in '{name}:8'.")
        return int(text)

    return parse


_parse_width = _parse_tokens("window", "a width")


@lru_cache(maxsize=64)
def _parse_matrix(text: str) -> Matrix:
    rows = text.split("/")
    if not text or set(text) - set("01/") or any(len(row) != len(rows) for row in rows):
        raise ConfigError("A custom mask is a square of 0 and 1 with '/' between its rows, as in 'custom:100/110/111'.")
    return tuple(tuple(cell == "1" for cell in row) for row in rows)


def _extend_matrix(text: str, old_length: int, new_length: int) -> str:
    rows = text.split("/")
    if len(rows) != old_length:
        return text
    old_rows = (row + "0" * (new_length - old_length) for row in rows)
    new_rows = ("1" * (position + 1) + "0" * (new_length - position - 1) for position in range(old_length, new_length))
    return "/".join((*old_rows, *new_rows))


NO_MASK = "none"
BIDIRECTIONAL = "Bidirectional"  # the usual term for no mask
_CELLS = re.compile(r"([0-9]{1,9}-[0-9]{1,9}(\.[0-9]{1,9}-[0-9]{1,9})*)?")

MASKS: Registry[Mask] = Registry(
    "mask",
    {
        "causal": Mask(
            title="Causal",
            description="No token attends to a later one, as in a model that writes from left to right.",
            formula=r"m_{ij} = [\,j \le i\,]",
            allowed=causal,
        ),
        "window": Mask(
            title="Sliding window",
            description="Each token attends only to tokens less than the window width away.",
            formula=r"m_{ij} = [\,|i - j| < w\,]",
            allowed=window,
            argument=MaskArgument("Window width", "4", _parse_width),
            with_causal=True,
        ),
        "chunks": Mask(
            title="Chunks",
            description="Each token attends only to tokens in its own chunk; chunks are equally long.",
            formula=r"m_{ij} = [\,\lfloor i / c \rfloor = \lfloor j / c \rfloor\,]",
            allowed=chunks,
            argument=MaskArgument("Chunk length", "4", _parse_tokens("chunks", "a length")),
            selectable=False,
        ),
        "padding": Mask(
            title="Padding",
            description="No token attends to the padding of a batch.",
            formula=r"m_{ij} = [\,j\ \mathrm{is\ a\ token}\,]",
            allowed=padding,
            selectable=False,
        ),
        "custom": Mask(
            title="Custom matrix",
            description="A matrix of your own: a row for each query, 1 where it may attend.",
            formula=r"m_{ij} = M_{ij}",
            allowed=custom,
            argument=MaskArgument(
                "Matrix: a row for each query, 1 where it may attend",
                "100/110/111",
                _parse_matrix,
                _extend_matrix,
                "cells",
            ),
            selectable=False,
        ),
        "painted": Mask(
            title="Custom",
            description="The masks before it, inverted in cells that you paint.",
            formula=r"m_{ij} = m'_{ij} \oplus [\,(i, j)\ \mathrm{is\ painted}\,]",
            allowed=painted,
            argument=MaskArgument("Painted cells, as query-key", "3-1", _parse_cells, control="cells"),
            inverts=True,
        ),
    },
)
