"""Ids pick rows of a table: the embedding layer."""

from __future__ import annotations

import torch

from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl, NumberControl, SeedControl, TextControl
from headlight.course.pictures import HeatMapPicture, MatrixPicture, TokensPicture, row, verdict_row
from headlight.course.questions import ask_largest, ask_number
from headlight.course.screen import Answer, Screen, link
from headlight.course.tokens.embedding_table import MAX_ROWS, MAX_WIDTH, look_up
from headlight.course.tokens.model_vectors import embedding_cosines, word_ids
from headlight.errors import InputError
from headlight.nn.transformer import Transformer

MAX_COMPARED = 12


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


def compare_one_hot(words: str, model: Checkpoint) -> Answer:
    """Cosines of one-hot vectors beside those of a trained model's embeddings."""
    ids = word_ids(model, words)[:MAX_COMPARED]
    if len(ids) < 2:
        raise InputError("All this is one token to the model. Type two or more words that it knows.")
    names = tuple(model.tokenizer.stripped_token_text(token_id) for token_id in ids)
    learned = torch.tensor(embedding_cosines(model, ids)).round(decimals=6)
    # Two different one-hot vectors have no channel in common.
    one_hot = torch.eye(len(ids))
    apart = learned.clone().fill_diagonal_(-torch.inf)
    first, second = divmod(int(apart.argmax()), len(ids))
    return (
        row(
            TokensPicture(
                title=f"Tokens and their ids, at most {MAX_COMPARED}", tokens=names, below=tuple(map(str, ids))
            )
        ),
        row(
            MatrixPicture(title="Cosines of one-hot vectors", values=one_hot, rows=names, columns=names),
            MatrixPicture(title="Cosines of learned vectors", values=learned, rows=names, columns=names),
            question=ask_largest(
                f"Which of these lies nearest to “{names[0]}” in the model's table?",
                dict(zip(names[1:5], learned[0, 1:5].tolist(), strict=True)),
            ),
        ),
        verdict_row(
            f"One-hot vectors have {model.model.config.vocabulary_size:,} channels and any two words are "
            f"equally unlike: cosine 0. This model's vectors have {model.model.config.embedding_dim} channels, and "
            f"“{names[first]}” is nearest to “{names[second]}”: cosine {float(learned[first, second]):.2f}."
        ),
    )


LOOK_UP = Screen(
    title="From ids to rows of a table",
    lesson=(
        "The embedding layer is a table with a row of numbers for every entry of the vocabulary. An id picks its row, "
        "so a batch of texts of equal length becomes one array of texts × positions × channels. The numbers are drawn "
        "at random here, as before any training."
    ),
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
ONE_HOT = Screen(
    title="One-hot against learned vectors",
    lesson=(
        "A one-hot vector has one channel for every word and says nothing about its meaning: all words are equally far "
        "apart. A learned vector has far fewer channels, and words that are used alike come to lie near each other."
    ),
    controls={
        "words": TextControl(title="Words", default="king queen prince river lake red blue"),
        "model": ModelControl(default="stories-causal"),
    },
    compute=compare_one_hot,
    formulas=(r"\cos(x, y) = \frac{x \cdot y}{\lVert x \rVert\,\lVert y \rVert}",),
    code=(embedding_cosines,),
    explore=link("model", text="words"),
)
