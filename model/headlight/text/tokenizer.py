"""Tokenizers: text to token ids and back, on the `tokenizers` library."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tokenizers

from headlight.array_types import Float
from headlight.errors import CheckpointError, TextError, shortened, wrap_errors
from headlight.file_writing import write_files
from headlight.paths import MAX_JSON_BYTES, read_regular
from headlight.text.chat import Chat, ChatTemplate, MessageSpan
from headlight.text.languages import language_tokens, split_language
from headlight.text.tokenizer_limits import TextLimit, check_growth, check_tokenizer, component_steps, step_state

TOKENIZER_FILE = "tokenizer.json"
END_OF_TEXT = "<|endoftext|>"  # before every text: it ends one and starts the next
MASK_TOKENS = ("[MASK]", "<mask>")  # the names of the mask token in models
KNOWN_TOKENS = 8_192  # size of a tokenizer's cache of token texts
REPLACEMENT_CHARACTER = "\N{REPLACEMENT CHARACTER}"


class TextPair(NamedTuple):
    """Two texts that a model reads together: a premise and a hypothesis, or a query and a passage."""

    text: str
    text_pair: str


@dataclass(frozen=True)
class Encoded:
    """A text as tokens; every field but `text` and `text_pair` has one entry per token.

    `tokens` are the vocabulary's entries ("Ġcat"), `token_texts` the text that they represent (" cat"; parts of one
    character are numbered, "é₁", "é₂", and a byte without the rest of its character is "byte C3"), `offsets` the
    characters of `text` that they come from ((0, 0) for tokens that the tokenizer adds, marked in `special_mask`).

    `segment_ids` are the token types of a pair of texts, empty if all tokens are in segment 0. `text` ends with the
    second text of a pair, `text_pair`, on a line of its own.

    `roles` are those of the messages of a chat that the tokens are of, "" for tokens of the template; empty if the text
    is no chat, or its template changes the messages. The `text` of a chat is what its template made; `chat` are its
    messages, as lines that begin with their roles.
    """

    text: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    token_texts: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    special_mask: tuple[bool, ...]
    segment_ids: tuple[int, ...] = field(default=(), kw_only=True)
    text_pair: str = field(default="", kw_only=True)
    roles: tuple[str, ...] = field(default=(), kw_only=True)
    chat: str = field(default="", kw_only=True)

    @property
    def first_text(self) -> str:
        """The text without the second one of a pair."""
        return self.text[: -len(self.text_pair) - 1] if self.text_pair else self.text

    @property
    def input_ids(self) -> tuple[int, ...]:
        """The token ids for a model: all ids of a text; for an image only those before its patches."""
        return self.ids

    @property
    def read_count(self) -> int:
        """The number of tokens, from the first, that cover the given input; for a sound, silence may follow."""
        return len(self.ids)

    @property
    def signal(self) -> Float[np.ndarray, channel * place] | None:
        """The pixels or the sound for a model in addition to the ids; None for a text."""
        return None


class Tokenizer:
    """Text to token ids and back, without padding or truncation."""

    def __init__(self, backend: tokenizers.Tokenizer, *, gives_segments: bool = True) -> None:
        self.gives_segments = gives_segments  # the token types of a pair, for the model's segment embeddings
        backend.no_padding()
        backend.no_truncation()
        self.backend = backend
        vocabulary = backend.get_vocab(with_added_tokens=True)
        self.vocabulary_size = max(vocabulary.values(), default=-1) + 1
        self.model_size: int | None = None  # rows of the model's embedding, if known
        self.uncounted_ids: frozenset[int] = frozenset()  # padding, if the model counts positions without it
        self.longest_token = max(map(len, vocabulary), default=0)  # in characters
        added = backend.get_added_tokens_decoder()
        self.special_ids = frozenset(token_id for token_id, token in added.items() if token.special)
        self.mask_id = self._first_known_id(*MASK_TOKENS)
        self.start_id = self._first_known_id(
            "[CLS]", "<s>", "<bos>", END_OF_TEXT, "<|begin_of_text|>", "<|startoftext|>", "[BOS]"
        )
        self.end_id = self._first_known_id("[SEP]", "</s>", "<eos>", END_OF_TEXT, "<|end_of_text|>", "[EOS]")
        self.pad_id = self._first_known_id("[PAD]", "<pad>", "<|padding|>")
        self.unknown_id = self._first_known_id("[UNK]", "<unk>")
        self.languages = language_tokens(backend)
        self._decoder_steps = component_steps("decoder", step_state(backend.decoder) if backend.decoder else None)
        check_growth("decoder", self._decoder_steps)
        self._limit = TextLimit(backend.normalizer, backend.pre_tokenizer)
        self._text_and_bytes = lru_cache(maxsize=KNOWN_TOKENS)(self._read_token)  # few tokens make up most texts
        self.source_language = ""  # the language token that replaces the one that the tokenizer adds
        self.chat_template: ChatTemplate | None = None
        self.target_tokenizer: Tokenizer = self  # the tokenizer of the decoder's text; separate in Marian models
        self.source_tokenizer: Tokenizer = self  # that of an encoder with a vocabulary of its own

    @classmethod
    def load(cls, folder: str | Path, name: str = "") -> Tokenizer:
        """Read a folder's tokenizer.json. Raises CheckpointError if it is missing or cannot be read."""
        name = name or Path(folder).name
        return cls.from_json(read_tokenizer_json(Path(folder), name), name)

    @classmethod
    def from_json(cls, values: Any, name: str) -> Tokenizer:
        """The tokenizer that the contents of a tokenizer.json describe. Raises CheckpointError with the `name`."""
        with wrap_errors(CheckpointError, _UNREADABLE.format(name=name)):
            check_tokenizer(values, name)
            return cls(tokenizers.Tokenizer.from_str(json.dumps(values)))

    def fit_to(self, size: int) -> tuple[str, ...]:
        """Adapt to a model whose embedding has `size` rows; returns the tokens that the model has no row for.

        A text with one of them is refused from now on; `decode` leaves out ids of rows without a token.
        """
        self.model_size = size
        vocabulary = self.backend.get_vocab(with_added_tokens=True) if self.vocabulary_size > size else {}
        for role in ("mask_id", "start_id", "end_id", "pad_id", "unknown_id"):
            if (getattr(self, role) or 0) >= size:
                setattr(self, role, None)
        self.languages = {name: number for name, number in self.languages.items() if number < size}
        self.vocabulary_size = min(self.vocabulary_size, size)
        return tuple(
            sorted((token for token, number in vocabulary.items() if number >= size), key=vocabulary.__getitem__)
        )

    def _require_rows(self, ids: Sequence[int]) -> None:
        """Raise TextError for a token that the model has no row for, or no position of its own."""
        if padding := self.uncounted_ids.intersection(ids):
            token = shortened(self.backend.id_to_token(min(padding)) or "")
            raise TextError(
                f"The text has the padding token {token!r}. This model counts positions without padding, which "
                "Headlight does not compute. Leave it out."
            )
        size = self.model_size
        if size is not None and (beyond := [number for number in ids if number >= size]):
            token = shortened(self.backend.id_to_token(beyond[0]) or "")
            raise TextError(
                f"The text has the token {token!r}, whose id is {beyond[0]}; the model's embedding ends at {size - 1}. "
                "Leave it out."
            )

    def save(self, folder: str | Path) -> None:
        """Write tokenizer.json into the folder. Raises OutputError."""
        write_files(Path(folder), {TOKENIZER_FILE: self.to_bytes()})

    def to_bytes(self) -> bytes:
        """The contents of tokenizer.json."""
        return self.backend.to_str().encode("utf-8")

    def encode(self, text: str | TextPair, add_special_tokens: bool = True) -> Encoded:
        """The tokens of a text or a pair, by default with the tokenizer's special tokens around and between them.

        A pair whose second text is empty is its first text, as for `transformers`. A language token at the start of the
        text replaces the one that the tokenizer adds. Lone surrogates are read as U+FFFD. Raises TextError if the
        tokenizer fails.
        """
        text, second = map(sanitize_surrogates, text if isinstance(text, TextPair) else (text, ""))
        language, behind = split_language(text, self.languages) if add_special_tokens else ("", text)
        start, language = len(text) - len(behind), language or (self.source_language if add_special_tokens else "")
        with wrap_errors(TextError, "This model's tokenizer fails at this text"):
            self._limit.check(text)
            self._limit.check(second)
            self._require_known(behind + second)
            encoding, spans = self._encoding(behind, second, add_special_tokens)
        ids, special_mask = list(encoding.ids), tuple(flag == 1 for flag in encoding.special_tokens_mask)
        self._require_rows(ids)
        if language:
            added = set(self.languages.values())
            ids = [
                self.languages[language] if is_special and number in added else number
                for number, is_special in zip(ids, special_mask, strict=True)
            ]
        starts = {None: 0, 0: start, 1: len(text) + 1}
        offsets = tuple(
            (0, 0) if is_special else (span[0] + starts[number], span[1] + starts[number])
            for is_special, span, number in zip(special_mask, spans, encoding.sequence_ids, strict=True)
        )
        text = f"{text}\n{second}" if second else text
        return Encoded(
            text=text,
            ids=tuple(ids),
            tokens=tuple(str(self.backend.id_to_token(number)) for number in ids)
            if language
            else tuple(encoding.tokens),
            token_texts=_token_names([self._text_and_bytes(token_id) for token_id in ids], offsets, text),
            offsets=offsets,
            special_mask=special_mask,
            segment_ids=tuple(encoding.type_ids) if self.gives_segments and any(encoding.type_ids) else (),
            text_pair=second,
        )

    def _encoding(
        self, text: str, second: str, add_special_tokens: bool
    ) -> tuple[tokenizers.Encoding, Sequence[tuple[int, int]]]:
        """The tokens of one or two texts, and the characters of each text that they come from."""
        encoding = self.backend.encode(text, second or None, add_special_tokens=add_special_tokens)
        return encoding, encoding.offsets

    def _require_known(self, text: str) -> None:
        """Raise TextError for a character that a vocabulary of characters lacks."""
        if self.longest_token != 1 or not isinstance(self.backend.model, tokenizers.models.WordLevel):
            return
        unknown = sorted(set(text) - set(self.backend.get_vocab(with_added_tokens=True)))
        if unknown and self.unknown_id is None:
            listed = ", ".join(repr(character) for character in unknown[:5])
            raise TextError(f"This model's vocabulary of {self.vocabulary_size} characters lacks {listed}.")

    def encode_chat(self, chat: Chat) -> Encoded:
        """The tokens of the text that the model's template makes of a chat, without special tokens around it.

        Raises TextError if there is no template, or it fails.
        """
        if self.chat_template is None:
            raise TextError(
                "This model has no default chat template, which would turn messages into its text; give it a text."
            )
        text, spans = self.chat_template.render(chat)
        encoded = self.encode(text, add_special_tokens=False)
        return replace(encoded, roles=_roles(encoded, spans) if spans else (), chat=chat.to_text())

    def with_ids(self, encoded: Encoded, ids: Sequence[int]) -> Encoded:
        """A text with other tokens in the same places."""
        others = self.from_ids(ids, encoded.text, encoded.offsets)
        same = {name: getattr(encoded, name) for name in ("segment_ids", "text_pair", "roles", "chat")}
        return replace(others, **same)

    def from_ids(self, ids: Sequence[int], text: str, offsets: Sequence[tuple[int, int]] = ()) -> Encoded:
        """An Encoded for given token ids (generated, masked); offsets are (0, 0) unless given."""
        offsets = tuple(offsets) or ((0, 0),) * len(ids)
        return Encoded(
            text=text,
            ids=tuple(ids),
            tokens=tuple(self.backend.id_to_token(token_id) or f"[{token_id}]" for token_id in ids),
            token_texts=_token_names([self._text_and_bytes(number) for number in ids], offsets, text),
            offsets=offsets,
            special_mask=tuple(number in self.special_ids for number in ids),
        )

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of many texts, without special tokens; a fast path for training."""
        encodings = self.backend.encode_batch_fast(
            [sanitize_surrogates(text) for text in texts], add_special_tokens=False
        )
        for encoding in encodings:
            self._require_rows(encoding.ids)
        return [encoding.ids for encoding in encodings]

    def normalize(self, text: str) -> str:
        """The text after normalization by the tokenizer."""
        text = sanitize_surrogates(text)
        with wrap_errors(TextError, "This model's tokenizer fails at this text"):
            return text if self.backend.normalizer is None else self.backend.normalizer.normalize_str(text)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of token ids, without special tokens and ids that have no token.

        Raises TextError for an id that is not in the vocabulary.
        """
        token_ids, size = [int(number) for number in ids], max(self.vocabulary_size, self.model_size or 0)
        for token_id in token_ids:
            if not 0 <= token_id < size:
                raise TextError(f"There is no token {token_id}: this vocabulary has the numbers 0 to {size - 1}.")
        with wrap_errors(TextError, "This model's tokenizer fails at these tokens"):
            return self.backend.decode(token_ids, skip_special_tokens=True)

    def token_text(self, token_id: int) -> str:
        """The text of one token, including spaces; part of a character is "byte E2", an unused id "[id]"."""
        return _name_bytes(self._text_and_bytes(token_id))

    def join_tokens(self, ids: Iterable[int]) -> str:
        """The text of consecutive tokens, including special tokens; bytes that form no character become U+FFFD."""
        return _to_bytes("".join(map(self._text_and_bytes, ids))).decode("utf-8", errors="replace")

    def _read_token(self, token_id: int) -> str:
        """The text of one token; each byte of an incomplete character is kept as a lone surrogate."""
        token_id = int(token_id)
        token = self.backend.id_to_token(token_id) if 0 <= token_id < self.vocabulary_size else None
        if token is None:
            return f"[{token_id}]"
        if token_id in self.special_ids:
            return token
        return reduce(
            lambda text, step: _TOKEN_DECODERS.get(step["type"], _unchanged)(text, step), self._decoder_steps, token
        )

    def stripped_token_text(self, token_id: int) -> str:
        """The text of one token without surrounding spaces."""
        return self.token_text(token_id).strip()

    def _first_known_id(self, *names: str) -> int | None:
        ids = (self.backend.token_to_id(name) for name in names)
        return next((token_id for token_id in ids if token_id is not None), None)


def _roles(encoded: Encoded, spans: Sequence[MessageSpan]) -> tuple[str, ...]:
    """The role of the message that each token begins in, or that begins in the token; "" outside messages."""
    return tuple(
        next((span.role for span in spans if start < span.end and span.start < end), "")
        for start, end in encoded.offsets
    )


_UNREADABLE = f"{{name}}: its {TOKENIZER_FILE} is not a tokenizer that can be read"


def read_tokenizer_json(folder: Path, name: str) -> Any:
    """The contents of a folder's tokenizer.json. Raises CheckpointError if it is missing or is not JSON."""
    path = folder / TOKENIZER_FILE
    if not path.is_file():
        raise CheckpointError(f"{name} holds no {TOKENIZER_FILE}.")
    with wrap_errors(CheckpointError, _UNREADABLE.format(name=name)):
        return json.loads(read_regular(path, MAX_JSON_BYTES).decode("utf-8"))


def sanitize_surrogates(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD."""
    return re.sub("[\ud800-\udfff]", REPLACEMENT_CHARACTER, text)


# Strings represent a byte of an incomplete character by the lone surrogate of Python's error handler "surrogateescape".
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_BYTES = re.compile("[\udc80-\udcff]+")
_BYTES_OR_TEXT = re.compile("[\udc80-\udcff]+|[^\udc80-\udcff]+")


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _from_bytes(raw: bytes) -> str:
    return raw.decode("utf-8", errors="surrogateescape")


def _name_bytes(text: str) -> str:
    """The text with its lone bytes in words: "byte E2", " bytes E2 80", "byte 80 + a", with no-break spaces inside.

    The no-break spaces distinguish these from the spaces of the token itself, which are displayed.
    """
    if not _BYTES.search(text):
        return text
    rest = text.lstrip(" ")
    parts = [_byte_words(part) if _BYTES.match(part) else part for part in _BYTES_OR_TEXT.findall(rest)]
    return text[: len(text) - len(rest)] + f"{_NO_BREAK_SPACE}+{_NO_BREAK_SPACE}".join(parts)


def _byte_words(part: str) -> str:
    raw = _to_bytes(part)
    words = f"byte{'s' if len(raw) > 1 else ''} {raw.hex(' ').upper()}"
    return words.replace(" ", _NO_BREAK_SPACE)


def _token_names(token_texts: Sequence[str], offsets: Sequence[tuple[int, int]], text: str) -> tuple[str, ...]:
    """The texts; a token that has only some bytes of a character is shown as that character with a number.

    If its other bytes are masked, `offsets` give the character in `text`.
    """
    if not any(map(_BYTES.search, token_texts)):
        return tuple(token_texts)
    names, part, previous_end = _number_parts(token_texts), 0, 0
    for index, (start, end) in enumerate(offsets):
        part = part + 1 if start < previous_end else 1
        previous_end = end
        if end > start and _BYTES.search(names[index]):
            names[index] = _part_name(text[start:end], part)
    return tuple(map(_name_bytes, names))


def _number_parts(token_texts: Sequence[str]) -> list[str]:
    """The texts, with characters whose bytes are spread over several tokens as numbered parts."""
    owners = [index for index, token_text in enumerate(token_texts) for _ in _to_bytes(token_text)]
    names, start = [""] * len(token_texts), 0
    for character in _from_bytes(_to_bytes("".join(token_texts))):
        end = start + len(_to_bytes(character))
        tokens = dict.fromkeys(owners[start:end])
        for part, index in enumerate(tokens, 1):
            names[index] += _part_name(character, part) if len(tokens) > 1 else character
        start = end
    return names


def _part_name(character: str, part: int) -> str:
    return _visible_character(character) + str(part).translate(_SUBSCRIPTS)


def _visible_character(character: str) -> str:
    """The character; combining and joining characters are shown on a dotted circle."""
    return f"◌{character}" if unicodedata.category(character[-1]) in ("Mn", "Me", "Cf") else character


_SUBSCRIPTS = {ord("0") + digit: 0x2080 + digit for digit in range(10)}


# The effect of each kind of decoder step on one token; effects between tokens are ignored.


def _unchanged(token: str, step: dict[str, Any]) -> str:
    return token


def _decode_byte_level(token: str, step: dict[str, Any]) -> str:
    """Byte-level vocabularies write each byte as one printable character; an entry may be part of a character."""
    try:
        raw = bytes(byte_of_character(character) for character in token)
    except ValueError:  # an added token, used as is
        return token
    return _from_bytes(raw)


def byte_of_character(character: str) -> int:
    """The byte of a character in GPT-2's byte alphabet: printable Latin-1 represents itself, the rest is shifted."""
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


def _decode_byte_fallback(token: str, step: dict[str, Any]) -> str:
    match = re.fullmatch("<0x([0-9A-Fa-f]{2})>", token)
    return _from_bytes(bytes([int(match[1], 16)])) if match else token


def _decode_replace(token: str, step: dict[str, Any]) -> str:
    pattern = step["pattern"]
    return token.replace(pattern["String"], step["content"]) if "String" in pattern else token


_TOKEN_DECODERS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "ByteLevel": _decode_byte_level,
    "ByteFallback": _decode_byte_fallback,
    "WordPiece": lambda token, step: token.removeprefix(step["prefix"]),
    "Metaspace": lambda token, step: token.replace(step["replacement"], " "),
    "BPEDecoder": lambda token, step: token.replace(step["suffix"], " "),
    "Replace": _decode_replace,
}
