"""The embedding layer as a table: ids pick rows, and the same by multiplying one-hot vectors."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.errors import InputError, numbered, shortened

MAX_ROWS, MAX_WIDTH, MAX_IDS, MAX_TEXTS = 1_000, 64, 24, 8


@dataclass(frozen=True, eq=False)
class Lookup:
    """What an embedding layer gives for a batch of ids; `from_one_hot` is one_hot(ids) times the table."""

    ids: Int[Tensor, "batch pos"]
    table: Float[Tensor, "token d_model"]
    output: Float[Tensor, "batch pos d_model"]
    from_one_hot: Float[Tensor, "batch pos d_model"]


def parse_ids(text: str, rows: int) -> Int[Tensor, "batch pos"]:
    """A batch of ids from text: a line (or part between semicolons) is one text, with commas or spaces between ids.

    Raises InputError for texts other than ids, an id that the table has no row for, and lines of unequal length.
    """
    lines = [line for line in re.split(r"[;\n]", text) if line.strip(" ,[]\t\r")]
    if not lines or len(lines) > MAX_TEXTS:
        raise InputError(f"There are {len(lines)} lines of ids; give 1 to {MAX_TEXTS}, as in: 1, 5, 2, 99, 3")
    batch = [[_parse_id(word, rows) for word in re.split(r"[\s,]+", line.strip(" ,[]\t\r"))] for line in lines]
    lengths = [len(ids) for ids in batch]
    if len(set(lengths)) > 1:
        raise InputError(
            f"The lines have {', '.join(map(str, lengths))} ids. A batch is one array, so all its texts are equally "
            "long; in practice the short ones are filled up with a padding token."
        )
    if lengths[0] > MAX_IDS:
        raise InputError(f"A line has {lengths[0]} ids; at most {MAX_IDS} are drawn.")
    return torch.tensor(batch)


def _parse_id(word: str, rows: int) -> int:
    if not re.fullmatch(r"-?[0-9]{1,12}", word):
        raise InputError(f"{shortened(word, 30)!r} is not an id; an id is a whole number from 0 to {rows - 1}.")
    if not 0 <= int(word) < rows:
        raise InputError(f"There is no row {int(word):,}: the table has {numbered('row', rows)}.")
    return int(word)


def look_up(text: str, rows: int, width: int, seed: int = 0) -> Lookup:
    """The rows of a new `nn.Embedding(rows, width)`, drawn from the seed, that the ids pick.

    Raises InputError for ids as `parse_ids` does.
    """
    ids = parse_ids(text, rows)
    with torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(seed)
        layer = nn.Embedding(rows, width)
        one_hot = functional.one_hot(ids, rows).to(layer.weight.dtype)
        return Lookup(ids, layer.weight.detach(), layer(ids), one_hot @ layer.weight)


def cosines(vectors: Float[Tensor, "row d_model"]) -> Float[Tensor, "row other"]:
    """The cosine of each two vectors."""
    unit = functional.normalize(vectors.float(), dim=-1)
    return unit @ unit.T
