"""Which tokens of a text belong together, as words or as sentences of a pair, and a picture's rows and columns by them.

A group is the positions of its tokens, in order; groups lie side by side and hold every token once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from model.array_types import Float
from model.text.tokenizer import Encoded

Groups = tuple[tuple[int, ...], ...]

# Letters, digits and what hangs on them, with an apostrophe inside. Scripts that write no space between words are left
# out: there a token is the smallest thing that can be told apart.
_SPACELESS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[^\W{_SPACELESS}]+(?:['’][^\W{_SPACELESS}]+)*")


def words(text: Encoded) -> Groups:
    """The tokens of each word; a mark, a special token and a sign of a script without spaces are groups of their own.

    Tokens that share one character (an emoji in bytes) are one group.
    """
    inside = [-1] * (len(text.text) + 1)  # character -> number of its word
    for number, match in enumerate(_WORD.finditer(text.text)):
        inside[match.start() : match.end()] = [number] * (match.end() - match.start())
    groups: list[list[int]] = []
    before: object = None
    for place, (first, end) in enumerate(text.spans):
        found = [inside[character] for character in range(first, min(end, len(inside))) if inside[character] >= 0]
        part: object = ("word", found[0]) if found else ("character", first, end)
        alone = text.special[place] or first == end
        if groups and not alone and part == before:
            groups[-1].append(place)
        else:
            groups.append([place])
        before = None if alone else part
    return tuple(map(tuple, groups))


def sentences(text: Encoded, separator: int | None) -> tuple[int, ...]:
    """The number of the sentence that each token is in: a separator is the last token of its sentence.

    Several separators in a row end one sentence. What stands before the first or after the last other token ends none.
    """
    others = [place for place, token in enumerate(text.ids) if token != separator and not text.special[place]]
    numbers, number = [], 0
    for place, token in enumerate(text.ids):
        numbers.append(number)
        inside = bool(others) and others[0] < place < others[-1]
        number += inside and token == separator and text.ids[place + 1] != separator
    return tuple(numbers)


def pieces(text: Encoded, groups: Groups) -> tuple[str, ...]:
    """What each group reads; where tokens share a character, the text has it once."""
    return tuple(_read(text, group) for group in groups)


def _read(text: Encoded, group: Sequence[int]) -> str:
    spans = [text.spans[place] for place in group]
    if any(later[0] < earlier[1] for earlier, later in pairwise(spans)):
        return text.text[spans[0][0] : spans[-1][1]]
    return "".join(text.pieces[place] for place in group)


def by_group(
    values: Float[np.ndarray, "*shape query key"], queries: Groups, keys: Groups
) -> Float[np.ndarray, "*shape row column"]:
    """Attention to a group is the sum over its tokens, attention from it the mean (Clark et al. 2019, section 4.1)."""
    counts = np.array([len(group) for group in queries], dtype=values.dtype)
    summed = np.add.reduceat(values, [group[0] for group in keys], axis=-1)
    rows: np.ndarray = np.add.reduceat(summed, [group[0] for group in queries], axis=-2) / counts[:, None]
    return rows
