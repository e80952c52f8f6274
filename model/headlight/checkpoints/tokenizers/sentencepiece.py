"""SentencePiece models (.model files) as tokenizers of the `tokenizers` library, and Marian's pair of them.

The few fields needed are read from the protocol buffer here: the message classes of the sentencepiece package need a
protobuf runtime of exactly their version, and cannot be imported together with those of transformers.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import sentencepiece
import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.tokenizers.special_tokens import PieceOrder, SpecialTokens, add_special_tokens
from headlight.errors import CheckpointError, TextError
from headlight.text.tokenizer import Encoded, TextPair, Tokenizer, sanitize_surrogates
from headlight.text.tokenizer_limits import MAX_TOKEN_LENGTH, MAX_UNIGRAM_PIECE_LENGTH, TextLimit

SPACE = "▁"
UNIGRAM, BPE = 1, 2
UNKNOWN, CONTROL, USER_DEFINED, UNUSED = 2, 3, 4, 5  # special types of pieces


@dataclass(frozen=True)
class SentencePieceModel:
    """A SentencePiece model: each piece's text, score and type, and how texts are normalized.

    Fields have their names in sentencepiece_model.proto; `precompiled_charsmap` replaces characters, `add_dummy_prefix`
    adds a space at the start, `remove_extra_whitespaces` strips both ends and merges several spaces into one.
    """

    texts: tuple[str, ...]
    scores: tuple[float, ...]
    types: tuple[int, ...]
    model_type: int = BPE
    byte_fallback: bool = True
    precompiled_charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = False

    @property
    def unknown_id(self) -> int:
        """The id of the unknown piece."""
        return self.types.index(UNKNOWN) if UNKNOWN in self.types else 0


def read_sentencepiece(raw: bytes, name: str) -> SentencePieceModel:
    """From the bytes of a .model file. Raises CheckpointError if they are invalid."""
    try:
        fields = list(_protobuf_fields(raw))
        pieces = [dict(_protobuf_fields(value)) for key, value in fields if key == 1 and isinstance(value, bytes)]
        trainer = _submessage(fields, 2)
        normalizer = _submessage(fields, 3)
        return SentencePieceModel(
            texts=tuple(bytes(piece[1]).decode("utf-8") for piece in pieces),
            scores=tuple(struct.unpack("<f", bytes(piece.get(2, b"\0\0\0\0")))[0] for piece in pieces),
            types=tuple(int(piece.get(3, 1)) for piece in pieces),
            model_type=int(trainer.get(3, UNIGRAM)),
            byte_fallback=bool(trainer.get(35, 0)),
            precompiled_charsmap=bytes(normalizer.get(2, b"")),
            add_dummy_prefix=bool(normalizer.get(3, 1)),
            remove_extra_whitespaces=bool(normalizer.get(4, 1)),
        )
    except (ValueError, KeyError, IndexError, TypeError, struct.error) as error:
        raise CheckpointError(f"{name} is not a SentencePiece model that can be read.") from error


def read_llama2c_tokenizer(raw: bytes, name: str) -> SentencePieceModel:
    """From the bytes of llama2.c's tokenizer.bin: scores and texts, with spaces instead of SPACE."""
    texts, scores, offset = list[str](), list[float](), 4
    try:
        while offset < len(raw):
            score, size = struct.unpack_from("<fi", raw, offset)
            if not 0 <= size <= len(raw) - offset - 8:
                raise ValueError("a piece beyond the end")
            texts.append(raw[offset + 8 : offset + 8 + size].decode("utf-8").replace(" ", SPACE))
            scores.append(score)
            offset += 8 + size
    except (struct.error, ValueError) as error:
        raise CheckpointError(f"{name} is not a llama2.c tokenizer that can be read.") from error
    special_tokens = {number: texts[number].strip() for number in range(min(3, len(texts)))}
    kinds = [(UNKNOWN, CONTROL, CONTROL)[number] if number in special_tokens else 1 for number in range(len(texts))]
    return SentencePieceModel(
        tuple(special_tokens.get(number, text) for number, text in enumerate(texts)), tuple(scores), tuple(kinds)
    )


def in_order(pieces: SentencePieceModel, order: PieceOrder) -> SentencePieceModel:
    """The pieces in the order of a tokenizer class; its front pieces are recognized in a text."""
    front_types = tuple(UNKNOWN if text == "<unk>" else CONTROL for text in order.front)
    kept = slice(order.skipped, None)
    return replace(
        pieces,
        texts=(*order.front, *pieces.texts[kept], *order.back),
        scores=(*(0.0 for _ in order.front), *pieces.scores[kept], *(0.0 for _ in order.back)),
        types=(*front_types, *pieces.types[kept], *(UNUSED for _ in order.back)),
    )


def renumbered(pieces: SentencePieceModel, texts: Sequence[str]) -> SentencePieceModel:
    """The pieces with these texts, in this order; pieces missing in the model are only recognized verbatim."""
    known = dict(zip(pieces.texts, zip(pieces.scores, pieces.types, strict=True), strict=True))
    found = [known.get(text, (0.0, CONTROL)) for text in texts]
    return replace(
        pieces, texts=tuple(texts), scores=tuple(each[0] for each in found), types=tuple(each[1] for each in found)
    )


def _submessage(fields: Sequence[tuple[int, int | bytes]], number: int) -> dict[int, int | bytes]:
    found = [value for key, value in fields if key == number and isinstance(value, bytes)]
    return dict(_protobuf_fields(found[-1])) if found else {}


def _protobuf_fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protocol buffer message as (number, value); a value is an integer or bytes."""
    at = 0
    while at < len(raw):
        key, at = _varint(raw, at)
        kind = key & 7
        if kind == 0:
            number, at = _varint(raw, at)
            yield key >> 3, number
            continue
        if kind == 2:
            size, at = _varint(raw, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + size > len(raw):
            raise ValueError("a field beyond the end")
        yield key >> 3, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        byte = raw[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise ValueError("a number without end")


def sentencepiece_backend(
    pieces: SentencePieceModel, name: str, style: str = "plain", fields: ConfigReader | None = None
) -> tokenizers.Tokenizer:
    """A tokenizer of the same pieces, which recognizes control and user-defined pieces in a text.

    `style` is a row of STYLES, with its options in `fields`. Raises CheckpointError for types other than Unigram and
    BPE.
    """
    backend = plain_text_backend(pieces, name)
    STYLES[style](backend, pieces, fields or ConfigReader({}, name))
    special = [text for text, kind in zip(pieces.texts, pieces.types, strict=True) if kind in (CONTROL, UNKNOWN)]
    backend.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
    own = [text for text, kind in zip(pieces.texts, pieces.types, strict=True) if kind == USER_DEFINED]
    backend.add_tokens([AddedToken(text, special=False, normalized=False) for text in own])
    return backend


def plain_text_backend(pieces: SentencePieceModel, name: str) -> tokenizers.Tokenizer:
    """Splits texts like SentencePiece itself, which recognizes no special tokens in a text."""
    require_supported_model(pieces, name)
    return _unigram_backend(pieces) if pieces.model_type == UNIGRAM else _bpe_backend(pieces)


def require_supported_model(pieces: SentencePieceModel, name: str) -> None:
    """Raise CheckpointError for models of an unknown kind, and for pieces that are too long."""
    longest = max(map(len, pieces.texts), default=0)
    allowed = MAX_UNIGRAM_PIECE_LENGTH if pieces.model_type == UNIGRAM else MAX_TOKEN_LENGTH
    if longest > allowed:
        raise CheckpointError(f"{name} has a piece of {longest:,} characters; at most {allowed:,} are read.")
    if not pieces.texts or pieces.model_type not in (UNIGRAM, BPE):
        raise CheckpointError(f"{name} has a SentencePiece model of an unknown kind.")


def _unigram_backend(pieces: SentencePieceModel) -> tokenizers.Tokenizer:
    scored = list(zip(pieces.texts, pieces.scores, strict=True))
    backend = tokenizers.Tokenizer(models.Unigram(scored, unk_id=pieces.unknown_id, byte_fallback=pieces.byte_fallback))
    scheme = "always" if pieces.add_dummy_prefix else "never"
    # Metaspace adds no space before an existing one; SentencePiece does, unless it has removed that one.
    prepend = [normalizers.Prepend(SPACE)] if pieces.add_dummy_prefix and not pieces.remove_extra_whitespaces else []
    backend.normalizer = normalizers.Sequence([*_normalizers(pieces), *prepend])
    backend.pre_tokenizer = pre_tokenizers.Metaspace(SPACE, prepend_scheme=scheme)
    backend.decoder = decoders.Metaspace(SPACE, prepend_scheme=scheme)
    return backend


def _bpe_backend(pieces: SentencePieceModel) -> tokenizers.Tokenizer:
    numbers = {text: number for number, text in enumerate(pieces.texts)}
    backend = tokenizers.Tokenizer(
        models.BPE(
            numbers,
            bpe_merges(numbers, pieces.scores),
            unk_token=pieces.texts[pieces.unknown_id],
            fuse_unk=True,
            byte_fallback=pieces.byte_fallback,
        )
    )
    prepend: list[normalizers.Normalizer] = [normalizers.Prepend(SPACE)] if pieces.add_dummy_prefix else []
    backend.normalizer = normalizers.Sequence([*_normalizers(pieces), *prepend, normalizers.Replace(" ", SPACE)])
    strip = [decoders.Strip(" ", left=1)] if pieces.add_dummy_prefix else []
    backend.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    )
    return backend


def _normalizers(pieces: SentencePieceModel) -> list[normalizers.Normalizer]:
    """The normalization that the file itself specifies."""
    steps = _character_map(pieces)
    if pieces.remove_extra_whitespaces:
        steps += [normalizers.Strip(left=True, right=True), normalizers.Replace(Regex(" {2,}"), " ")]
    return steps


def _character_map(pieces: SentencePieceModel) -> list[normalizers.Normalizer]:
    return [normalizers.Precompiled(pieces.precompiled_charsmap)] if pieces.precompiled_charsmap else []


def _default_style(backend: tokenizers.Tokenizer, pieces: SentencePieceModel, fields: ConfigReader) -> None:
    """The file's own normalization."""


def _albert_style(backend: tokenizers.Tokenizer, pieces: SentencePieceModel, fields: ConfigReader) -> None:
    """ALBERT: quotes, accents and case, then the file's own character map; white space only separates words."""
    steps: list[normalizers.Normalizer] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not fields.boolean("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if fields.boolean("do_lower_case", True):
        steps.append(normalizers.Lowercase())
    _words_style(backend, pieces, fields)
    backend.normalizer = normalizers.Sequence([*steps, *_character_map(pieces)])


def _words_style(backend: tokenizers.Tokenizer, pieces: SentencePieceModel, fields: ConfigReader) -> None:
    """XLM-R, mBART and T5: the file's own character map; white space only separates words."""
    backend.normalizer = normalizers.Sequence(_character_map(pieces))
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), _space(fields, "never")])


def _pegasus_style(backend: tokenizers.Tokenizer, pieces: SentencePieceModel, fields: ConfigReader) -> None:
    """Pegasus: the file's own character map; several spaces become one, also at both ends."""
    backend.normalizer = normalizers.Sequence([*_character_map(pieces), normalizers.Replace(Regex(" {2,}"), " ")])
    backend.pre_tokenizer = pre_tokenizers.Metaspace(SPACE, prepend_scheme="always")


def _deberta_style(backend: tokenizers.Tokenizer, pieces: SentencePieceModel, fields: ConfigReader) -> None:
    """DeBERTa: white space, NFC, and optionally lower case and separate punctuation marks."""
    lower = [normalizers.Lowercase()] if fields.boolean("do_lower_case", False) else []
    spaces = normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " ")
    strip = normalizers.Strip(left=False, right=True)
    backend.normalizer = normalizers.Sequence([*lower, spaces, normalizers.NFC(), strip])
    punctuation = [pre_tokenizers.Punctuation(behavior="isolated")] if fields.boolean("split_by_punct", False) else []
    backend.pre_tokenizer = pre_tokenizers.Sequence([*punctuation, _space(fields, "first")])


def _llama_style(backend: tokenizers.Tokenizer, pieces: SentencePieceModel, fields: ConfigReader) -> None:
    """Llama: the file's own normalization, optionally without a space before the text."""
    if not fields.boolean("add_prefix_space", True):
        plain = plain_text_backend(replace(pieces, add_dummy_prefix=False), fields.name)
        backend.normalizer, backend.decoder = plain.normalizer, plain.decoder


def _space(fields: ConfigReader, without: str) -> pre_tokenizers.PreTokenizer:
    """Spaces as SPACE, with one before each word; `without` is the scheme if the fields disable that."""
    return pre_tokenizers.Metaspace(
        SPACE, prepend_scheme="always" if fields.boolean("add_prefix_space", True) else without
    )


STYLES: Mapping[str, Callable[[tokenizers.Tokenizer, SentencePieceModel, ConfigReader], None]] = {
    "plain": _default_style,
    "words": _words_style,
    "albert": _albert_style,
    "pegasus": _pegasus_style,
    "deberta": _deberta_style,
    "llama": _llama_style,
}


def bpe_merges(numbers: dict[str, int], scores: Sequence[float]) -> list[tuple[str, str]]:
    """BPE merges, best score first, ties as `transformers` 5 orders them: by the piece's number, the shorter left half.

    SentencePiece stores scores of pieces, but `tokenizers` needs pairs.
    """
    found = []
    for text, number in numbers.items():
        halves = [(text[:cut], text[cut:]) for cut in range(1, len(text))]
        pairs = [half for half in halves if half[0] in numbers and half[1] in numbers]
        found += [((-scores[number], number, len(half[0])), half) for half in pairs]
    return [half for _, half in sorted(found)]


SOURCE_MODEL, TARGET_MODEL, VOCAB_JSON = "source.spm", "target.spm", "vocab.json"
_LANGUAGE_CODE = re.compile(r">>.*?<<", re.DOTALL)  # `>>fr<<` at the start of a text is one token
PieceSpan = tuple[str, tuple[int, int]]
Segmenter = Callable[[str], Iterable[PieceSpan]]


class MarianTokenizer(Tokenizer):
    """A vocabulary with a SentencePiece model to split texts."""

    def __init__(self, vocabulary: tokenizers.Tokenizer, segment: Segmenter, special_tokens: SpecialTokens) -> None:
        super().__init__(vocabulary)
        self.segment, self.end_token = segment, special_tokens.token("eos")
        self.token_ids = vocabulary.get_vocab(with_added_tokens=True)
        self.unknown_token_id = self.token_ids[special_tokens.token("unk") or "<unk>"]
        special = sorted(token for token, token_id in self.token_ids.items() if token_id in self.special_ids)
        self.special_pattern = re.compile("|".join(map(re.escape, special)) or r"(?!)")

    def encode(self, text: str | TextPair, add_special_tokens: bool = True) -> Encoded:
        """The text's tokens, with the end token unless disabled. Raises TextError for a pair."""
        if isinstance(text, TextPair):
            raise TextError("This model's tokenizer reads one text, not a pair.")
        text = sanitize_surrogates(text)
        tokens_and_spans = list(self._tokens(text))
        ids = [self.token_ids.get(token, self.unknown_token_id) for token, _ in tokens_and_spans]
        spans, special_mask = [span for _, span in tokens_and_spans], [False] * len(tokens_and_spans)
        token_texts = [token.replace(SPACE, " ") for token, _ in tokens_and_spans]
        if add_special_tokens and self.end_token is not None:
            ids, token_texts = [*ids, self.token_ids[self.end_token]], [*token_texts, self.end_token]
            spans, special_mask = [*spans, (0, 0)], [*special_mask, True]
        self._require_rows(ids)
        tokens = tuple(self.backend.id_to_token(token_id) or "" for token_id in ids)
        return Encoded(text, tuple(ids), tokens, tuple(token_texts), tuple(spans), tuple(special_mask))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the token ids for many texts."""
        return [list(self.encode(text, add_special_tokens=False).ids) for text in texts]

    def save(self, folder: str | Path) -> None:
        """Raises CheckpointError: one tokenizer.json cannot hold two models."""
        raise CheckpointError(
            "This model has a tokenizer for each of its two texts; one tokenizer.json cannot hold both."
        )

    def _tokens(self, text: str) -> Iterator[PieceSpan]:
        """Tokens with their spans: special tokens verbatim, the text between them split into pieces."""
        start = 0
        for match in self.special_pattern.finditer(text):
            yield from self._segment_span(text, start, match.start())
            yield match[0], match.span()
            start = match.end()
        yield from self._segment_span(text, start, len(text))

    def _segment_span(self, text: str, start: int, end: int) -> Iterator[PieceSpan]:
        language = _LANGUAGE_CODE.match(text, start, end)
        if language:
            yield language[0], language.span()
            start = language.end()
        for token, (first, last) in self.segment(text[start:end]):
            yield token, (start + first, start + last)


def open_marian_tokenizer(folder: Path, name: str, special_tokens: SpecialTokens) -> Tokenizer:
    """The tokenizer of a folder with both models and their vocabulary. Raises CheckpointError."""
    token_ids = read_json(folder / VOCAB_JSON, name)
    if not all(type(token_id) is int and 0 <= token_id < 2**31 for token_id in token_ids.values()):
        raise CheckpointError(f"{name}: its {VOCAB_JSON} has a token without an id.")
    unknown = special_tokens.token("unk") or "<unk>"
    missing = [token for token in (unknown, special_tokens.token("eos")) if token and token not in token_ids]
    if missing:
        raise CheckpointError(f"{name}: its {VOCAB_JSON} lacks {', '.join(missing)}, which every text needs.")
    vocabulary = tokenizers.Tokenizer(models.WordLevel(token_ids, unk_token=unknown))
    vocabulary.decoder = decoders.Metaspace(SPACE)
    add_special_tokens(vocabulary, special_tokens)
    source_tokenizer, target_tokenizer = (
        MarianTokenizer(vocabulary, _segmenter(folder / file, name), special_tokens)
        for file in (SOURCE_MODEL, TARGET_MODEL)
    )
    source_tokenizer.target_tokenizer = target_tokenizer
    return source_tokenizer


def _segmenter(path: Path, name: str) -> Segmenter:
    """A SentencePiece model's split of a text; characters dropped by its normalizer have no piece."""
    raw, name = path.read_bytes(), f"{name}: its {path.name}"
    model = read_sentencepiece(raw, name)
    require_supported_model(model, name)
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=raw)
    except RuntimeError as error:
        raise CheckpointError(f"{name} is not a SentencePiece model that can be read.") from error
    charsmap = model.precompiled_charsmap
    limit = TextLimit(normalizers.Precompiled(charsmap) if charsmap else None)

    def segment(text: str) -> Iterable[PieceSpan]:
        limit.check(text)
        found = processor.encode(text, return_type="offset_mapping")
        return zip(found["pieces"], found["offsets"], strict=True)

    return segment
