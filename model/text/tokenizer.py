"""Tokenizers: text to numbers and back, on the `tokenizers` library."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import tokenizers

from model.errors import CheckpointError, TextError, told
from model.text.normalization_limits import Growth, check_spelling

FILE = "tokenizer.json"
DOCUMENT = "<|endoftext|>"  # stands in front of every text: it ends one and begins the next
LOST = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Encoded:
    """A text as tokens; every field but `text` has one entry per token.

    `tokens` are the vocabulary's entries ("Ġcat"), `pieces` what they stand for (" cat", and of a character that takes
    several tokens "é₁", "é₂"), `spans` the characters of `text` they come from ((0, 0) for what the tokenizer adds by
    itself, which `special` marks).
    """

    text: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    pieces: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    special: tuple[bool, ...]


class Tokenizer:
    """Text to token numbers and back. Never pads and never cuts off."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        backend.no_padding()
        backend.no_truncation()
        self.backend = backend
        self.size = max(backend.get_vocab(with_added_tokens=True).values(), default=-1) + 1
        added = backend.get_added_tokens_decoder()
        self.specials = frozenset(number for number, token in added.items() if token.special)
        self.mask_id = self._first("[MASK]", "<mask>")
        self.start_id = self._first("[CLS]", "<s>", "<bos>", DOCUMENT, "<|begin_of_text|>", "<|startoftext|>", "[BOS]")
        self.end_id = self._first("[SEP]", "</s>", "<eos>", DOCUMENT, "<|end_of_text|>", "[EOS]")
        self.pad_id = self._first("[PAD]", "<pad>", "<|padding|>")
        self.unknown_id = self._first("[UNK]", "<unk>")
        decoder = json.loads(backend.decoder.__getstate__()) if backend.decoder else {"type": "none"}
        self._steps: list[dict[str, Any]] = decoder.get("decoders", [decoder])
        check_spelling(self._steps)
        self._growth = Growth(backend.normalizer)
        self.written: Tokenizer = self  # cuts what a decoder writes, which a few models do in another way

    @classmethod
    def load(cls, folder: str | Path, name: str = "") -> Tokenizer:
        """From a folder's tokenizer.json. Raises CheckpointError where there is none, or none that can be read."""
        path = Path(folder) / FILE
        name = name or path.parent.name
        if not path.is_file():
            raise CheckpointError(f"{name} holds no {FILE}.")
        with told(CheckpointError, f"{name}: its {FILE} is not a tokenizer that can be read"):
            return cls(tokenizers.Tokenizer.from_str(path.read_text(encoding="utf-8")))

    def save(self, folder: str | Path) -> None:
        """Writes tokenizer.json into the folder."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / FILE).write_text(self.backend.to_str(), encoding="utf-8")

    def encode(self, text: str, special: bool = True) -> Encoded:
        """The text's tokens, with the special tokens that the tokenizer puts around a text unless told not to.

        Half characters (lone surrogates), which no file can hold, are read as U+FFFD.
        """
        text = whole(text)
        with told(TextError, "This model's tokenizer fails at this text"):
            self._growth.check(text)
            encoding = self.backend.encode(text, add_special_tokens=special)
        added = tuple(flag == 1 for flag in encoding.special_tokens_mask)
        spans = tuple((0, 0) if new else span for new, span in zip(added, encoding.offsets, strict=True))
        return Encoded(
            text=text,
            ids=tuple(encoding.ids),
            tokens=tuple(encoding.tokens),
            pieces=_told(tuple(self.piece(number) for number in encoding.ids), spans, text),
            spans=spans,
            special=added,
        )

    def describe(self, ids: Sequence[int], text: str, spans: Sequence[tuple[int, int]] = ()) -> Encoded:
        """Token numbers that no text was cut into (generated, masked) as an Encoded; without spans, unless given."""
        spans = tuple(spans) or ((0, 0),) * len(ids)
        return Encoded(
            text=text,
            ids=tuple(ids),
            tokens=tuple(self.backend.id_to_token(number) or f"[{number}]" for number in ids),
            pieces=_told(tuple(self.piece(number) for number in ids), spans, text),
            spans=spans,
            special=tuple(number in self.specials for number in ids),
        )

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the token numbers of many texts, without special tokens around them: quick, for training."""
        encodings = self.backend.encode_batch_fast([whole(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def normalized(self, text: str) -> str:
        """The text as it is before it is cut into tokens."""
        text = whole(text)
        return text if self.backend.normalizer is None else self.backend.normalizer.normalize_str(text)

    def decode(self, ids: Iterable[int]) -> str:
        """The text that the tokens stand for, without special tokens."""
        numbers = [int(number) for number in ids]
        for number in numbers:
            if not 0 <= number < self.size:
                raise TextError(f"There is no token {number}: this vocabulary has the numbers 0 to {self.size - 1}.")
        return self.backend.decode(numbers, skip_special_tokens=True)

    def piece(self, number: int) -> str:
        """What one token stands for, spaces included; half a character is U+FFFD, an unused number is [number]."""
        number = int(number)
        token = self.backend.id_to_token(number) if 0 <= number < self.size else None
        if token is None:
            return f"[{number}]"
        if number in self.specials:
            return token
        return reduce(lambda text, step: _SPELLINGS.get(step["type"], _as_it_is)(text, step), self._steps, token)

    def readable(self, number: int) -> str:
        """A token as a reader would see it: without spaces around it and without the mark of a word's inside."""
        return self.piece(number).strip()

    def _first(self, *names: str) -> int | None:
        found = (self.backend.token_to_id(name) for name in names)
        return next((number for number in found if number is not None), None)


def whole(text: str) -> str:
    """The text, with U+FFFD for half characters."""
    return re.sub("[\ud800-\udfff]", LOST, text)


def _told(pieces: tuple[str, ...], spans: Sequence[tuple[int, int]], text: str) -> tuple[str, ...]:
    """The pieces; one that holds only some bytes of a character reads that character, numbered."""
    if not any(LOST in piece for piece in pieces):
        return pieces
    told, number, before = [], 0, 0
    for piece, (start, end) in zip(pieces, spans, strict=True):
        number = number + 1 if start < before else 1
        before = end
        part = LOST in piece and end > start
        told.append(_drawn(text[start:end]) + str(number).translate(_SUBSCRIPTS) if part else piece)
    return tuple(told)


def _drawn(character: str) -> str:
    """The character; what joins or changes its neighbours stands on a dotted circle."""
    return f"◌{character}" if unicodedata.category(character[-1]) in ("Mn", "Me", "Cf") else character


_SUBSCRIPTS = {ord("0") + digit: 0x2080 + digit for digit in range(10)}


# How each kind of decoder step spells one token; what it does between tokens (gluing, stripping) does not matter here.


def _as_it_is(token: str, step: dict[str, Any]) -> str:
    return token


def _from_bytes(token: str, step: dict[str, Any]) -> str:
    """Byte-level vocabularies write each byte as one printable character; some entries hold half a character."""
    try:
        raw = bytes(_byte_of(character) for character in token)
    except ValueError:  # an added token, written as it is
        return token
    return re.sub(f"{LOST}+", LOST, raw.decode("utf-8", errors="replace"))


def _byte_of(character: str) -> int:
    """The byte behind a character of GPT-2's byte alphabet: printable Latin-1 is itself, the rest is shifted."""
    code = ord(character)
    if 33 <= code <= 126 or 161 <= code <= 172 or 174 <= code <= 255:
        return code
    shifted = code - 256
    if 0 <= shifted <= 32:
        return shifted
    if 33 <= shifted <= 66:
        return shifted + 94  # 127 to 160
    if shifted == 67:
        return 173
    raise ValueError(f"{character!r} is not in the byte alphabet")


def _from_one_byte(token: str, step: dict[str, Any]) -> str:
    match = re.fullmatch("<0x([0-9A-Fa-f]{2})>", token)
    return bytes([int(match[1], 16)]).decode("utf-8", errors="replace") if match else token


def _replaced(token: str, step: dict[str, Any]) -> str:
    pattern = step["pattern"]
    return token.replace(pattern["String"], step["content"]) if "String" in pattern else token


_SPELLINGS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "ByteLevel": _from_bytes,
    "ByteFallback": _from_one_byte,
    "WordPiece": lambda token, step: token.removeprefix(step["prefix"]),
    "Metaspace": lambda token, step: token.replace(step["replacement"], " "),
    "BPEDecoder": lambda token, step: token.replace(step["suffix"], " "),
    "Replace": _replaced,
}
