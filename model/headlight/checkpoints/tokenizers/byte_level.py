"""ByT5's tokenizer (Xue et al. 2022), which needs no file: three special tokens, the 256 bytes, and sentinels."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.tokenizers.special_tokens import SpecialTokens, add_special_tokens
from headlight.text.tokenizer import Encoded, TextPair, Tokenizer, byte_of_character

BYT5 = "ByT5Tokenizer"
_ROLES = ("pad", "eos", "unk")  # in the order of their ids
_MOST_SENTINELS = 1_000
_SEPARATORS = "\x1c\x1d\x1e\x1f"  # white space for Python, not for the `tokenizers` library


class ByteTokenizer(Tokenizer):
    """One token for each byte of a text, and an end token unless the text ends with one; the same for a second text."""

    def encode(self, text: str | TextPair, add_special_tokens: bool = True) -> Encoded:
        """The bytes of a text or a pair, with the end token unless disabled."""
        found = super().encode(text, add_special_tokens)
        stripped = self._white_space_beside_special_tokens(found)
        kept, last = list[bool](), None
        for i, (is_added, number) in enumerate(zip(found.special_mask, found.ids, strict=True)):
            kept.append(i not in stripped and not (is_added and number == last))
            last = last if i in stripped else number
        fields = ("ids", "tokens", "token_texts", "offsets", "special_mask")
        changes: dict[str, Any] = {name: tuple(compress(getattr(found, name), kept)) for name in fields}
        return replace(found, **changes)

    def _white_space_beside_special_tokens(self, found: Encoded) -> set[int]:
        """The places of bytes that a special token strips: Python's white space, also U+001C to U+001F."""
        text, first = found.text, len(_ROLES)  # of the bytes
        if not any(separator in text for separator in _SEPARATORS):
            return set()
        second, stripped = len(text) - len(found.text_pair), set[int]()  # characters of the text
        for number, (start, end) in zip(found.ids, found.offsets, strict=True):
            if number < first and start < end:
                low, high = (second, len(text)) if start >= second else (0, second)
                stripped |= {*range(low + len(text[low:start].rstrip()), start)}
                stripped |= {*range(end, high - len(text[end:high].lstrip()))}
        places = enumerate(zip(found.ids, found.offsets, strict=True))
        return {i for i, (number, span) in places if first <= number < first + 256 and span[0] in stripped}


def byt5_tokenizer(fields: ConfigReader, special_tokens: SpecialTokens) -> Tokenizer:
    """The tokenizer with a folder's special tokens. Raises CheckpointError for fields of a wrong type."""
    named = [special_tokens.roles[role].content for role in _ROLES]
    characters = sorted(pre_tokenizers.ByteLevel.alphabet(), key=byte_of_character)
    numbers = {word: number for number, word in enumerate([*named, *characters])}
    backend = tokenizers.Tokenizer(models.BPE(numbers, [], unk_token=named[2]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    # Special tokens take the spaces around them.
    backend.add_special_tokens([AddedToken(word, lstrip=True, rstrip=True, normalized=False) for word in named])
    count = min(fields.integer("extra_ids", 125), _MOST_SENTINELS)
    if not special_tokens.added and not special_tokens.unnamed:
        backend.add_special_tokens([f"<extra_id_{number}>" for number in range(count)])
    add_special_tokens(backend, special_tokens)
    backend.post_processor = processors.TemplateProcessing(
        single=["$A", named[1]],
        pair=["$A", named[1], "$B:0", f"{named[1]}:0"],
        special_tokens=[(named[1], 1)],
    )
    return ByteTokenizer(backend)
