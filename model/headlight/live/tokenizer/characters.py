"""Sets of characters as the tokenizers library has them, measured on all of Unicode and written for JavaScript.

The library's parts follow different versions of Unicode, and a browser has one of its own. A set that is written out in
full has the same characters in every browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from tokenizers import Regex, normalizers, pre_tokenizers

_SURROGATES = range(0xD800, 0xE000)
_END = 0x110000
_BLOCK = 4_096  # characters per call of the library
_SETS = 64  # size of the cache: a file has few different classes


def blocks() -> Iterator[str]:
    """All characters, block by block."""
    characters = [chr(code) for code in range(_END) if code not in _SURROGATES]
    for start in range(0, len(characters), _BLOCK):
        yield "".join(characters[start : start + _BLOCK])


@lru_cache(maxsize=_SETS)
def matched_by(pattern: str) -> frozenset[str]:
    """The characters that an expression of Oniguruma matches alone."""
    return removed_by(normalizers.Replace(Regex(pattern), ""))


def removed_by(step: normalizers.Normalizer) -> frozenset[str]:
    """The characters that a step leaves out."""
    return frozenset(lost for block in blocks() for lost in set(block) - set(step.normalize_str(block)))


def changed_by(step: normalizers.Normalizer) -> dict[str, str]:
    """The characters that a step changes when they stand alone, and what it makes of them."""
    found = ((character, step.normalize_str(character)) for block in blocks() for character in block)
    return {character: made for character, made in found if made != character}


def split_off_by(step: pre_tokenizers.PreTokenizer) -> frozenset[str]:
    """The characters that a step makes pieces of their own, behind a letter and before a space."""
    return frozenset(piece for piece in _pieces(step) if len(piece) == 1 and piece not in "a ")


def kept_in_words_by(step: pre_tokenizers.PreTokenizer) -> frozenset[str]:
    """The characters that a step leaves in one piece with a letter before them."""
    return frozenset(piece[1] for piece in _pieces(step) if len(piece) == 2) | {"a"}


def _pieces(step: pre_tokenizers.PreTokenizer) -> Iterator[str]:
    for block in blocks():
        text = "".join(f"a{character} " for character in block)
        yield from (piece for piece, _ in step.pre_tokenize_str(text))


def written(characters: Iterable[str]) -> str:
    """A class of JavaScript's expressions with these characters, for the flag `u`."""
    codes = sorted(map(ord, characters))
    inside, outside = _ranges(codes), _ranges_between(codes)
    if len(outside) < len(inside):
        return f"[^{_listed(outside)}]" if outside else "[^]"
    return f"[{_listed(inside)}]"


def _ranges(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Consecutive codes as ranges with both ends."""
    found: list[tuple[int, int]] = []
    for code in codes:
        if found and code == found[-1][1] + 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def _ranges_between(codes: Sequence[int]) -> list[tuple[int, int]]:
    """The ranges of all other characters; no text has surrogates."""
    known = _ranges(sorted({*codes, *_SURROGATES}))
    starts, ends = [0, *(last + 1 for _, last in known)], [*(first - 1 for first, _ in known), _END - 1]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start <= end]


def _listed(ranges: Sequence[tuple[int, int]]) -> str:
    return "".join(_code(first) + (f"-{_code(last)}" if last > first else "") for first, last in ranges)


def _code(code: int) -> str:
    character = chr(code)
    return character if character.isascii() and character.isalnum() else f"\\u{{{code:x}}}"
