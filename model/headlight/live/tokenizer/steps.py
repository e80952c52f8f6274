"""The steps of a tokenizer.json as the few kinds of steps that a page without a server runs.

Every function is a row for a kind of step of the tokenizers library; a step without a row is refused.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from tokenizers import normalizers, pre_tokenizers

from headlight.errors import CheckpointError, shortened
from headlight.live.tokenizer.characters import all_but, changed_by, joined_by, removed_by, set_of, written
from headlight.live.tokenizer.patterns import javascript_literal_pattern, javascript_pattern

Step = dict[str, Any]
_Rows = Mapping[str, Callable[[Step], list[Step]]]
_GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_MOST_MAP_BYTES = 5  # of a grapheme that the library looks for in SentencePiece's table
_WHITE_SPACE = normalizers.Strip()  # leaves out what Unicode takes for white space


def normalizer_steps(step: Step | None) -> list[Step]:
    """The steps that change a text. Raises CheckpointError for one that has no row."""
    return _steps(_NORMALIZERS, "normalizer", "normalizers", step)


def pre_tokenizer_steps(step: Step | None) -> list[Step]:
    """The steps that cut a text into pieces. Raises CheckpointError for one that has no row."""
    return _steps(_PRE_TOKENIZERS, "pre-tokenizer", "pretokenizers", step)


def decoder_steps(step: Step | None) -> list[Step] | None:
    """The steps that make a text of tokens; None if they are joined by spaces."""
    return None if step is None else _steps(_DECODERS, "decoder", "decoders", step)


@cache
def word_pattern() -> str:
    """A character of a word, as the library sees words beside added tokens."""
    return written(joined_by(pre_tokenizers.Whitespace()))


def _steps(rows: _Rows, component: str, inner: str, step: Step | None) -> list[Step]:
    if step is None:
        return []
    if step["type"] == "Sequence":
        return [found for each in step[inner] for found in _steps(rows, component, inner, each)]
    row = rows.get(step["type"])
    if row is None:
        raise CheckpointError(
            f"The {component} of its tokenizer has the step {shortened(step['type'])!r}, which a page without a server "
            "does not have."
        )
    return row(step)


def _pattern(step: Step) -> str:
    pattern = step["pattern"]
    return javascript_pattern(pattern["Regex"]) if "Regex" in pattern else javascript_literal_pattern(pattern["String"])


@cache
def _white_space() -> str:
    return written(set_of(changed_by(_WHITE_SPACE)))


def _split(pattern: str, behavior: str, invert: bool = False) -> Step:
    return {"kind": "split", "pattern": pattern, "behavior": behavior, "invert": invert}


def _removed(step: normalizers.Normalizer) -> Step:
    return {"kind": "remove", "pattern": written(removed_by(step))}


# Normalizers


def _bert_normalizer(step: Step) -> list[Step]:
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    steps = list[Step]()
    if step["clean_text"]:
        steps += _cleaned(normalizers.BertNormalizer(**off | {"clean_text": True}))
    if step["handle_chinese_chars"]:
        chinese = changed_by(normalizers.BertNormalizer(**off | {"handle_chinese_chars": True}))
        steps.append({"kind": "surround", "pattern": written(set_of(chinese))})
    if step["lowercase"] if step["strip_accents"] is None else step["strip_accents"]:
        marks = removed_by(normalizers.BertNormalizer(**off | {"strip_accents": True}))
        steps += [_form("NFD"), {"kind": "remove", "pattern": written(marks)}]
    return [*steps, {"kind": "lowercase"}] if step["lowercase"] else steps


def _cleaned(step: normalizers.Normalizer) -> list[Step]:
    """Leaves characters out, and makes others spaces."""
    made = changed_by(step)
    lost = {character for character, text in made.items() if not text}
    return [
        {"kind": "remove", "pattern": written(set_of(lost))},
        {"kind": "replace", "pattern": written(set_of(made.keys() - lost)), "content": " "},
    ]


@cache
def _form(name: str) -> Step:
    """A normal form, with the characters that this version of Unicode decomposes, and its combining characters."""
    decomposed = {"NFC": "NFD", "NFKC": "NFKD"}.get(name, name)
    known = set_of(changed_by(getattr(normalizers, decomposed)())) | removed_by(normalizers.StripAccents())
    return {"kind": "form", "form": name, "known": written(known)}


def _precompiled(step: Step) -> list[Step]:
    return [{"kind": "map", "entries": list(charsmap_entries(base64.b64decode(step["precompiled_charsmap"])).items())}]


def charsmap_entries(charsmap: bytes) -> dict[str, str]:
    """What SentencePiece's table of characters, a double-array trie, makes of which texts.

    A text that begins with another one in the table is never looked for, and neither is one of more bytes.
    """
    size = int.from_bytes(charsmap[:4], "little")
    units, texts = np.frombuffer(charsmap[4 : 4 + size], "<u4"), charsmap[4 + size :]
    labels, offsets = np.where(units >> 31, 256, units & 0xFF), (units >> 10) << ((units & 0x200) >> 6)

    def entries(node: int, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        places = node ^ np.arange(1, 256)
        inside = np.where(places < len(units), places, 0)
        for byte in np.flatnonzero(labels[inside] == np.arange(1, 256)) + 1:
            place, longer = int(node ^ byte), key + bytes([byte])
            following = place ^ int(offsets[place])
            if units[place] >> 8 & 1:
                value = int(units[following] & 0x7FFFFFFF)
                yield longer, texts[value : texts.index(b"\0", value)]
            elif len(longer) < _MOST_MAP_BYTES:
                yield from entries(following, longer)

    found = entries(int(offsets[0]), b"") if size else ()
    return {key.decode("utf-8"): text.decode("utf-8") for key, text in found}


_NORMALIZERS: _Rows = {
    "BertNormalizer": _bert_normalizer,
    "ByteLevel": lambda step: [{"kind": "bytes"}],
    "Lowercase": lambda step: [{"kind": "lowercase"}],
    **{name: lambda step: [_form(step["type"])] for name in ("NFC", "NFD", "NFKC", "NFKD")},
    "Nmt": lambda step: _cleaned(normalizers.Nmt()),
    "Precompiled": _precompiled,
    "Prepend": lambda step: [{"kind": "prepend", "text": step["prepend"], "when": "always"}],
    "Replace": lambda step: [{"kind": "replace", "pattern": _pattern(step), "content": step["content"]}],
    "Strip": lambda step: [
        {"kind": "strip", "pattern": _white_space(), "left": step["strip_left"], "right": step["strip_right"]}
    ],
    "StripAccents": lambda step: [_removed(normalizers.StripAccents())],
}


# Pre-tokenizers


def _byte_level(step: Step) -> list[Step]:
    space = [{"kind": "prepend", "text": " ", "when": "unless"}] if step["add_prefix_space"] else []
    cut = [_split(javascript_pattern(_GPT2_PATTERN), "Isolated")] if step["use_regex"] else []
    return [*space, *cut, {"kind": "bytes"}]


def _metaspace(step: Step) -> list[Step]:
    sign, scheme = step["replacement"], step["prepend_scheme"]
    steps: list[Step] = [{"kind": "replace", "pattern": javascript_literal_pattern(" "), "content": sign}]
    if scheme != "never":
        steps.append({"kind": "prepend", "text": sign, "when": {"always": "unless", "first": "first"}[scheme]})
    return [*steps, _split(javascript_literal_pattern(sign), "MergedWithNext")] if step["split"] else steps


@cache
def _sign_pattern() -> str:
    """A character that is of no word, and no white space."""
    return written(all_but(joined_by(pre_tokenizers.Whitespace()) | set_of(changed_by(_WHITE_SPACE))))


@cache
def _punctuation() -> str:
    return written(all_but(joined_by(pre_tokenizers.Punctuation())))


_PRE_TOKENIZERS: _Rows = {
    "BertPreTokenizer": lambda step: [_split(_white_space(), "Removed"), _split(_punctuation(), "Isolated")],
    "ByteLevel": _byte_level,
    "CharDelimiterSplit": lambda step: [_split(javascript_literal_pattern(step["delimiter"]), "Removed")],
    "Digits": lambda step: [
        _split(
            written(all_but(joined_by(pre_tokenizers.Digits(individual_digits=True)))),
            "Isolated" if step["individual_digits"] else "Contiguous",
        )
    ],
    "Metaspace": _metaspace,
    "Punctuation": lambda step: [_split(_punctuation(), step["behavior"])],
    "Split": lambda step: [_split(_pattern(step), step["behavior"], step["invert"])],
    "Whitespace": lambda step: [_split(f"{word_pattern()}+|{_sign_pattern()}+", "Removed", invert=True)],
    "WhitespaceSplit": lambda step: [_split(_white_space(), "Removed")],
}


# Decoders

_DECODERS: _Rows = {
    "BPEDecoder": lambda step: [{"kind": "end", "suffix": step["suffix"]}],
    "ByteFallback": lambda step: [{"kind": "fallback"}],
    "ByteLevel": lambda step: [{"kind": "bytes"}],
    "Fuse": lambda step: [{"kind": "fuse"}],
    "Metaspace": lambda step: [
        {"kind": "spaces", "sign": step["replacement"], "keepsFirst": step["prepend_scheme"] == "never"}
    ],
    "Replace": lambda step: [
        {"kind": "replace", "pattern": _pattern(step), "content": step["content"],
         "isText": "String" in step["pattern"]}
    ],
    "Strip": lambda step: [
        {"kind": "strip", "text": step["content"], "left": step["start"], "right": step["stop"]}
    ],
    "WordPiece": lambda step: [{"kind": "words", "prefix": step["prefix"], "tidies": step["cleanup"]}],
}  # fmt: skip
