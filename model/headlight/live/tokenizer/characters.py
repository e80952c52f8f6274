"""Sets of characters as the tokenizers library has them, measured on all of Unicode and written for JavaScript.

The library's parts follow different versions of Unicode, and a browser has one of its own. A set that is written out in
full has the same characters in every browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
from tokenizers import Regex, normalizers, pre_tokenizers

from headlight.array_types import Bool

Characters = Bool[np.ndarray, " code"]  # which of all characters are in a set; surrogates are in none
_END, _SURROGATES = 0x110000, slice(0xD800, 0xE000)
_BLOCK = 4_096  # characters per call of the library
_CLASSES = 64  # size of the cache: few classes are in one file


def no_characters() -> Characters:
    """The empty set."""
    return np.zeros(_END, dtype=bool)


def all_but(characters: Characters) -> Characters:
    """The other characters."""
    others = ~characters
    others[_SURROGATES] = False
    return others


def set_of(characters: Iterable[str]) -> Characters:
    """A set of these characters."""
    found = no_characters()
    found[[ord(character) for character in characters]] = True
    return found


def _blocks() -> Iterator[str]:
    """All characters, block by block."""
    codes = np.flatnonzero(all_but(no_characters()))
    for start in range(0, len(codes), _BLOCK):
        yield "".join(map(chr, codes[start : start + _BLOCK].tolist()))


@lru_cache(maxsize=_CLASSES)
def class_of(pattern: str) -> str:
    """The characters that an expression of Oniguruma matches alone, as a class of JavaScript."""
    return written(removed_by(normalizers.Replace(Regex(pattern), "")))


def removed_by(step: normalizers.Normalizer) -> Characters:
    """The characters that a step leaves out wherever they stand."""
    found = no_characters()
    for block in _blocks():
        if len(kept := step.normalize_str(block)) < len(block):
            found |= set_of(set(block).difference(kept))
    return found


def changed_by(step: normalizers.Normalizer) -> dict[str, str]:
    """The characters that a step changes when they stand alone, and what it makes of them."""
    found = ((character, step.normalize_str(character)) for block in _blocks() for character in block)
    return {character: made for character, made in found if made != character}


def joined_by(step: pre_tokenizers.PreTokenizer) -> Characters:
    """The characters that a step leaves in one piece with a letter before them; a piece has those of one kind."""
    pieces = (piece for block in _blocks() for piece, _ in step.pre_tokenize_str(block))
    return set_of(
        character for piece in pieces if len(step.pre_tokenize_str(f"a{piece[0]}")) == 1 for character in piece
    )


def written(characters: Characters) -> str:
    """A class of JavaScript's expressions with these characters, for the flag `u`."""
    inside, outside = _ranges(characters), _ranges(all_but(characters))
    return f"[^{outside}]" if len(outside) < len(inside) else f"[{inside}]"


def _ranges(characters: Characters) -> str:
    """The ranges of the set, with both ends."""
    edges = np.flatnonzero(np.diff(characters, prepend=False, append=False))
    pairs = zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
    return "".join(_code(first) + (f"-{_code(last)}" if last > first else "") for first, last in pairs)


def _code(code: int) -> str:
    character = chr(code)
    return character if character.isascii() and character.isalnum() else f"\\u{{{code:x}}}"
