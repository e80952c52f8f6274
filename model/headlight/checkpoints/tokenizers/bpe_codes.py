"""Byte-pair encoding of words in fastBPE's two files, a vocab.txt and a bpe.codes (PhoBERT, BERTweet).

Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units": merges mark the
end of a word by `</w>`. The vocabulary marks the other pieces by `@@`, and lacks some pieces that merges make.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers

from headlight.checkpoints.tokenizers.special_tokens import SpecialTokens, add_special_tokens
from headlight.errors import CheckpointError
from headlight.paths import MAX_JSON_BYTES, read_regular
from headlight.text.tokenizer import Tokenizer

VOCAB_FILE, CODES_FILE = "vocab.txt", "bpe.codes"
END_OF_WORD, CONTINUED = "</w>", "@@"
_FIRST = ("<s>", "<pad>", "</s>", "<unk>")  # these come before the vocabulary
_UNKNOWN = "<unk>"


def bpe_codes_vocabulary(folder: Path, name: str) -> tokenizers.Tokenizer:
    """The entries of a folder's vocab.txt, as merges write them. Raises CheckpointError for files of another form."""
    entries = dict.fromkeys((*_FIRST, *_columns(folder / VOCAB_FILE, name, 1)))
    numbers = {_as_merged(entry): number for number, entry in enumerate(entries)}
    backend = tokenizers.Tokenizer(models.WordLevel(numbers, unk_token=_UNKNOWN))
    backend.decoder = decoders.BPEDecoder(suffix=END_OF_WORD)
    return backend


class BpeCodesTokenizer(Tokenizer):
    """A tokenizer that splits words by a bpe.codes and numbers the pieces by its vocabulary."""

    def __init__(
        self, vocabulary: tokenizers.Tokenizer, folder: Path, name: str, special_tokens: SpecialTokens
    ) -> None:
        super().__init__(vocabulary, gives_segments=False)
        merges = [(first, second) for first, _, second in map(_split, _columns(folder / CODES_FILE, name, 2))]
        pieces = dict.fromkeys(piece for pair in merges for piece in (*pair, "".join(pair)))
        every = dict.fromkeys((*vocabulary.get_vocab(with_added_tokens=False), *pieces))
        self.merging = tokenizers.Tokenizer(
            models.BPE(
                {piece: number for number, piece in enumerate(every)},
                merges,
                unk_token=_UNKNOWN,
                end_of_word_suffix=END_OF_WORD,
            )
        )
        self.merging.pre_tokenizer = pre_tokenizers.Split(Regex(r"\S+\n?"), behavior="removed", invert=True)
        add_special_tokens(self.merging, special_tokens)

    def _encoding(
        self, text: str, second: str, add_special_tokens: bool
    ) -> tuple[tokenizers.Encoding, Sequence[tuple[int, int]]]:
        """The tokens of one or two texts, and the characters of each text that they come from."""
        split = [self.merging.encode(each, add_special_tokens=False) for each in (text, second)]
        first, other = (each.tokens for each in split)
        encoding = self.backend.encode(
            first, other or None, is_pretokenized=True, add_special_tokens=add_special_tokens
        )
        places = zip(encoding.sequence_ids, encoding.word_ids, strict=True)
        return encoding, [
            (0, 0) if number is None or word is None else split[number].offsets[word] for number, word in places
        ]


def _split(line: str) -> tuple[str, str, str]:
    return line.partition(" ")


def _as_merged(entry: str) -> str:
    """An entry of the vocabulary as merges write it; special tokens have no end of a word."""
    if entry in _FIRST:
        return entry
    return entry.removesuffix(CONTINUED) if entry.endswith(CONTINUED) else entry + END_OF_WORD


def _columns(path: Path, name: str, count: int) -> list[str]:
    """The first `count` columns of each line; the one after them is a count."""
    try:
        lines = read_regular(path, MAX_JSON_BYTES).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{name}: its {path.name} is not text in UTF-8.") from error
    parts = [line.rpartition(" ") for line in lines if line.strip()]
    for before, _, number in parts:
        if not number.strip().isdecimal() or len(before.split(" ")) != count:
            line = f"{before} {number}".strip()[:60]
            raise CheckpointError(
                f"{name}: its {path.name} has the line {line!r}; wanted {count + 1} columns, the last a count."
            )
    return [before for before, _, _ in parts]
