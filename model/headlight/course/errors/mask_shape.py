"""A padding mask has a cell for each token: what happens to one that has a cell for each channel."""

from __future__ import annotations

import torch

from headlight.array_types import Bool, Float
from headlight.course.controls import NumberControl
from headlight.course.pictures import TablePicture, Verdict, row
from headlight.course.questions import ask_whether
from headlight.course.screen import Answer, Screen
from headlight.errors import reason
from headlight.nn.masks import padding

SPACE = "\N{NO-BREAK SPACE}"
PROMISED, RIGHT = f"(batch,{SPACE}d_model)", f"(batch,{SPACE}tokens)"


def masked_weights(
    scores: Float[torch.Tensor, "batch head query key"], mask: Bool[torch.Tensor, "batch last"]
) -> Float[torch.Tensor, "batch head query _"]:
    """The weights under a padding mask. Raises RuntimeError where its last axis is not that of the keys."""
    return torch.softmax(scores.masked_fill(~mask[:, None, None], -torch.inf), dim=-1)


def mask_shape(batch: int, heads: int, tokens: int, d_model: int) -> Answer:
    """The shape that a docstring promises, and the one that works."""
    scores = torch.zeros(batch, heads, tokens, tokens)
    outcomes = {}
    for axes, last in ((PROMISED, d_model), (RIGHT, tokens)):
        try:
            outcomes[axes] = last, f"weights {tuple(masked_weights(scores, torch.ones(batch, last) > 0).shape)}"
        except RuntimeError as error:
            outcomes[axes] = last, f"RuntimeError{reason(error)}"
    promised, said = outcomes[PROMISED]
    return (
        row(
            TablePicture(
                title=f"Scores of shape {tuple(scores.shape)}: batch, head, query, key",
                columns=("mask", "shape", "what PyTorch says"),
                rows=tuple((axes, f"({batch},{SPACE}{last})", said) for axes, (last, said) in outcomes.items()),
            ),
            question=ask_whether(
                f"Will a mask of {batch} × {d_model} cells be accepted for scores of {tokens} keys?",
                not said.startswith("RuntimeError"),
                "Its last axis has to be the number of keys, or 1.",
            ),
        ),
        row(_verdict(promised, tokens, failed=said.startswith("RuntimeError"))),
    )


def _verdict(d_model: int, tokens: int, *, failed: bool) -> Verdict:
    if failed:
        return Verdict(
            text=f"A mask with {d_model} cells for each text does not fit {tokens} keys. It hides tokens, not "
            "channels, so it needs as many cells as there are tokens.",
            good=False,
        )
    chance = "the text has as many tokens as the model channels" if d_model == tokens else "an axis of 1 fits any other"
    return Verdict(
        text=f"No error, but only because {chance}. With the next text it ends in one, or hides the wrong thing.",
        good=False,
    )


MASK_SHAPE = Screen(
    title="A mask of tokens, not of channels",
    lesson="Comments state shapes that were never run. One of them gives the padding mask the shape (batch, d_model). "
    "The code below it only works with (batch, tokens).",
    controls={
        "batch": NumberControl(title="Batch", default="2", low=1, high=8, whole=True),
        "heads": NumberControl(title="Heads", default="4", low=1, high=16, whole=True),
        "tokens": NumberControl(title="Tokens", default="6", low=1, high=64, whole=True),
        "d_model": NumberControl(title="Channels d_model", default="16", low=1, high=64, whole=True),
    },
    compute=mask_shape,
    formulas=(r"(B, 1, 1, T) \text{ against } (B, H, T, T)",),
    code=(masked_weights, padding),
)
