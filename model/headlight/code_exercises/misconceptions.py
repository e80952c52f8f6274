"""Misconceptions: the wrong result of each is computed, so that an equal answer is recognized."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal

import torch
from torch import Tensor

from headlight.code_exercises.cases import AttentionResult, Case, Layers, agrees, allowed_cells, right_result
from headlight.code_exercises.diagnoses import MASK_NEEDS_AXES, Diagnosis, diagnosis
from headlight.code_exercises.steps import change, compute, project, with_axes_of_scores
from headlight.registry import Registry

ChangedSteps = Mapping[str, Callable[..., object]]


@dataclass(frozen=True)
class Misconception:
    """A diagnosis with hints, and the changed steps of `Steps` that give the wrong answer."""

    diagnosis: Diagnosis
    steps: ChangedSteps


def recognize(case: Case, given: Tensor, part: Literal["output", "weights"] = "output") -> tuple[Diagnosis, ...]:
    """The misconception, or the two together, that give this wrong output (or weights); empty if none does."""
    with torch.no_grad():
        right: Tensor = getattr(right_result(case), part)
        singles = [(row,) for row in MISCONCEPTIONS.values()]
        pairs = [
            pair for pair in combinations(MISCONCEPTIONS.values(), 2) if not set(pair[0].steps) & set(pair[1].steps)
        ]
        for rows in (*singles, *pairs):
            wrong = wrong_result(case, *rows)
            if wrong and agrees(given, getattr(wrong, part)) and not agrees(getattr(wrong, part), right):
                return tuple(row.diagnosis for row in rows)
    return ()


def wrong_result(case: Case, *rows: Misconception) -> AttentionResult | None:
    """The result that these misconceptions give; None if PyTorch raises an error."""
    steps: dict[str, Callable[..., object]] = {}
    for row in rows:
        steps |= row.steps
    try:
        return compute(case, change(**steps))
    except (RuntimeError, IndexError):  # shapes do not match, or an axis is missing
        return None


def _row(looks_like: str, *, nudge: str, concrete: str, show_me: str, **steps: Callable[..., object]) -> Misconception:
    return Misconception(diagnosis(looks_like, nudge=nudge, concrete=concrete, show_me=show_me), steps)


def _softmax_over(axis: str, dimension: int) -> Misconception:
    return _row(
        f"the softmax runs over the {axis} instead of the keys. The weights of a query do not add up to 1.",
        nudge="Add up the weights of one query. What should they give?",
        concrete="Take the softmax over the last axis of the scores, the axis of the keys.",
        show_me="weights = scores.softmax(dim=-1)",
        normalize=lambda scores: scores.softmax(dimension),
    )


_wrong_scale = partial(
    _row,
    nudge="What are the scores divided by, and where does that number come from?",
    concrete="Divide the scores once by the square root of d_k, the number of channels of a query of one head.",
    show_me="scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))",
)
_wrong_mask = partial(
    _row,
    nudge="For one query, list the keys with a weight above 0. Does its row of the mask allow them all?",
    concrete="Set the scores where the mask is 0 to minus infinity, before the softmax.",
    show_me='scores = scores.masked_fill(mask == 0, float("-inf"))',
)
_wrong_mask_axes = partial(
    _row,
    nudge="Print the shapes of the scores and of the mask. Which axis of one is aligned with which axis of the other?",
    concrete="Broadcasting aligns axes from the right, so give the mask an axis of length 1 for each missing axis.",
)
_keys_as_values = partial(
    _row,
    nudge="What does a query take from the tokens that it attends to?",
    concrete="Keys only decide the weights; the weights are multiplied by the values.",
    show_me="output = weights @ value",
)


def _see_all_but_padding(mask: Tensor, scores: Tensor) -> Tensor:
    if mask.dim() == 3:
        return torch.ones_like(scores, dtype=torch.bool)
    return with_axes_of_scores(allowed_cells(mask)[:, 0], scores)


def _mask_transposed(mask: Tensor, scores: Tensor) -> Tensor:
    cells = mask.bool().transpose(1, 2) if mask.dim() == 3 else mask.bool()[:, :, None]
    return with_axes_of_scores(cells, scores)


def _with_layers(make: Callable[[Layers, Case], tuple[Tensor, Tensor, Tensor]]) -> Callable[[Case], object]:
    """A wrong use of a module's layers; a function has no layers, so nothing changes."""
    return lambda case: make(case.layers, case) if case.layers else project(case)


# An answer is compared in this order: of two rows that give the same numbers, the more specific comes first.
MISCONCEPTIONS: Registry[Misconception] = Registry(
    "misconception",
    {
        "softmax-over-queries": _softmax_over("queries", -2),
        "softmax-over-heads": _softmax_over("heads", 1),
        "softmax-over-batch": _softmax_over("examples of the batch", 0),
        "no-softmax": _row(
            "there is no softmax: the scores themselves weight the values.",
            nudge="Are your weights between 0 and 1?",
            concrete="Turn the scores into weights with a softmax over the keys.",
            show_me="weights = scores.softmax(dim=-1)",
            normalize=lambda scores: scores,
        ),
        "exchanged-scores": _row(
            "rows and columns are swapped: the scores are k qᵀ instead of q kᵀ.",
            nudge="Which axis of your scores belongs to the queries?",
            concrete="Multiply the queries by the transposed keys: a row for each query, a column for each key.",
            show_me="scores = query @ key.transpose(-2, -1)",
            score=lambda q, k: k @ q.transpose(-2, -1),
        ),
        "no-scale": _wrong_scale(
            "the scores are not divided by √d_k. With many channels the softmax then picks one key, and its gradient "
            "is close to 0.",
            scale=lambda q, case: 1.0,
        ),
        "scale-by-width": _wrong_scale(
            "the scores are divided by d_k instead of its square root (or twice by the root). The weights are "
            "too even.",
            scale=lambda q, case: 1 / q.shape[-1],
        ),
        "multiplied-by-root": _wrong_scale(
            "the scores are multiplied by √d_k instead of divided.", scale=lambda q, case: float(q.shape[-1] ** 0.5)
        ),
        "scale-of-all-heads": _wrong_scale(
            "the scores are divided by √d_model, the width of all heads together, instead of √d_k, the width of one "
            "head.",
            scale=lambda q, case: float(case.query.shape[-1] ** -0.5),
        ),
        "scale-by-length": _wrong_scale(
            "the scores are divided by the square root of the number of tokens instead of the number of channels.",
            scale=lambda q, case: float(q.shape[-2] ** -0.5),
        ),
        "future-not-masked": _wrong_mask(
            "the future is not masked: a mask (batch, query, key) has no effect, and each token sees the later ones.",
            place_mask=_see_all_but_padding,
        ),
        "mask-ignored": _wrong_mask(
            "the mask has no effect: padding gets attention like any token.",
            place_mask=lambda mask, scores: torch.ones_like(scores, dtype=torch.bool),
        ),
        "mask-inverted": _wrong_mask(
            "the mask is inverted: allowed keys are hidden, and forbidden keys get attention.",
            place_mask=lambda mask, scores: with_axes_of_scores(~allowed_cells(mask)[:, 0], scores),
        ),
        "mask-after-softmax": _wrong_mask(
            "the mask is applied after the softmax: forbidden weights are 0, but the others no longer add up to 1.",
            mask_scores=lambda scores, allowed: scores,
            mask_weights=lambda weights, allowed: weights * allowed,
        ),
        "masked-scores-zero": _wrong_mask(
            "forbidden scores are set to 0 (or close to it). The softmax turns that into e⁰ = 1, so these keys keep "
            "a weight.",
            mask_scores=lambda scores, allowed: scores * allowed,
        ),
        "mask-added": _wrong_mask(
            "the mask of 1 and 0 is added to the scores. It must be 0 at allowed cells and minus infinity elsewhere.",
            mask_scores=lambda scores, allowed: scores + allowed,
            mask_weights=lambda weights, allowed: weights,
        ),
        "mask-by-head": _wrong_mask_axes(
            "the mask has no axis for the heads. Broadcast to (batch, head, query, key), its examples are aligned "
            "with the heads: each head is masked by another example. With as many examples as heads there is no "
            "warning.",
            show_me="mask = mask[:, None, None, :]  # (batch, 1, 1, key)",
            place_mask=lambda mask, scores: (mask if mask.dim() == 3 else mask[:, None, :]).bool(),
        ),
        "mask-unsqueezed": _wrong_mask_axes(
            "unsqueeze(1) gives every mask another axis, even a mask (batch, query, key) if there are no heads. Each "
            "example is then masked by every example, and the result has one axis too many.",
            show_me=MASK_NEEDS_AXES.hints.show_me,
            place_mask=lambda mask, scores: mask.bool()[:, None],
        ),
        "mask-transposed": _wrong_mask_axes(
            "the mask is transposed: it hides queries instead of keys, or the past instead of the future.",
            show_me="mask = mask[:, None, :]  # (batch, 1, key): the same for every query",
            place_mask=_mask_transposed,
        ),
        "empty-row-nan": _row(
            "a query whose keys are all masked gives NaN: the softmax of minus infinities alone is 0 / 0. One such "
            "row makes the loss of the whole batch NaN.",
            nudge="What is the softmax of a row in which every score is minus infinity?",
            concrete="Set the weights of such a row to 0.",
            show_me="weights = weights.masked_fill(mask == 0, 0.0)",
            mask_weights=lambda weights, allowed: weights,
        ),
        "weights-transposed": _row(
            "the weights are transposed before they are multiplied by the values.",
            nudge="Which axis of the weights is summed over in the product with the values?",
            concrete="Multiply the weights (query, key) by the values (key, channel) as they are.",
            show_me="output = weights @ value",
            combine=lambda weights, k, v: weights.transpose(-2, -1) @ v,
        ),
        "values-from-keys": _keys_as_values(
            "the keys are averaged instead of the values.",
            project=lambda case: (*project(case)[:2], case.layers.value(case.key) if case.layers else case.key),
        ),
        "keys-averaged": _keys_as_values(
            "the keys, after their projection, are averaged instead of the values.",
            combine=lambda weights, k, v: weights @ k,
        ),
        "layers-swapped": _row(
            "the layer for queries makes the keys, and the layer for keys makes the queries.",
            nudge="Which layer gets which input?",
            concrete="Name the layers query, key, value (and output), or define and use them in this order.",
            show_me="query = self.query(query); key = self.key(key); value = self.value(value)",
            project=_with_layers(
                lambda layers, case: (layers.key(case.query), layers.query(case.key), layers.value(case.value))
            ),
        ),
        "one-layer-for-all": _row(
            "queries, keys and values are all made by the layer for queries.",
            nudge="How many different layers does the forward pass use?",
            concrete="Query, key and value each need their own layer.",
            show_me="query, key, value = (layer(x) for layer, x in zip(self.linears, (query, key, value)))",
            project=_with_layers(
                lambda layers, case: (layers.query(case.query), layers.query(case.key), layers.query(case.value))
            ),
        ),
        "query-input-for-all": _row(
            "keys and values are made from the query's input. That is self-attention even if another text is given.",
            nudge="Give three different inputs: does the output depend on all of them?",
            concrete="Make the keys from `key` and the values from `value`.",
            show_me="key = self.key(key); value = self.value(value)",
            project=_with_layers(
                lambda layers, case: (layers.query(case.query), layers.key(case.query), layers.value(case.query))
            ),
        ),
        "split-without-transpose": _row(
            "the heads are split by view alone. The channels of different tokens are then mixed in one head.",
            nudge="After splitting, which axis holds the tokens?",
            concrete="View (batch, token, head, d_k) first, then swap the axes of token and head.",
            show_me="query = query.view(batch, -1, h, d_k).transpose(1, 2)",
            split=lambda x, heads: x.reshape(x.shape[0], heads, x.shape[1], -1),
        ),
        "split-interleaved": _row(
            "channels are assigned to the heads in turn instead of d_k neighbouring channels to each head.",
            nudge="Which channels belong to the first head?",
            concrete="View (batch, token, head, d_k), with the heads before the channels.",
            show_me="query = query.view(batch, -1, h, d_k).transpose(1, 2)",
            split=lambda x, heads: x.view(*x.shape[:-1], -1, heads).permute(0, 3, 1, 2),
            join=lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
        "joined-without-transpose": _row(
            "the heads are joined without being transposed back, so a token gets the outputs of other tokens.",
            nudge="Which axes does view merge?",
            concrete="Swap the axes of head and token back, then merge head and d_k.",
            show_me="x = x.transpose(1, 2).contiguous().view(batch, -1, h * d_k)",
            join=lambda x: x.reshape(x.shape[0], x.shape[2], -1),
        ),
        "joined-interleaved": _row(
            "the heads are joined channel by channel instead of one after the other.",
            nudge="After joining, which channels belong to the first head?",
            concrete="Merge head and d_k in this order.",
            show_me="x = x.transpose(1, 2).contiguous().view(batch, -1, h * d_k)",
            join=lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
        "no-output-projection": _row(
            "the output projection is missing: the heads are concatenated, but not mixed.",
            nudge="Which of your layers does the forward pass never use?",
            concrete="Apply the fourth layer to the joined heads.",
            show_me="return self.linears[-1](x)",
            output=lambda case, joined: joined,
        ),
    },
)
