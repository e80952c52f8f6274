"""Marian's tokenizers: two SentencePiece models, one for what is read and one for what is written, and one vocabulary.

The models cut a text into pieces; a piece's number is the vocabulary's, and one that it lacks is the unknown token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import tokenizers
from tokenizers import decoders, models

from model.checkpoints.config_reader import read_json
from model.checkpoints.tokenizers.sentencepiece import (
    SPACE,
    UNIGRAM,
    plain_text_backend,
    read_sentencepiece,
    require_supported_model,
)
from model.checkpoints.tokenizers.special_tokens import SpecialTokens, add_special_tokens
from model.checkpoints.tokenizers.unigram import UnigramSegmenter
from model.errors import CheckpointError
from model.text.tokenizer import Encoded, Tokenizer, sanitize_surrogates

SOURCE_MODEL, TARGET_MODEL, VOCAB_JSON = "source.spm", "target.spm", "vocab.json"
_LANGUAGE_CODE = re.compile(r">>.*?<<", re.DOTALL)  # `>>fr<<` in front of a text is one token
PieceSpan = tuple[str, tuple[int, int]]
Segmenter = Callable[[str], Iterable[PieceSpan]]


class MarianTokenizer(Tokenizer):
    """A vocabulary whose texts are cut by a model of their own."""

    def __init__(self, vocabulary: tokenizers.Tokenizer, cut: Segmenter, marks: SpecialTokens) -> None:
        super().__init__(vocabulary)
        self.segment, self.end_token = cut, marks.token("eos")
        self.token_ids = vocabulary.get_vocab(with_added_tokens=True)
        self.unknown_token_id = self.token_ids[marks.token("unk") or "<unk>"]
        special = sorted(token for token, number in self.token_ids.items() if number in self.special_ids)
        self.special_pattern = re.compile("|".join(map(re.escape, special)) or r"(?!)")

    def encode(self, text: str, add_special_tokens: bool = True) -> Encoded:
        """The text's tokens, and the end token unless told not to."""
        text = sanitize_surrogates(text)
        tokens_and_spans = list(self._tokens(text))
        ids = [self.token_ids.get(token, self.unknown_token_id) for token, _ in tokens_and_spans]
        spans, added = [span for _, span in tokens_and_spans], [False] * len(tokens_and_spans)
        pieces = [token.replace(SPACE, " ") for token, _ in tokens_and_spans]
        if add_special_tokens and self.end_token is not None:
            ids, pieces = [*ids, self.token_ids[self.end_token]], [*pieces, self.end_token]
            spans, added = [*spans, (0, 0)], [*added, True]
        tokens = tuple(self.backend.id_to_token(number) or "" for number in ids)
        return Encoded(text, tuple(ids), tokens, tuple(pieces), tuple(spans), tuple(added))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the token numbers of many texts."""
        return [list(self.encode(text, add_special_tokens=False).ids) for text in texts]

    def save(self, folder: str | Path) -> None:
        """Never: one file cannot hold two models."""
        raise CheckpointError("This model has a tokenizer for each of its two texts, which no tokenizer.json can hold.")

    def _tokens(self, text: str) -> Iterator[PieceSpan]:
        """Tokens and where they are: special ones as they are written, what is between them cut into pieces."""
        at = 0
        for match in self.special_pattern.finditer(text):
            yield from self._segment_span(text, at, match.start())
            yield match[0], match.span()
            at = match.end()
        yield from self._segment_span(text, at, len(text))

    def _segment_span(self, text: str, start: int, end: int) -> Iterator[PieceSpan]:
        language = _LANGUAGE_CODE.match(text, start, end)
        if language:
            yield language[0], language.span()
            start = language.end()
        for token, (first, last) in self.segment(text[start:end]):
            yield token, (start + first, start + last)


def open_marian_tokenizer(folder: Path, name: str, marks: SpecialTokens) -> Tokenizer:
    """The tokenizer of a folder with both models and their vocabulary. Raises CheckpointError."""
    token_ids = read_json(folder / VOCAB_JSON, name)
    if not all(type(number) is int and 0 <= number < 2**31 for number in token_ids.values()):
        raise CheckpointError(f"{name}: its {VOCAB_JSON} has a token without a number.")
    unknown = marks.token("unk") or "<unk>"
    if unknown not in token_ids:
        raise CheckpointError(f"{name}: its {VOCAB_JSON} lacks {unknown}, which stands for unknown pieces.")
    vocabulary = tokenizers.Tokenizer(models.WordLevel(token_ids, unk_token=unknown))
    vocabulary.decoder = decoders.Metaspace(SPACE)
    add_special_tokens(vocabulary, marks)
    source_tokenizer, target_tokenizer = (
        MarianTokenizer(vocabulary, _segmenter(folder / file, name), marks) for file in (SOURCE_MODEL, TARGET_MODEL)
    )
    source_tokenizer.target_tokenizer = target_tokenizer
    return source_tokenizer


def _segmenter(path: Path, name: str) -> Segmenter:
    """How a model cuts a text."""
    name = f"{name}: its {path.name}"
    pieces = read_sentencepiece(path.read_bytes(), name)
    require_supported_model(pieces, name)
    if pieces.model_type == UNIGRAM:
        return UnigramSegmenter(pieces)
    backend = plain_text_backend(pieces, name)

    def cut(text: str) -> Iterable[PieceSpan]:
        encoding = backend.encode(text, add_special_tokens=False)
        return zip(encoding.tokens, encoding.offsets, strict=True)

    return cut
