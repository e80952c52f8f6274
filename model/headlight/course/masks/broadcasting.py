"""Padding masks of wrong shapes: an error, or with luck a mask that silently hides something else."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.course.controls import ChoiceControl, NumberControl
from headlight.course.pictures import MatrixPicture, Row, TablePicture, Verdict, row, verdict_row
from headlight.course.question_kinds import Question
from headlight.course.questions import choose
from headlight.course.screen import Answer, Screen
from headlight.errors import reason
from headlight.nn.masks import padding

WAYS = {
    "missing": "mask.unsqueeze(1): (batch, 1, key)",
    "channels": "a cell for each channel: (batch, 1, 1, d_model)",
    "right": "mask.unsqueeze(1).unsqueeze(2): (batch, 1, 1, key)",
}
OUTCOMES = ("an error", "each example hides its own padding", "no error, and something else is hidden")


def broadcast_mask(batch: int, heads: int, keys: int, way: str, d_model: int) -> Answer:
    """A padding mask of each way, applied to scores (batch, head, query, key) as PyTorch broadcasts it."""
    cells = d_model if way == "channels" else keys
    is_token = torch.arange(cells) < cells - torch.arange(batch)[:, None] % cells
    mask = is_token[:, None] if way == "missing" else is_token[:, None, None]
    scores = torch.zeros(batch, heads, keys, keys)
    shapes = TablePicture(
        columns=("tensor", "axes", "shape"),
        rows=(
            ("scores", "batch, head, query, key", str(tuple(scores.shape))),
            ("mask", WAYS[way].partition(": ")[2].strip("()"), str(tuple(mask.shape))),
        ),
        note="Shapes are matched from the right; an axis of 1 fits any other.",
    )
    lengths = MatrixPicture(
        title="padding mask: 1 is kept",
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
        said = f"RuntimeError{reason(error)}. Lucky: the mistake is seen at once."
        if way == "channels":
            said += f" A padding mask hides tokens, not channels: it needs {scores.shape[-1]} cells for each text."
        return (row(Verdict(text=said, good=False), question=_ask(0)),)
    batch, heads = weights.shape[:2]
    hidden = weights[:, :, 0] == 0
    right = bool((hidden == ~is_token[:, None]).all())
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
    text = _told(way, right, mask.shape[-1])
    grown = f" The {scores.shape[1]} head has become {heads} without a word." if heads > scores.shape[1] else ""
    good = right and way != "channels" and not grown
    return row(*pictures, question=_ask(1 if right else 2)), verdict_row(text + grown, good=good)


def _ask(answer: int) -> Question:
    mistake = "Match the axes of both shapes from the right: each pair has to be equal, or one of them 1."
    return choose("What does PyTorch make of this mask?", OUTCOMES, answer, dict.fromkeys(OUTCOMES, mistake))


def _told(way: str, right: bool, cells: int) -> str:
    """What a mask that raises no error does."""
    if way == "channels":
        chance = "an axis of 1 fits any other" if cells == 1 else "the text has as many tokens as the model channels"
        return f"No error, but only because {chance}. With the next text it ends in one, or hides the wrong thing."
    if not right:
        return (
            "No error, and wrong: the axis meant as the batch was matched with the heads, so each head hides the "
            "padding of another example. Nothing but bad results will tell."
        )
    by_chance = " But only because nothing here depends on which example or head it is." if way == "missing" else ""
    return f"Each example hides its own padding from all its heads.{by_chance}"


BROADCAST = Screen(
    title="One axis too few, or the wrong one",
    lesson="A padding mask of shape (batch, key) has to become (batch, 1, 1, key) before it meets scores of shape "
    "(batch, head, query, key). With one axis too few PyTorch matches the batch with the heads, an error unless both "
    "are equal or one is 1: try a batch of 2 and 4 heads, or of 3 and 1 head. Other notes give it a cell for each "
    "channel, (batch, d_model): comments state shapes that were never run.",
    controls={
        "batch": NumberControl(title="Batch", default="3", low=1, high=4, whole=True),
        "heads": NumberControl(title="Heads", default="3", low=1, high=4, whole=True),
        "keys": NumberControl(title="Tokens", default="4", low=2, high=6, whole=True),
        "way": ChoiceControl(title="Mask", default="missing", options=WAYS),
        "d_model": NumberControl(
            title="Channels d_model", when="way=channels", default="16", low=1, high=64, whole=True
        ),
    },
    compute=broadcast_mask,
    formulas=(
        r"(B, 1, T) \to (1, B, 1, T) \text{ against } (B, H, T, T)",
        r"(B, 1, 1, T) \text{ against } (B, H, T, T)",
    ),
    code=(broadcast_mask, _outcome, padding),
)
