"""Marian's tokenizers: one SentencePiece model for the source, one for the target, and a vocabulary that both share.

The models split a text into pieces; a piece's id is the vocabulary's, and a piece that it lacks is the unknown token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import sentencepiece
import tokenizers
from tokenizers import decoders, models, normalizers

from headlight.checkpoints.config_reader import read_json
from headlight.checkpoints.tokenizers.sentencepiece import SPACE, read_sentencepiece, require_supported_model
from headlight.checkpoints.tokenizers.special_tokens import SpecialTokens, add_special_tokens
from headlight.errors import CheckpointError
from headlight.text.tokenizer import Encoded, Tokenizer, sanitize_surrogates
from headlight.text.tokenizer_limits import TextLimit

SOURCE_MODEL, TARGET_MODEL, VOCAB_JSON = "source.spm", "target.spm", "vocab.json"
_LANGUAGE_CODE = re.compile(r">>.*?<<", re.DOTALL)  # `>>fr<<` in front of a text is one token
PieceSpan = tuple[str, tuple[int, int]]
Segmenter = Callable[[str], Iterable[PieceSpan]]


class MarianTokenizer(Tokenizer):
    """A vocabulary whose texts are split by a SentencePiece model."""

    def __init__(self, vocabulary: tokenizers.Tokenizer, segment: Segmenter, special_tokens: SpecialTokens) -> None:
        super().__init__(vocabulary)
        self.segment, self.end_token = segment, special_tokens.token("eos")
        self.token_ids = vocabulary.get_vocab(with_added_tokens=True)
        self.unknown_token_id = self.token_ids[special_tokens.token("unk") or "<unk>"]
        special = sorted(token for token, token_id in self.token_ids.items() if token_id in self.special_ids)
        self.special_pattern = re.compile("|".join(map(re.escape, special)) or r"(?!)")

    def encode(self, text: str, add_special_tokens: bool = True) -> Encoded:
        """The text's tokens, and the end token unless told not to."""
        text = sanitize_surrogates(text)
        tokens_and_spans = list(self._tokens(text))
        ids = [self.token_ids.get(token, self.unknown_token_id) for token, _ in tokens_and_spans]
        spans, special_mask = [span for _, span in tokens_and_spans], [False] * len(tokens_and_spans)
        token_texts = [token.replace(SPACE, " ") for token, _ in tokens_and_spans]
        if add_special_tokens and self.end_token is not None:
            ids, token_texts = [*ids, self.token_ids[self.end_token]], [*token_texts, self.end_token]
            spans, special_mask = [*spans, (0, 0)], [*special_mask, True]
        tokens = tuple(self.backend.id_to_token(token_id) or "" for token_id in ids)
        return Encoded(text, tuple(ids), tokens, tuple(token_texts), tuple(spans), tuple(special_mask))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the token ids of many texts."""
        return [list(self.encode(text, add_special_tokens=False).ids) for text in texts]

    def save(self, folder: str | Path) -> None:
        """Raises CheckpointError: one tokenizer.json cannot hold two models."""
        raise CheckpointError("This model has a tokenizer for each of its two texts, which no tokenizer.json can hold.")

    def _tokens(self, text: str) -> Iterator[PieceSpan]:
        """Tokens with their spans: special tokens as they are written, the text between them split into pieces."""
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
    """How a SentencePiece model splits a text; characters of the text that its normalizer drops have no piece."""
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
