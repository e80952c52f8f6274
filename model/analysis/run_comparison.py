"""Two runs side by side: which tokens correspond, and how differently two heads look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

import numpy as np

from model.array_types import Float
from model.errors import EditError
from model.registry import Registry
from model.text.tokenizer import Encoded

TokenPairs = tuple[tuple[int, int], ...]  # a place in the one text and its partner in the other, in order


def _by_position(one: Encoded, other: Encoded) -> TokenPairs:
    """The first with the first, the second with the second."""
    return tuple((place, place) for place in range(min(len(one.ids), len(other.ids))))


def _by_tokens(one: Encoded, other: Encoded) -> TokenPairs:
    """Equal tokens in equal order, as many as go together (Ratcliff and Metzener 1988), spaces apart.

    What stands between them corresponds too where it is as long in both: a word that another one has replaced.
    """
    left, right = (_comparable_words(text) for text in (one, other))
    changes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    alike = (change for change in changes if change[2] - change[1] == change[4] - change[3])
    return tuple((a + step, c + step) for _, a, b, c, _ in alike for step in range(b - a))


def _comparable_words(text: Encoded) -> list[str]:
    """What the tokens read, comparable between tokenizers: those that mark a text's ends are called by their place."""
    length = len(text.ids)
    boundary_names = {
        place: "first" if place < length / 2 else "last" for place in range(length) if text.offsets[place] == (0, 0)
    }
    return [
        f"\0{boundary_names[place]}" if text.special_mask[place] and place in boundary_names else piece.strip() or piece
        for place, piece in enumerate(text.token_texts)
    ]


ALIGNMENTS: Registry[Callable[[Encoded, Encoded], TokenPairs]] = Registry(
    "alignment", {"tokens": _by_tokens, "position": _by_position}
)


def align(one: Encoded, other: Encoded, method: str = "tokens") -> TokenPairs:
    """Which token of the one text corresponds to which of the other; tokens without a partner are left out."""
    return ALIGNMENTS[method](one, other)


def head_distance(
    one: Float[np.ndarray, "*shape query key"],
    other: Float[np.ndarray, "*others query2 key2"],
    queries: Sequence[tuple[int, int]],
    keys: Sequence[tuple[int, int]],
) -> Float[np.ndarray, "*shape"]:
    """How differently two heads look, from 0 (alike) to 1 (nothing in common), for heads of the same axes.

    The mean over corresponding queries of the Jensen-Shannon distance of their rows, the root of the divergence in
    bits (Endres and Schindelin 2003); NaN where no query has a partner or all rows are empty. Keys without a partner
    are tokens that the other text does not have. Rows are taken as shares of their sum; a row against an empty one
    has nothing in common with it.
    """
    if one.shape[:-2] != other.shape[:-2]:
        raise EditError(f"Heads of different shape cannot be compared: {one.shape[:-2]} and {other.shape[:-2]}.")
    left, right = (_aligned_rows(side, place, queries, keys) for place, side in enumerate((one, other)))
    non_empty = [side.sum(-1) > 0.5 for side in (left, right)]
    distances = np.where(non_empty[0] & non_empty[1], jensen_shannon_distance(left, right), 1.0)
    counted = non_empty[0] | non_empty[1]
    total, count = (distances * counted).sum(-1), counted.sum(-1)
    means: np.ndarray = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means.astype(np.float32)


def jensen_shannon_distance(
    one: Float[np.ndarray, "*shape choice"], other: Float[np.ndarray, "*shape choice"]
) -> Float[np.ndarray, "*shape"]:
    """The Jensen-Shannon distance of shares that sum to one: the root of the divergence in bits, from 0 to 1."""
    mixture, divergence = (one + other) / 2, np.zeros(one.shape[:-1])
    for row in (one, other):
        logs = np.log2(np.divide(row, mixture, out=np.ones_like(row), where=row > 0))
        divergence += (row * logs).sum(-1) / 2
    return np.asarray(np.sqrt(np.clip(divergence, 0, 1)))


def _aligned_rows(
    weights: np.ndarray, side: int, queries: Sequence[tuple[int, int]], keys: Sequence[tuple[int, int]]
) -> np.ndarray:
    """Corresponding rows over corresponding keys, then what falls on the other keys of the one, and of the other."""
    query_positions, key_positions = ([pair[side] for pair in pairs] for pairs in (queries, keys))
    rows = np.clip(weights[..., query_positions, :].astype(np.float64), 0, None)
    total = rows.sum(-1, keepdims=True)
    shares = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
    common = shares[..., key_positions]
    unmatched = np.zeros((*common.shape[:-1], 2))
    unmatched_share = shares.sum(-1) - common.sum(-1)
    unmatched[..., side] = np.where(unmatched_share > 1e-9, unmatched_share, 0)
    return np.concatenate((common, unmatched), axis=-1)
