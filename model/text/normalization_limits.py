"""Limits on how much longer a tokenizer may make a text.

An uploaded tokenizer.json can ask for more than any memory holds: forty replacements of one letter by two make 2^40
letters of it, and the tokenizers library then aborts the process.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from math import prod
from typing import Any

from tokenizers import normalizers

from model.errors import CheckpointError, TextError

MAX_CHARACTERS = 4_000_000  # characters, 20 times the longest text that is accepted
MAX_TOKEN_EXPANSION = 1_000  # largest factor by which decoding may lengthen a token
# The most characters that one becomes, in Unicode's tables or by what the step puts around it.
_MAX_EXPANSION = {"NFD": 4, "NFC": 3, "NFKD": 18, "NFKC": 18, "Lowercase": 3, "BertNormalizer": 12, "ByteLevel": 4}


class NormalizationLimit:
    """An upper bound of how much the steps of a normalizer lengthen a text."""

    def __init__(self, normalizer: normalizers.Normalizer | None) -> None:
        self.steps = list(_normalizer_steps(normalizer)) if normalizer else []

    def check(self, text: str) -> None:
        """Raise TextError if the text would exceed MAX_CHARACTERS; steps run only while the bound allows."""
        length = len(text)
        for _, factor, added in self.steps:
            length = length * factor + added
        if length <= MAX_CHARACTERS:
            return
        for step, factor, added in self.steps:
            if len(text) * factor + added > MAX_CHARACTERS:
                raise TextError(
                    f"This model's tokenizer may make of this text one of more than "
                    f"{MAX_CHARACTERS:,} characters. Shorten it."
                )
            text = step.normalize_str(text)


def check_decoder(steps: list[dict[str, Any]]) -> None:
    """Raise CheckpointError for a decoder that makes tokens far longer than their vocabulary entries."""
    if prod(_replacement_growth(step)[0] for step in steps if step.get("type") == "Replace") > MAX_TOKEN_EXPANSION:
        raise CheckpointError("The decoder of its tokenizer makes every token many times longer.")


def _normalizer_steps(normalizer: normalizers.Normalizer) -> Iterator[tuple[normalizers.Normalizer, int, int]]:
    """Each step, the factor by which it lengthens a text, and how many characters it adds besides."""
    if isinstance(normalizer, normalizers.Sequence):
        for index in range(len(normalizer)):
            yield from _normalizer_steps(normalizer[index])
        return
    state: dict[str, Any] = json.loads(normalizer.__getstate__())
    match state.get("type"):
        case "Replace":
            yield normalizer, *_replacement_growth(state)
        case "Prepend":
            yield normalizer, 1, len(state["prepend"])
        case "Precompiled":
            yield normalizer, _longest_replacement(base64.b64decode(state["precompiled_charsmap"])), 0
        case kind:
            yield normalizer, _MAX_EXPANSION.get(str(kind), 1), 0


def _replacement_growth(step: dict[str, Any]) -> tuple[int, int]:
    """A pattern may match between any two characters, so that its content is put there; a string replaces itself."""
    content, pattern = len(step["content"]), step["pattern"].get("String", "")
    return (max(1, -(-content // len(pattern))), 0) if pattern else (1 + content, content)


def _longest_replacement(charsmap: bytes) -> int:
    """The length of the longest replacement in the table."""
    strings = charsmap[4 + int.from_bytes(charsmap[:4], "little") :]
    return max((len(string) for string in strings.split(b"\0")), default=1) or 1
