"""Comparison of two runs: their corresponding tokens, and the distance between the attention of their heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from headlight.array_types import Float
from headlight.errors import EditError
from headlight.registry import Registry
from headlight.text.tokenizer import Encoded
from headlight.text.word_groups import word_groups

BOUNDARY = "\0"  # prefix of the names of special tokens without characters in the text
TokenPairs = tuple[tuple[int, int], ...]  # a position in one text and the corresponding one in the other


@dataclass(frozen=True)
class Alignment:
    """A way to align the tokens of two texts: its title on the page, and the function."""

    title: str
    pair: Callable[[Encoded, Encoded], TokenPairs]


def _pair_positions(one: Encoded, other: Encoded) -> TokenPairs:
    """The first token with the first, the second with the second, and so on."""
    return tuple((position, position) for position in range(min(len(one.ids), len(other.ids))))


def _pair_in_order(one: Encoded, other: Encoded) -> TokenPairs:
    """Equal tokens in equal order, by the matching of Ratcliff and Metzener (1988), and equally long replacements."""
    left, right = _comparable_texts(one), _comparable_texts(other)
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    pairs = (
        (left_start + step, right_start + step)
        for _, left_start, left_end, right_start, right_end in blocks
        if left_end - left_start == right_end - right_start
        for step in range(left_end - left_start)
    )
    return tuple((a, b) for a, b in pairs if left[a] == right[b] or BOUNDARY not in left[a] + right[b])


def _pair_words(one: Encoded, other: Encoded) -> TokenPairs:
    """Each word with the same word of the other text, its second occurrence with the second, and so on.

    If one side has more tokens of a word (" swam" and "s", "wam" at the beginning of a text), its last ones count: only
    they have read the whole word.
    """
    right = _word_occurrences(other)
    pairs: list[tuple[int, int]] = []
    for word, positions in _word_occurrences(one).items():
        partners = right.get(word, ())
        count = min(len(positions), len(partners))
        pairs += zip(positions[len(positions) - count :], partners[len(partners) - count :], strict=True)
    return tuple(pairs)


def _word_occurrences(text: Encoded) -> dict[tuple[str, int], tuple[int, ...]]:
    """The positions of each word's tokens, by the word and its occurrence number."""
    texts = _comparable_texts(text)
    seen: Counter[str] = Counter()
    occurrences = {}
    for group in word_groups(text):
        word = "".join(texts[position] for position in group)
        occurrences[word, seen[word]] = group
        seen[word] += 1
    return occurrences


def _comparable_texts(text: Encoded) -> list[str]:
    """The text of each token without spaces around it.

    Special tokens without characters in the text are named by their own text and the end of the text that they mark:
    one model's start token differs from another's [CLS], though both come first.
    """
    length = len(text.ids)
    boundary_names = {
        position: "first" if position < length / 2 else "last"
        for position in range(length)
        if text.special_mask[position] and text.offsets[position] == (0, 0)
    }
    return [
        f"{BOUNDARY}{boundary_names[position]} {token_text}"
        if position in boundary_names
        else token_text.strip() or token_text
        for position, token_text in enumerate(text.token_texts)
    ]


ALIGNMENTS: Registry[Alignment] = Registry(
    "alignment",
    {
        "tokens": Alignment("In order", _pair_in_order),
        "words": Alignment("Same word", _pair_words),
        "position": Alignment("Same position", _pair_positions),
    },
)


def default_alignment(pairs_of_texts: Iterable[tuple[Encoded, Encoded]]) -> str:
    """The alignment for compared texts: by word if all have the same words, else in order."""
    same_words = all(_words_of_text(one) == _words_of_text(other) for one, other in pairs_of_texts)
    return "words" if same_words else "tokens"


def _words_of_text(text: Encoded) -> set[tuple[str, int]]:
    """The words of a text without its special tokens, which differ between tokenizers."""
    return {occurrence for occurrence in _word_occurrences(text) if not occurrence[0].startswith(BOUNDARY)}


def align(one: Encoded, other: Encoded, method: str = "tokens") -> TokenPairs:
    """The pairs of corresponding tokens of two texts; tokens without a partner are left out.

    Raises UnknownNameError for a method that is not in ALIGNMENTS.
    """
    return ALIGNMENTS[method].pair(one, other)


def head_distance(
    one: Float[np.ndarray, "*shape query key"],
    other: Float[np.ndarray, "*others query2 key2"],
    queries: Sequence[tuple[int, int]],
    keys: Sequence[tuple[int, int]],
) -> Float[np.ndarray, "*shape"]:
    """The distance between the attention weights of heads in two runs, from 0 (equal) to 1 (nothing in common).

    The mean over corresponding queries of the Jensen-Shannon distance of their rows, the square root of the divergence
    in bits (Endres and Schindelin 2003). Rows are normalized to sum to one. A key without a partner counts as a key
    with weight 0 on the other side. A row has distance 1 from an empty one; two empty rows do not count. NaN if no row
    counts. Raises EditError if the leading axes differ.
    """
    if one.shape[:-2] != other.shape[:-2]:
        raise EditError(f"Heads of different shape cannot be compared: {one.shape[:-2]} and {other.shape[:-2]}.")
    left, right = (_aligned_rows(weights, side, queries, keys) for side, weights in enumerate((one, other)))
    non_empty = [rows.sum(-1) > 0.5 for rows in (left, right)]
    distances = np.where(non_empty[0] & non_empty[1], jensen_shannon_distance(left, right), 1.0)
    counted = non_empty[0] | non_empty[1]
    total, count = (distances * counted).sum(-1), counted.sum(-1)
    means: np.ndarray = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means.astype(np.float32)


def jensen_shannon_distance(
    one: Float[np.ndarray, "*shape choice"], other: Float[np.ndarray, "*shape choice"]
) -> Float[np.ndarray, "*shape"]:
    """The Jensen-Shannon distance of two distributions: the square root of the divergence in bits, from 0 to 1."""
    mixture, divergence = (one + other) / 2, np.zeros(one.shape[:-1])
    for row in (one, other):
        logs = np.log2(np.divide(row, mixture, out=np.ones_like(row), where=row > 0))
        divergence += (row * logs).sum(-1) / 2
    return np.asarray(np.sqrt(np.clip(divergence, 0, 1)))


def _aligned_rows(
    weights: np.ndarray, side: int, queries: Sequence[tuple[int, int]], keys: Sequence[tuple[int, int]]
) -> np.ndarray:
    """Rows of corresponding queries over corresponding keys, then two columns for each side's weight on other keys."""
    query_positions, key_positions = ([pair[side] for pair in pairs] for pairs in (queries, keys))
    rows = np.clip(weights[..., query_positions, :].astype(np.float64), 0, None)
    total = rows.sum(-1, keepdims=True)
    shares = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
    common = shares[..., key_positions]
    unmatched = np.zeros((*common.shape[:-1], 2))
    unmatched_share = shares.sum(-1) - common.sum(-1)
    unmatched[..., side] = np.where(unmatched_share > 1e-9, unmatched_share, 0)
    return np.concatenate((common, unmatched), axis=-1)
