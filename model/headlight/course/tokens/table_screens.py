"""Ids pick rows of a table: the embedding layer, and the same by multiplying one-hot vectors."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.course.controls import NumberControl, SeedControl, TextControl
from headlight.course.pictures import HeatMapPicture, MatrixPicture, row, verdict_row
from headlight.course.questions import ask_number
from headlight.course.screen import Answer, Screen
from headlight.errors import InputError, numbered, shortened
from headlight.nn.transformer import Transformer

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


def show_lookup(ids: str, rows: int, width: int, seed: int) -> Answer:
    """A batch of ids, the table, and what the layer gives."""
    found = look_up(ids, rows, width, seed)
    batch, length = found.ids.shape
    texts = [f"text {number}" for number in range(1, batch + 1)]
    picked = torch.unique(found.ids)
    return (
        row(
            MatrixPicture(
                title=f"ids: {batch} × {length}",
                values=found.ids,
                rows=tuple(texts),
                column_axis="position",
                colours="none",
                digits=0,
                columns=tuple(map(str, range(length))),
            ),
            title="In",
        ),
        row(
            HeatMapPicture(
                title=f"The table E: {rows} × {width}",
                values=found.table,
                row_axis="id",
                column_axis="channel",
            ),
            HeatMapPicture(
                before="→",
                title=f"The {len(picked)} rows that these ids pick",
                values=found.table[picked],
                rows=tuple(map(str, picked.tolist())),
                row_axis="id",
                column_axis="channel",
            ),
            title="Table",
            question=ask_number(
                "How many numbers does the embedding layer give for these ids?",
                found.output.numel(),
                (found.ids.numel(), f"Each id picks a whole row of {width} numbers."),
                (rows * width, "That is the whole table; only the rows of these ids are given."),
                hints=(f"There are {found.ids.numel()} ids, and each row has {width} channels.",),
            ),
        ),
        row(
            *(
                HeatMapPicture(
                    title=f"Output for {text}: {length} × {width}",
                    values=output,
                    rows=tuple(map(str, text_ids.tolist())),
                    row_axis="id",
                    column_axis="channel",
                )
                for text, text_ids, output in zip(texts, found.ids, found.output, strict=True)
            ),
            title="Out",
        ),
        verdict_row(
            f"The output has the shape {tuple(found.output.shape)}: texts, positions, channels. Multiplying "
            f"one-hot vectors of {rows} channels by the table gives the same; the largest difference is "
            f"{float((found.output - found.from_one_hot).abs().max()):g}."
        ),
    )


LOOK_UP = Screen(
    title="From ids to rows of a table",
    lesson="The embedding layer is a table with a row of numbers for every entry of the vocabulary. An id picks its "
    "row, so a batch of texts of equal length becomes one array of texts × positions × channels. The numbers are "
    "drawn at random here, as before any training.",
    controls={
        "ids": TextControl(title="Ids: a line for each text", default="1, 5, 2, 99, 3\n10, 11, 12, 13, 14", lines=3),
        "rows": NumberControl(
            title="Entries of the vocabulary", default="100", low=1.0, high=float(MAX_ROWS), whole=True
        ),
        "width": NumberControl(title="Channels of a vector", default="16", low=1.0, high=float(MAX_WIDTH), whole=True),
        "seed": SeedControl(default="0"),
    },
    compute=show_lookup,
    formulas=(r"x_i = E_{t_i} = \mathrm{onehot}(t_i)\,E,\quad E \in \mathbf{R}^{V \times d}",),
    code=(look_up, Transformer.embed),
)
