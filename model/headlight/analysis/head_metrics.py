"""Head metrics: scores per head computed from attention weights and tokens.

An empty row (a query without an allowed key) has weights of zero; averages leave it out, and its own entropy and
distance are 0.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headlight.analysis.attention_maps import renormalize_rows
from headlight.array_types import Bool, Float
from headlight.registry import Exercise, Registry
from headlight.text.tokenizer import Encoded
from headlight.tracing.trace import Trace
from headlight.vision.patches import EncodedImage

ROW_TOLERANCE = 1e-3  # tolerance for the sum of a row around 1
QueryKeyMask = NDArray[np.bool_]  # query key
HeadWeights = Float[np.ndarray, "layer head query key"]
AllowedCells = Bool[np.ndarray, "layer head query key"]
HeadNumbers = Float[np.ndarray, "layer head"]
Weights = Float[np.ndarray, "*shape query key"]


def patch_offsets(text: EncodedImage) -> tuple[np.ndarray, np.ndarray]:
    """The distances in rows and in columns between each query and key, [query key]; NaN if either is not a patch."""
    coordinates = np.full((2, len(text.ids)), np.nan)
    coordinates[:, text.first_patch :] = np.indices((text.patch_rows, text.patch_columns)).reshape(2, -1)
    offsets = np.abs(coordinates[:, :, None] - coordinates[:, None, :])
    return offsets[0], offsets[1]


def neighbours(text: EncodedImage) -> QueryKeyMask:
    """The up to eight patches around the query's."""
    rows, columns = patch_offsets(text)
    adjacent: QueryKeyMask = np.maximum(rows, columns) == 1
    return adjacent


def same_row(text: EncodedImage) -> QueryKeyMask:
    """Other patches of the query's row."""
    rows, columns = patch_offsets(text)
    cells: QueryKeyMask = (rows == 0) & (columns > 0)
    return cells


def same_column(text: EncodedImage) -> QueryKeyMask:
    """Other patches of the query's column."""
    rows, columns = patch_offsets(text)
    cells: QueryKeyMask = (columns == 0) & (rows > 0)
    return cells


def patch_distance(weights: Weights, text: EncodedImage) -> Float[np.ndarray, "*shape query"]:
    """The mean distance in patches of each row's attention between patches (Dosovitskiy et al. 2021, section 4.5).

    Only patches count; NaN if a row attends to none.
    """
    distances = np.hypot(*patch_offsets(text))
    between_patches = np.isfinite(distances)
    patch_weight = np.einsum("...qk,qk->...q", weights, between_patches.astype(weights.dtype))
    known_distances = np.where(between_patches, distances, 0.0).astype(weights.dtype)
    return _ratio_or_nan(np.einsum("...qk,qk->...q", weights, known_distances), patch_weight)


def entropy(weights: Weights) -> Float[np.ndarray, "*shape query"]:
    """The entropy of each row in bits: 0 on one key, log2 n evenly on n (Shannon 1948, section 6)."""
    logs = np.log2(np.maximum(weights, np.finfo(weights.dtype).tiny))  # the smallest number if a weight is 0
    rows: np.ndarray = np.maximum(-np.einsum("...k,...k->...", weights, logs), 0.0)
    return rows


def attention_distance(weights: Weights) -> Float[np.ndarray, "*shape query"]:
    """The mean distance in tokens of each row's attention (Vig and Belinkov 2019, section 4.3)."""
    query, key = weights.shape[-2:]
    distances = np.abs(np.arange(query)[:, None] - np.arange(key)[None, :]).astype(weights.dtype)
    rows: np.ndarray = np.einsum("...qk,qk->...q", weights, distances)
    return rows


def normalized_rows(weights: Weights) -> Weights:
    """Rows that sum to 1, also after edits. Negative weights and NaN count as 0; a row of zeros is empty."""
    return renormalize_rows(np.fmax(weights, 0))


def attending_rows(weights: Weights) -> Bool[np.ndarray, "*shape query"]:
    """The rows that are not empty, for weights without negative values."""
    attends: np.ndarray = np.einsum("...k->...", weights) > 0  # ten times as fast as any() of short rows
    return attends


def unnormalized_sum(weights: Weights) -> float | None:
    """The row sum furthest from 1, among rows that are not empty; None if all sums are 1."""
    sums = weights.astype(np.float64).sum(-1)[weights.any(-1)]
    furthest = float(sums[np.abs(sums - 1).argmax()]) if sums.size else 1.0
    return furthest if abs(furthest - 1) > ROW_TOLERANCE else None


def mean_over_rows(rows: Float[np.ndarray, "*shape query"], weights: Weights) -> Float[np.ndarray, "*shape"]:
    """The mean over the rows that are neither empty nor NaN; NaN if no such row exists."""
    counted = attending_rows(weights) & np.isfinite(rows)
    return _ratio_or_nan(np.where(counted, rows, 0).sum(-1), counted.sum(-1))


# The keys of each query that a metric counts, [query key].


def _previous_token(text: Encoded) -> QueryKeyMask:
    return np.eye(len(text.ids), k=-1, dtype=bool)


def _next_token(text: Encoded) -> QueryKeyMask:
    return np.eye(len(text.ids), k=1, dtype=bool)


def _diagonal(text: Encoded) -> QueryKeyMask:
    return np.eye(len(text.ids), dtype=bool)


def _first_token(text: Encoded) -> QueryKeyMask:
    cells = np.zeros((len(text.ids),) * 2, dtype=bool)
    cells[1:, 0] = True
    return cells


def _same_word(text: Encoded) -> QueryKeyMask:
    """Other occurrences of the same word, ignoring case and the space before it; punctuation does not count."""
    numbers = {"": -1}
    words = np.array([numbers.setdefault(piece.strip().casefold(), len(numbers)) for piece in text.token_texts])
    same: QueryKeyMask = (words[:, None] == words) & (words >= 0) & ~_is_punctuation(text) & ~_diagonal(text)
    return same


def _after_earlier_occurrence(text: Encoded) -> QueryKeyMask:
    """The token after an earlier occurrence of this token: what an induction head copies."""
    ids, places = np.array(text.ids), np.arange(len(text.ids))
    earlier = (ids[:, None] == ids) & (places[:, None] > places) & ~np.array(text.special_mask) & ~_is_punctuation(text)
    cells: QueryKeyMask = np.zeros_like(earlier)
    cells[:, 1:] = earlier[:, :-1]
    return cells


def _punctuation_keys(text: Encoded) -> QueryKeyMask:
    """Punctuation tokens other than the query itself."""
    cells: QueryKeyMask = ~_diagonal(text) & _is_punctuation(text)
    return cells


def _is_punctuation(text: Encoded) -> Bool[np.ndarray, " key"]:
    """Which tokens consist of punctuation alone."""
    marks = np.array([*map(_consists_of_punctuation, text.token_texts)], dtype=bool)
    marks &= np.logical_not(text.special_mask)
    return marks


@lru_cache(maxsize=8_192)  # three metrics need it for each token of each text
def _consists_of_punctuation(piece: str) -> bool:
    return {unicodedata.category(character)[0] for character in piece.strip()} == {"P"}


def _special_keys(text: Encoded) -> QueryKeyMask:
    cells: QueryKeyMask = ~_diagonal(text) & np.array(text.special_mask, dtype=bool)
    return cells


def attention_share(
    weights: Weights,
    allowed: Bool[np.ndarray, "*shape query key"],
    cells: Bool[np.ndarray, "metric query key"],
) -> Float[np.ndarray, "*shape metric"]:
    """The share of its attention that a head gives to the cells of each metric.

    The mean over queries that attend, have a choice and an allowed cell of the metric; NaN if there is none.
    """
    choices, targets = choices_of_rows(allowed).astype(np.float32), cells.astype(np.float32)
    attends = attending_rows(weights).astype(np.float32)
    total = np.tensordot(weights * choices, targets, ((-2, -1), (-2, -1)))  # a row without such a cell adds 0
    has_cells = (choices.swapaxes(-3, -2) @ targets.transpose(1, 2, 0) > 0).swapaxes(-3, -2)
    count = np.einsum("...qm,...q->...m", has_cells.astype(np.float32), attends)
    return _ratio_or_nan(total, count)


def choices_of_rows(allowed: Bool[np.ndarray, "*shape query key"]) -> Bool[np.ndarray, "*#shape query key"]:
    """The allowed cells, except for queries that may attend to one key only, such as the first under a causal mask.

    An axis along which they repeat, such as one mask for all heads, has length 1.
    """
    cells = _without_repeats(allowed)
    choices: np.ndarray = cells & (cells.sum(-1, keepdims=True) > 1)
    return choices


def _without_repeats(array: np.ndarray) -> np.ndarray:
    """The array, with broadcast axes (such as one mask for all heads) reduced to length 1."""
    return array[tuple(slice(None) if stride else slice(1) for stride in array.strides)]


def _ratio_or_nan(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """total / count, NaN if the count is 0."""
    missing = np.full(np.shape(total), np.nan, dtype=np.float32)
    ratio: np.ndarray = np.divide(total, count, out=missing, where=count > 0)
    return ratio


@dataclass(frozen=True)
class HeadMetric:
    """One number for each head: its title, a description, how it is computed, its unit, and the literature's measure.

    Either the share of the head's attention, from 0 to 1, that goes to `cells`, or the mean over rows of `measure`,
    computed from weights and text, which has a unit. `elsewhere` is a sentence on a paper that defines the measure in
    another way, or empty. Cells are keys of the query's own text, so they only apply to self-attention. `exercise` is
    for a head that gives most of its attention to the cells; if it `is_everywhere`, its answer is about all rows.
    """

    title: str
    description: str
    cells: Callable[[Any], QueryKeyMask] | None = None
    measure: Callable[[np.ndarray, Any], np.ndarray] | None = None
    unit: str = ""
    elsewhere: str = ""
    exercise: Exercise | None = None
    is_everywhere: bool = True


def _pattern(
    title: str,
    description: str,
    cells: Callable[[Any], QueryKeyMask],
    answer: str,
    is_everywhere: bool = True,
    elsewhere: str = "",
) -> HeadMetric:
    question = "Each row shows where one token looks. Which pattern do the brightest cells make? What does it mean?"
    exercise = Exercise(question, answer)
    return HeadMetric(title, description, cells, elsewhere=elsewhere, exercise=exercise, is_everywhere=is_everywhere)


def _patch_pattern(title: str, description: str, cells: Callable[[Any], QueryKeyMask], answer: str) -> HeadMetric:
    question = "Which patches does this head look at most? Describe where they lie in the image."
    return HeadMetric(title, description, cells, exercise=Exercise(question, answer))


HEAD_METRICS: Registry[HeadMetric] = Registry(
    "head metric",
    {
        "previous": _pattern(
            "Previous token",
            "the token before",
            _previous_token,
            "A stripe just below the diagonal: each token looks at the one before it. Such a head tells a token what "
            "came before it, which later layers build on.",
        ),
        "next": _pattern(
            "Next token",
            "the token after",
            _next_token,
            "A stripe just above the diagonal: each token looks at the one after it. Only a model that "
            "reads in both directions can do that.",
        ),
        "current": _pattern(
            "Current token",
            "the token itself",
            _diagonal,
            "The diagonal: each token looks at itself, so this head passes on what the token already knows.",
        ),
        "first": _pattern(
            "First token",
            "the first token",
            _first_token,
            "A bright first column: nearly every token looks at the first one. The weights of a row must add up to 1; "
            "a head with nothing to fetch puts them where they do no harm.",
            elsewhere="Measured on the rows after the first; a sink of Gu et al. (2025) counts the first row, too.",
        ),
        "same-word": _pattern(
            "Same word",
            "other occurrences of the same word",
            _same_word,
            "Bright cells wherever a word is repeated: each token looks at other occurrences of the same word.",
            is_everywhere=False,
            elsewhere="Case is ignored, and later words count; duplicate-token heads of Wang et al. (2022) look back "
            "at the same token.",
        ),
        "induction": _pattern(
            "Induction",
            "the token after an earlier occurrence",
            _after_earlier_occurrence,
            "Bright cells one column to the right of an earlier occurrence: the token looks at what "
            "followed the same word last time. That is how a model continues a pattern it has seen once.",
            is_everywhere=False,
            elsewhere="On this text, without punctuation; prefix matching of Olsson et al. (2022) is measured on "
            "repeated random tokens.",
        ),
        "punctuation": _pattern(
            "Punctuation",
            "punctuation marks",
            _punctuation_keys,
            "Bright columns at full stops and commas: tokens look at punctuation, where a model often stores "
            "information about the clause.",
        ),
        "special": _pattern(
            "Special tokens",
            "special tokens",
            _special_keys,
            "Bright columns at the special tokens: the head has little to fetch in this text.",
        ),
        "entropy": HeadMetric(
            "Entropy",
            "entropy",
            measure=lambda weights, text: entropy(weights),
            unit="bits",
            elsewhere="The mean over all rows: under a causal mask the first has one key, and an entropy of 0. Clark "
            "et al. (2019) measure BERT, where each row has all keys.",
        ),
        "distance": HeadMetric(
            "Distance", "mean distance", measure=lambda weights, text: attention_distance(weights), unit="tokens"
        ),
    },
)
IMAGE_HEAD_METRICS: Registry[HeadMetric] = Registry(
    "head metric of an image",
    {
        "current": HeadMetric("Current patch", "the patch itself", _diagonal),
        "neighbours": _patch_pattern(
            "Neighbours",
            "the patches around it",
            neighbours,
            "The patches around the query: this head looks at a neighbourhood, as a convolution does.",
        ),
        "row": _patch_pattern(
            "Row",
            "other patches of its row",
            same_row,
            "The patches of the same row: this head looks along a horizontal line.",
        ),
        "column": _patch_pattern(
            "Column",
            "other patches of its column",
            same_column,
            "The patches of the same column: this head looks along a vertical line.",
        ),
        "special": HeadMetric("Class token", "the class token", _special_keys),
        "entropy": HeadMetric("Entropy", "entropy", measure=lambda weights, text: entropy(weights), unit="bits"),
        "distance": HeadMetric("Distance", "mean distance", measure=patch_distance, unit="patches"),
    },
)


def head_metrics_for(image: bool) -> Registry[HeadMetric]:
    """The metrics of heads that read a text or an image."""
    return IMAGE_HEAD_METRICS if image else HEAD_METRICS


def compute_head_metrics(weights: HeadWeights, allowed: AllowedCells, text: Encoded | None) -> dict[str, HeadNumbers]:
    """Every metric (`head_metrics_for`) of all heads of one attention over `text`.

    NaN if no query has a key that the metric counts: nothing is repeated, or no row may attend there. Attention to
    another text (`text` None) only has the entropy.
    """
    weights = normalized_rows(weights)
    if text is None:
        return {"entropy": mean_over_rows(entropy(weights), weights)}
    metrics = head_metrics_for(isinstance(text, EncodedImage))
    cells = {metric: row.cells(text) for metric, row in metrics.items() if row.cells}
    shares = attention_share(weights, allowed, np.stack(list(cells.values())))
    found = dict(zip(cells, np.moveaxis(shares, -1, 0), strict=True)) | {
        metric: mean_over_rows(row.measure(weights, text), weights) for metric, row in metrics.items() if row.measure
    }
    return {metric: found[metric] for metric in metrics}


def rows_with_pattern(trace: Trace, stack: str, layer: int, head: int) -> dict[str, int]:
    """The number of rows of a head that can show the pattern of each metric, over which its share is averaged."""
    weights, allowed = traced_attention(trace, stack, "self")
    text = trace.text_of_stack(stack)
    attends, choices = attending_rows(weights[layer, head]), choices_of_rows(allowed[layer, head])
    metrics = head_metrics_for(isinstance(text, EncodedImage))
    return {
        name: int(((row.cells(text) & choices).any(-1) & attends).sum()) for name, row in metrics.items() if row.cells
    }


def strongest_local_head(metrics: Mapping[str, HeadNumbers]) -> tuple[int, int]:
    """Layer and head that attend most to the previous or the next token: a pattern that is easy to see.

    The first head if these metrics are missing or NaN.
    """
    local_shares = [metrics[name] for name in ("previous", "next") if name in metrics]
    largest_share = np.fmax.reduce(local_shares) if local_shares else np.zeros((0, 0))
    if not np.isfinite(largest_share).any():
        return 0, 0
    layer, head = np.unravel_index(np.nanargmax(largest_share), largest_share.shape)
    return int(layer), int(head)


def sharpest_head(weights: HeadWeights, special_mask: Sequence[bool]) -> tuple[int, int]:
    """The head whose rows concentrate most on one key, as in an alignment: by the mean of each row's largest weight.

    Keys that are special tokens (`special_mask`) are left out.
    """
    sharpness = np.where(np.asarray(special_mask), 0, weights).max(-1).mean(-1)
    layer, head = np.unravel_index(int(sharpness.argmax()), sharpness.shape)
    return int(layer), int(head)


def allowed_mask(weights: HeadWeights, masks: Sequence[np.ndarray]) -> AllowedCells:
    """The cells that each head may attend to, by the masks of all layers; without masks, wherever any head attends."""
    if len(masks) == len(weights):
        return np.broadcast_to(np.stack([mask > 0 for mask in without_repeated_masks(masks)]), weights.shape)
    return np.broadcast_to((weights > 0).any(axis=(0, 1)), weights.shape)


def without_repeated_masks(masks: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """The masks of layers, [head query key]: one mask if all layers share it, one head if all heads share it."""
    masks = masks[:1] if all(mask is masks[0] for mask in masks) else masks
    return masks if any(mask.strides[0] for mask in masks) else [mask[:1] for mask in masks]


def head_metrics(trace: Trace, stack: str | None = None, kind: str = "self") -> dict[str, HeadNumbers]:
    """Every metric for one attention of a stack, by default of the stack that makes the prediction.

    NaN if no query has a key that the metric counts: nothing is repeated, or no row may attend there. Attention to
    another text ("cross") only has the entropy. Raises EditError for a trace without weights.
    """
    name = stack or trace.config.stacks[-1]
    weights, allowed = traced_attention(trace, name, kind)
    return compute_head_metrics(weights, allowed, trace.text_of_stack(name) if kind == "self" else None)


def mean_over_texts(metrics: Sequence[Mapping[str, HeadNumbers]]) -> dict[str, HeadNumbers]:
    """The mean of each metric over several texts (`head_metrics` of each), without the texts in which it is undefined.

    NaN if it is undefined in all.
    """
    stacked = {name: np.stack([each[name] for each in metrics]) for name in metrics[0]}
    return {
        name: _ratio_or_nan(np.nansum(values, axis=0), np.isfinite(values).sum(axis=0))
        for name, values in stacked.items()
    }


def traced_attention(trace: Trace, stack: str, kind: str) -> tuple[HeadWeights, AllowedCells]:
    """The recorded weights of one attention of a stack, and the cells that each head may attend to."""
    weights = trace.attention(kind, stack)
    masks = [trace.values.get(f"{stack}.{layer}.{kind}.mask") for layer in range(len(weights))]
    return weights, allowed_mask(weights, [mask for mask in masks if mask is not None])
