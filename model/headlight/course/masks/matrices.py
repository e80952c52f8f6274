"""M as a matrix of 0 and minus infinity before the softmax, zeros after it, and padding masks of wrong shapes."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from headlight.array_types import Bool, Float
from headlight.course.attention import HeadValues, attend
from headlight.course.attention_by_hand.words import TOKENS
from headlight.course.controls import ChoiceControl, CountControl, MatrixControl, SeedControl
from headlight.course.screen import Screen, ScreenRows, StateFields
from headlight.errors import InputError, reason
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import AttentionFunction, SoftmaxAttention
from headlight.nn.masks import MASKS, QueryKeyPositions, combine_masks, padding
from headlight.questions.asking import ask_mask, ask_number, ask_whether, choose
from headlight.questions.kinds import Question
from headlight.views.forms import bars, weights_matrix
from headlight.views.kinds import MatrixView, TableView, Verdict
from headlight.views.rows import row
from headlight.views.words import percent

CHANNELS = 4
WAYS = {"weights": "Weights set to 0 after the softmax", "scores": "Scores set to 0 before the softmax"}
OFFERED = {
    "none": "None",
    "causal": "Causal",
    "window": "Sliding window",
    "padding": "Padding at the end",
    "drawn": "Drawn by hand",
}
BY_NAME = f"mask={','.join(name for name in OFFERED if name != 'drawn')}"


def random_head(tokens: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of a head, drawn at random."""
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(tokens, CHANNELS, generator=generator) for _ in range(3))
    return 1.5 * q, k, v


def mask_cells(mask: str, tokens: int, width: int) -> Bool[Tensor, "query key"]:
    """The cells that a mask allows; `width` is that of a window, or the number of padding tokens."""
    is_token = torch.arange(tokens) < max(tokens - width, 1)
    positions = QueryKeyPositions(torch.arange(tokens), torch.arange(tokens), is_token[None])
    masks = {"none": [], "window": [f"window:{width}"]}.get(mask, [mask])
    return combine_masks(masks, positions)[0, 0]


def chosen_cells(
    mask: str, tokens: int, width: int, cells: Float[Tensor, "drawn_query drawn_key"]
) -> Bool[Tensor, "query key"]:
    """The cells that a named mask allows, or the learner's own. Raises InputError if those are not square."""
    if mask != "drawn":
        return mask_cells(mask, tokens, width)
    if len(cells) != cells.shape[1]:
        raise InputError(
            f"The mask has {len(cells)} rows and {cells.shape[1]} columns. It needs one row and one column for each "
            "token."
        )
    return cells.bool()


def added_mask(
    mask: str, tokens: int, width: int, cells: Float[Tensor, "drawn_query drawn_key"], seed: int
) -> ScreenRows:
    """Scores, M, their sum, and the weights, here and with a plain softmax, which may divide 0 by 0."""
    allowed = chosen_cells(mask, tokens, width, cells)
    tokens = len(allowed)
    q, k, v = random_head(tokens, seed)
    head = attend(q, k, v, allowed=allowed)
    plain = torch.softmax(head.masked_scores, dim=-1)
    names = TOKENS.label_all(tokens)
    matrix = partial(MatrixView, rows=names, columns=names, least_scale=float(head.scores.abs().max()))
    weights = partial(matrix, colours="weights", row_sums=True, crossed=~allowed)
    m = torch.zeros(tokens, tokens).masked_fill(~allowed, -torch.inf)
    empty = [name for name, seen in zip(names, allowed.any(-1).tolist(), strict=True) if not seen]
    return (
        row(
            matrix(title="scores", values=head.scores, row_axis="query", column_axis="key"),
            matrix(title="M", before="+", values=m, crossed=~allowed, colours="none"),
            question=None if mask == "drawn" else _ask_to_draw(mask, width, allowed, names),
        ),
        row(
            matrix(title="scores + M", before="=", values=head.scores + m, crossed=~allowed),
            weights(title="weights", before="→", values=head.weights),
            *((weights(title="torch.softmax of scores + M", values=plain),) if empty else ()),
            question=_ask_of_empty(allowed, empty) if mask == "drawn" else None,
        ),
        *(
            (
                row(
                    MatrixView("output in this program", head.output, rows=names),
                    MatrixView("output with torch.softmax", plain @ v, rows=names),
                ),
            )
            if empty
            else ()
        ),
        Verdict(
            f"“{'”, “'.join(empty)}” may look at nothing. A plain softmax divides 0 by 0 and gives NaN, which spreads "
            "to all values computed from it. This program gives weights of 0, so the output of such a token is 0."
            if empty
            else f"{int((~allowed).sum())} of {tokens * tokens} cells are forbidden. e to the power of −∞ is 0, so "
            "their weights are exactly 0, and the rest of each row still adds up to 1. The code replaces the scores "
            "there instead of adding M: the result is the same.",
            good=False if empty else None,
        ),
    )


def _ask_to_draw(mask: str, width: int, allowed: Tensor, names: tuple[str, ...]) -> Question:
    sizes = {"window": f" of width {width}", "padding": f" ({width} of {len(names)} tokens)"}
    return ask_mask(
        f"Mask: {OFFERED[mask].lower()}{sizes.get(mask, '')}. Tick the keys that each query may look at.",
        names,
        names,
        allowed,
        (allowed.T, "You have swapped the axes: a row shows what one token may see."),
        (allowed & ~torch.eye(len(names), dtype=torch.bool), "A token may look at itself, too."),
        (~allowed, "You have ticked the forbidden cells: a tick lets a query look at a key."),
        hints=("Each row shows what one token may see, each column which tokens may see it.",),
        because="M is 0 where you ticked, and −∞ elsewhere.",
    )


def _ask_of_empty(allowed: Tensor, empty: list[str]) -> Question:
    return ask_number(
        "In how many rows does a plain softmax divide 0 by 0?",
        len(empty),
        (len(allowed) - len(empty), "In those rows it has something to divide by."),
        hints=("Look for a query without a tick.",),
    )


def explore_mask(
    mask: str, tokens: int, width: int, cells: Float[Tensor, "drawn_query drawn_key"], seed: int
) -> StateFields:
    """The same mask on a trained model."""
    names = {"none": "none", "causal": "causal", "window": f"window:{width}"}
    allowed = chosen_cells(mask, tokens, width, cells)
    words = " ".join(TOKENS.label_all(len(allowed)))
    return {"model": "stories-causal", "text": words, "masks": names.get(mask) or painted_mask(allowed)}


def painted_mask(allowed: Bool[Tensor, "query key"]) -> str:
    """A mask for a model that puts a special token before the text: words see what is allowed, but not that token."""
    words = range(1, len(allowed) + 1)
    forbidden = [(query, key) for query in words for key in (0, *words) if key == 0 or not allowed[query - 1, key - 1]]
    return f"painted:{'.'.join(f'{query}-{key}' for query, key in forbidden)}"


ADDED = Screen(
    title="A mask is a matrix that is added",
    lesson="M is 0 where a query may look and −∞ where it may not; added to the scores before the softmax, it makes "
    "the forbidden weights exactly 0. Each row shows what one token may see: with the causal mask, itself and all "
    "tokens before it. Draw your own: a row without a tick has nothing to divide by, as with padding at the start of a "
    "text.",
    controls={
        "mask": ChoiceControl("Mask", "causal", OFFERED),
        "tokens": CountControl("Tokens", "4", 2, 6, when=BY_NAME),
        "width": CountControl("Window width, or tokens of padding", "2", 1, 5, when="mask=window,padding"),
        "cells": MatrixControl(
            "Mask: a row for each query",
            "1,0,0,0;1,1,0,0;0,0,0,0;1,0,1,1",
            when="mask=drawn",
            rows=TOKENS,
            columns=TOKENS,
            switches=True,
            low=0,
            high=1,
        ),
        "seed": SeedControl(),
    },
    compute=added_mask,
    formulas=(
        r"\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}} + M\right) V",
        r"M_{ij} = 0 \text{ if } m_{ij} = 1,\quad M_{ij} = -\infty \text{ if } m_{ij} = 0",
        MASKS["causal"].formula,
        MASKS["window"].formula,
        MASKS["padding"].formula,
        r"m_{ij} = 0 \text{ for all } j \Rightarrow a_{ij} = \frac{0}{0}",
    ),
    code=(
        AttentionFunction.mask,
        SoftmaxAttention.normalize,
        Attention.weighted_sum,
        *(MASKS[name].allowed for name in OFFERED if name in MASKS),
    ),
    explore=explore_mask,
)


def weights_of_scores(scores: Float[Tensor, "query key"], allowed: Tensor | None) -> HeadValues:
    """A head with these scores: the keys are one-hot, so that q · k is a number of q."""
    one_hot = torch.eye(scores.shape[1])
    return attend(scores, one_hot, one_hot, allowed=allowed, scale=False)


def before_or_after(way: str, scores: Float[Tensor, "query key"]) -> ScreenRows:
    """The causal mask as −∞ before the softmax, compared with weights or scores set to 0."""
    if len(scores) != scores.shape[1]:
        raise InputError(
            f"The scores have {len(scores)} rows and {scores.shape[1]} columns. These numbers must be equal."
        )
    names, allowed = TOKENS.label_all(len(scores)), torch.ones_like(scores, dtype=torch.bool).tril()
    read = scores.masked_fill(~allowed, 0) if way == "scores" else scores
    right, wrong = weights_of_scores(scores, allowed), weights_of_scores(read, None).weights
    kept = (wrong * allowed).sum(-1)
    largest = float(scores.abs().max())
    matrix = partial(MatrixView, rows=names, columns=names, crossed=~allowed, least_scale=largest)
    weights = partial(weights_matrix, names=names, crossed=~allowed, before="→")
    return (
        row(
            matrix(title="Scores set to −∞ before the softmax", values=right.masked_scores),
            weights("Weights", right.weights),
        ),
        row(
            matrix(title="The scores as they are", values=read, crossed=None)
            if way == "weights"
            else matrix(title=WAYS[way], values=read),
            weights("Weights", wrong) if way == "scores" else weights(WAYS[way], wrong * allowed),
            question=_ask_of_zeros(way, names, kept),
        ),
        *(
            [bars("Weight that each row gives to the keys it may see", names, kept, high=1.0)]
            if way == "scores"
            else ()
        ),
        Verdict(_told_of_zeros(way, names[0], kept), good=False),
        *_in_place(scores, allowed, names),
    )


def _ask_of_zeros(way: str, names: tuple[str, ...], kept: Tensor) -> Question:
    if way == "scores":
        text = "A score of 0 for each forbidden key. Will its weight be 0?"
        return ask_whether(text, float(kept.min()) == 1, "The softmax turns a score of 0 into e⁰ = 1.")
    return choose(
        "After the softmax, the upper right triangle is set to 0. Which row still adds up to 1?",
        (*names, "none"),
        len(names) - 1,
        {"none": "The last row loses nothing: it may look at all tokens."},
    )


def _told_of_zeros(way: str, first: str, kept: Tensor) -> str:
    if way == "scores":
        return (
            f"With scores of 0 “{first}” gives {percent(1 - float(kept[0]), 0)} of its weight to tokens that it must "
            "not see: the softmax turns a score of 0 into e⁰ = 1. Only −∞ becomes a weight of 0."
        )
    return (
        f"Zeros after the softmax leave row sums from {float(kept.min()):.2f} to {float(kept.max()):.2f}: early tokens "
        "get far less than a whole value, and how much depends on tokens that they must not see."
    )


def _in_place(scores: Tensor, allowed: Tensor, names: tuple[str, ...]) -> ScreenRows:
    """The scores after a function that returns a copy, and after one that works in place."""
    kept = {"masked_fill": scores.clone(), "masked_fill_": scores.clone()}
    for name, given in kept.items():
        getattr(given, name)(~allowed, -torch.inf)
    matrix = partial(MatrixView, rows=names, columns=names)
    return (
        row(
            *(matrix(title=f"The scores after {name}", values=given) for name, given in kept.items()),
            title="A copy, or the scores themselves?",
            text="In PyTorch, a function whose name ends with an underscore changes its input tensor: overwritten "
            "scores can no longer be drawn or masked in another way.",
        ),
    )


BEFORE_AFTER = Screen(
    title="−∞ before the softmax, not zeros",
    lesson="Some notes set the forbidden weights to 0 after the softmax. Then most rows no longer add up to 1, and "
    "worse: the sum that each row was divided by still depends on later tokens. Others say that forbidden scores "
    "become 0, beside code that correctly sets them to −∞.",
    controls={
        "way": ChoiceControl("In place of −∞", "weights", WAYS),
        "scores": MatrixControl(
            "Scores: a row for each query", "1,2,0,1;0,1,1,-1;2,0,1,0;1,1,0,2", rows=TOKENS, columns=TOKENS
        ),
    },
    compute=before_or_after,
    formulas=(
        r"\sum_{j \le i} \frac{e^{s_{ij}}}{\sum_{j'} e^{s_{ij'}}} < 1",
        r"e^{-\infty} = 0",
        r"e^{0} = 1",
    ),
    code=(before_or_after, weights_of_scores, AttentionFunction.mask, SoftmaxAttention.normalize),
)


PADDING_SHAPES = {
    "missing": "mask.unsqueeze(1): (batch, 1, key)",
    "channels": "a cell for each channel: (batch, 1, 1, d_model)",
    "right": "mask.unsqueeze(1).unsqueeze(2): (batch, 1, 1, key)",
}
OUTCOMES = ("an error", "each example hides its own padding", "no error, but the wrong keys are hidden")


def broadcast_mask(batch: int, heads: int, keys: int, way: str, d_model: int) -> ScreenRows:
    """A padding mask of one of the shapes, broadcast by PyTorch to scores (batch, head, query, key)."""
    cells = d_model if way == "channels" else keys
    is_token = torch.arange(cells) < cells - torch.arange(batch)[:, None] % cells
    mask = is_token[:, None] if way == "missing" else is_token[:, None, None]
    scores = torch.zeros(batch, heads, keys, keys)
    shapes = TableView(
        ("tensor", "axes", "shape"),
        (
            ("scores", "batch, head, query, key", str(tuple(scores.shape))),
            ("mask", PADDING_SHAPES[way].partition(": ")[2].strip("()"), str(tuple(mask.shape))),
        ),
        note="Shapes are matched from the right; an axis of 1 fits any other.",
    )
    lengths = MatrixView(
        "padding mask: 1 is kept",
        is_token.float(),
        rows=tuple(f"example {index}" for index in range(batch)),
        colours="weights",
    )
    return (row(shapes, lengths), *_outcome(scores, mask, is_token, way))


def _outcome(scores: Tensor, mask: Tensor, is_token: Tensor, way: str) -> ScreenRows:
    """The result in PyTorch: its error message, or the keys that the weights hide."""
    try:
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    except RuntimeError as error:
        said = f"RuntimeError{reason(error)}. This is lucky: the mistake is noticed at once."
        if way == "channels":
            said += f" A padding mask hides tokens, not channels: it needs {scores.shape[-1]} cells for each text."
        return (row(Verdict(said, good=False), question=_ask(0)),)
    batch, heads = weights.shape[:2]
    hidden = weights[:, :, 0] == 0
    right = bool((hidden == ~is_token[:, None]).all())
    pictures = tuple(
        MatrixView(
            f"example {index}: which keys each head may see",
            (~hidden[index]).float(),
            rows=tuple(f"head {head}" for head in range(heads)),
            colours="weights",
            crossed=hidden[index],
        )
        for index in range(batch)
    )
    text = _told(way, right, mask.shape[-1])
    grown = (
        (f" The {scores.shape[1]} head has become {heads} heads without any message.")
        if heads > scores.shape[1]
        else ""
    )
    good = right and way != "channels" and not grown
    return row(*pictures, question=_ask(1 if right else 2)), Verdict(text + grown, good=good)


def _ask(answer: int) -> Question:
    mistake = "Match the axes of both shapes from the right: each pair has to be equal, or one of them 1."
    return choose("What does PyTorch do with this mask?", OUTCOMES, answer, dict.fromkeys(OUTCOMES, mistake))


def _told(way: str, right: bool, cells: int) -> str:
    """The effect of a mask that raises no error."""
    if way == "channels":
        chance = "an axis of 1 fits any other" if cells == 1 else "the text has as many tokens as the model channels"
        return f"No error, but only because {chance}. With the next text, PyTorch raises one or hides the wrong keys."
    if not right:
        return (
            "No error, but wrong: the axis meant as the batch was matched with the heads, so each head hides the "
            "padding of another example. Only bad results will show it."
        )
    by_chance = " But only because nothing here depends on the example or head." if way == "missing" else ""
    return f"Each example hides its own padding from all its heads.{by_chance}"


BROADCAST = Screen(
    title="One axis too few, or the wrong one",
    lesson="A padding mask of shape (batch, key) has to become (batch, 1, 1, key) before it meets scores of shape "
    "(batch, head, query, key). With one axis too few PyTorch matches the batch with the heads, an error unless both "
    "are equal or one is 1: try a batch of 2 and 4 heads, or of 3 and 1 head. Other notes give it a cell for each "
    "channel, (batch, d_model): they state this shape in a comment, but nobody ran it.",
    controls={
        "batch": CountControl("Batch", "3", 1, 4),
        "heads": CountControl("Heads", "3", 1, 4),
        "keys": CountControl("Tokens", "4", 2, 6),
        "way": ChoiceControl("Mask", "missing", PADDING_SHAPES),
        "d_model": CountControl("Channels d_model", "16", 1, 64, when="way=channels"),
    },
    compute=broadcast_mask,
    formulas=(
        r"(B, 1, T) \to (1, B, 1, T) \text{ against } (B, H, T, T)",
        r"(B, 1, 1, T) \text{ against } (B, H, T, T)",
    ),
    code=(broadcast_mask, _outcome, padding),
)
