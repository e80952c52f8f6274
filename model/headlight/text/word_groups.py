"""Groups of tokens: words, sentences of a pair, and attention maps aggregated by group.

A group is the positions of its tokens; groups are consecutive and hold every token once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from headlight.array_types import Float
from headlight.text.tokenizer import Encoded

TokenGroups = tuple[tuple[int, ...], ...]

# Letters, digits and combining characters, with an apostrophe inside. Scripts that write no space between words are
# left out: there every token is a group of its own.
_SCRIPTS_WITHOUT_SPACES = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[^\W{_SCRIPTS_WITHOUT_SPACES}]+(?:['’][^\W{_SCRIPTS_WITHOUT_SPACES}]+)*")


def word_groups(text: Encoded) -> TokenGroups:
    """The tokens of each word; in punctuation, special tokens and scripts without spaces each token is a group.

    Tokens that share one character (the bytes of an emoji) are one group.
    """
    word_at = [-1] * len(text.text)  # character -> number of its word
    for number, match in enumerate(_WORD.finditer(text.text)):
        word_at[match.start() : match.end()] = [number] * (match.end() - match.start())
    groups: list[list[int]] = []
    previous: object = None
    for position, (first, end) in enumerate(text.offsets):
        word_numbers = [number for number in word_at[first:end] if number >= 0]
        unit: object = ("word", word_numbers[0]) if word_numbers else ("character", first, end)
        stands_alone = text.special_mask[position] or first == end
        if groups and not stands_alone and unit == previous:
            groups[-1].append(position)
        else:
            groups.append([position])
        previous = None if stands_alone else unit
    return tuple(map(tuple, groups))


def sentence_numbers(text: Encoded, separator: int | None) -> tuple[int, ...]:
    """The sentence number of each token; a separator is the last token of its sentence.

    Several separators in a row end one sentence; separators before the first or after the last other token end none.
    The sentences of a pair are its two texts, whatever separators they contain; special tokens between them are the
    first one's. The messages of a chat are not sentences of a pair.
    """
    if text.chat:
        return (0,) * len(text.ids)
    if text.text_pair:
        begin = len(text.text) - len(text.text_pair)
        own = [place for place, is_special in enumerate(text.special_mask) if not is_special]
        first = next((place for place in own if text.offsets[place][0] >= begin), len(text.ids))
        return tuple(int(place >= first) for place in range(len(text.ids)))
    others = [place for place, token in enumerate(text.ids) if token != separator and not text.special_mask[place]]
    numbers, number = [], 0
    for position, token in enumerate(text.ids):
        numbers.append(number)
        between_tokens = bool(others) and others[0] < position < others[-1]
        number += between_tokens and token == separator and text.ids[position + 1] != separator
    return tuple(numbers)


def group_texts(text: Encoded, groups: TokenGroups) -> tuple[str, ...]:
    """The text of each group; a character that several tokens share appears once."""
    return tuple(_group_text(text, group) for group in groups)


def _group_text(text: Encoded, group: Sequence[int]) -> str:
    offsets = [text.offsets[position] for position in group]
    if any(later[0] < earlier[1] for earlier, later in pairwise(offsets)):
        return text.text[offsets[0][0] : offsets[-1][1]]
    return "".join(text.token_texts[place] for place in group)


def aggregate_by_group(
    values: Float[np.ndarray, "*shape query key"], query_groups: TokenGroups, key_groups: TokenGroups
) -> Float[np.ndarray, "*shape row column"]:
    """Attention to a group is the sum over its tokens, attention from it the mean (Clark et al. 2019, section 4.1)."""
    counts = np.array([len(group) for group in query_groups], dtype=values.dtype)
    summed = np.add.reduceat(values, [group[0] for group in key_groups], axis=-1)
    rows: np.ndarray = np.add.reduceat(summed, [group[0] for group in query_groups], axis=-2) / counts[:, None]
    return rows
