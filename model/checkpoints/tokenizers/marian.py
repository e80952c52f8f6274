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
from model.checkpoints.tokenizers.sentencepiece import SPACE, UNIGRAM, cutter, read_pieces, require
from model.checkpoints.tokenizers.special_tokens import Marks, mark
from model.checkpoints.tokenizers.unigram import Unigram
from model.errors import CheckpointError
from model.text.tokenizer import Encoded, Tokenizer, whole

SOURCE, TARGET, VOCABULARY = "source.spm", "target.spm", "vocab.json"
_LANGUAGE = re.compile(r">>.*?<<", re.DOTALL)  # `>>fr<<` in front of a text is one token
Found = tuple[str, tuple[int, int]]
Cut = Callable[[str], Iterable[Found]]


class Paired(Tokenizer):
    """A vocabulary whose texts are cut by a model of their own."""

    def __init__(self, vocabulary: tokenizers.Tokenizer, cut: Cut, marks: Marks) -> None:
        super().__init__(vocabulary)
        self.cut, self.end = cut, marks.token("eos")
        self.numbered = vocabulary.get_vocab(with_added_tokens=True)
        self.unknown = self.numbered[marks.token("unk") or "<unk>"]
        special = sorted(token for token, number in self.numbered.items() if number in self.specials)
        self.special = re.compile("|".join(map(re.escape, special)) or r"(?!)")

    def encode(self, text: str, special: bool = True) -> Encoded:
        """The text's tokens, and the end token unless told not to."""
        text = whole(text)
        found = list(self._found(text))
        ids = [self.numbered.get(token, self.unknown) for token, _ in found]
        spans, added = [span for _, span in found], [False] * len(found)
        pieces = [token.replace(SPACE, " ") for token, _ in found]
        if special and self.end is not None:
            ids, pieces = [*ids, self.numbered[self.end]], [*pieces, self.end]
            spans, added = [*spans, (0, 0)], [*added, True]
        tokens = tuple(self.backend.id_to_token(number) or "" for number in ids)
        return Encoded(text, tuple(ids), tokens, tuple(pieces), tuple(spans), tuple(added))

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the token numbers of many texts."""
        return [list(self.encode(text, special=False).ids) for text in texts]

    def save(self, folder: str | Path) -> None:
        """Never: one file cannot hold two models."""
        raise CheckpointError("This model has a tokenizer for each of its two texts, which no tokenizer.json can hold.")

    def _found(self, text: str) -> Iterator[Found]:
        """Tokens and where they are: special ones as they are written, what is between them cut into pieces."""
        at = 0
        for match in self.special.finditer(text):
            yield from self._pieces(text, at, match.start())
            yield match[0], match.span()
            at = match.end()
        yield from self._pieces(text, at, len(text))

    def _pieces(self, text: str, start: int, end: int) -> Iterator[Found]:
        language = _LANGUAGE.match(text, start, end)
        if language:
            yield language[0], language.span()
            start = language.end()
        for token, (first, last) in self.cut(text[start:end]):
            yield token, (start + first, start + last)


def paired(folder: Path, name: str, marks: Marks) -> Tokenizer:
    """The tokenizer of a folder with both models and their vocabulary. Raises CheckpointError."""
    numbers = read_json(folder / VOCABULARY, name)
    if not all(type(number) is int and 0 <= number < 2**31 for number in numbers.values()):
        raise CheckpointError(f"{name}: its {VOCABULARY} has a token without a number.")
    unknown = marks.token("unk") or "<unk>"
    if unknown not in numbers:
        raise CheckpointError(f"{name}: its {VOCABULARY} lacks {unknown}, which stands for unknown pieces.")
    vocabulary = tokenizers.Tokenizer(models.WordLevel(numbers, unk_token=unknown))
    vocabulary.decoder = decoders.Metaspace(SPACE)
    mark(vocabulary, marks)
    read, written = (Paired(vocabulary, _cut(folder / file, name), marks) for file in (SOURCE, TARGET))
    read.written = written
    return read


def _cut(path: Path, name: str) -> Cut:
    """How a model cuts a text."""
    name = f"{name}: its {path.name}"
    pieces = read_pieces(path.read_bytes(), name)
    require(pieces, name)
    if pieces.model == UNIGRAM:
        return Unigram(pieces)
    backend = cutter(pieces, name)

    def cut(text: str) -> Iterable[Found]:
        encoding = backend.encode(text, add_special_tokens=False)
        return zip(encoding.tokens, encoding.offsets, strict=True)

    return cut
