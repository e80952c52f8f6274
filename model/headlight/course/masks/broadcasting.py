"""The bug of a mask with one axis too few: an error, or with luck a silent mask of heads."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.course.controls import ChoiceControl, NumberControl
from headlight.course.pictures import MatrixPicture, Question, Row, TablePicture, row, verdict_row
from headlight.course.screen import Answer, Screen
from headlight.errors import reason

WAYS = {
    "missing": "mask.unsqueeze(1): (batch, 1, key)",
    "right": "mask.unsqueeze(1).unsqueeze(2): (batch, 1, 1, key)",
}


def broadcast_mask(batch: int, heads: int, keys: int, way: str) -> Answer:
    """A padding mask of each way, applied to scores (batch, head, query, key) as PyTorch broadcasts it."""
    is_token = torch.arange(keys) < keys - torch.arange(batch)[:, None] % keys
    mask = is_token[:, None] if way == "missing" else is_token[:, None, None]
    scores = torch.zeros(batch, heads, keys, keys)
    shapes = TablePicture(
        columns=("tensor", "axes", "shape"),
        rows=(
            ("scores", "batch, head, query, key", str(tuple(scores.shape))),
            ("mask", "batch, 1, key" if way == "missing" else "batch, 1, 1, key", str(tuple(mask.shape))),
        ),
        note="Shapes are matched from the right; an axis of 1 fits any other.",
    )
    lengths = MatrixPicture(
        title="padding mask: 1 is a token",
        values=is_token.float(),
        rows=tuple(f"example {index}" for index in range(batch)),
        colours="weights",
    )
    return (row(shapes, lengths), *_outcome(scores, mask, is_token, way))


def _outcome(scores: Tensor, mask: Tensor, is_token: Tensor, way: str) -> tuple[Row, ...]:
    """What PyTorch does: an error with its own words, or weights with what they hide."""
    try:
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    except RuntimeError as error:
        said = f"RuntimeError{reason(error)}."
        return (verdict_row(f"{said} Lucky: the mistake is seen at once.", good=False),)
    batch, heads = weights.shape[:2]
    hidden = weights[:, :, 0] == 0
    right = (hidden == ~is_token[:, None]).all()
    pictures = tuple(
        MatrixPicture(
            title=f"example {index}: which keys each head may see",
            values=(~hidden[index]).float(),
            rows=tuple(f"head {head}" for head in range(heads)),
            colours="weights",
            crossed=hidden[index],
        )
        for index in range(batch)
    )
    question = Question(
        "Does each example hide its own padding, and nothing else?", ("Yes", "No"), 0 if bool(right) else 1
    )
    grown = f" The {scores.shape[1]} head has become {heads} without a word." if heads > scores.shape[1] else ""
    if bool(right):
        text = "Each example hides its own padding from all its heads."
        if way == "missing":
            text += " But only because nothing here depends on which example or head it is."
    else:
        text = (
            "No error, and wrong: the axis meant as the batch was matched with the heads, so each head hides the "
            "padding of another example. Nothing but bad results will tell."
        )
    return row(*pictures, question=question), verdict_row(text + grown, good=bool(right) and not grown)


BROADCAST = Screen(
    title="One axis too few",
    lesson=(
        "A padding mask of shape (batch, key) has to become (batch, 1, 1, key) before it meets scores of shape (batch, "
        "head, query, key). With one axis too few PyTorch matches the batch with the heads: an error, unless both "
        "numbers are equal or one of them is 1. Try a batch of 2 and 4 heads, and a batch of 3 with 1 head."
    ),
    controls={
        "batch": NumberControl(title="Batch", default="3", low=1, high=4, whole=True),
        "heads": NumberControl(title="Heads", default="3", low=1, high=4, whole=True),
        "keys": NumberControl(title="Tokens", default="4", low=2, high=6, whole=True),
        "way": ChoiceControl(title="Mask", default="missing", options=WAYS),
    },
    compute=broadcast_mask,
    formulas=(
        r"(B, 1, T) \to (1, B, 1, T) \text{ against } (B, H, T, T)",
        r"(B, 1, 1, T) \text{ against } (B, H, T, T)",
    ),
    code=(broadcast_mask, _outcome),
)
