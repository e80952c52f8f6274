"""English to French: the sentence pairs of Tatoeba."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from headlight.data.corpus import read_lines
from headlight.data.examples import Example
from headlight.data.text_tasks.text_task import TextTask
from headlight.errors import DataError
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import SEQUENCE_SPECIAL_TOKENS, train_tokenizer

VOCABULARY_SIZE = 8000  # shared by both languages, as are the embeddings
PLAIN = str.maketrans({"’": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


def plain_text(text: str) -> str:
    """A sentence with composed letters, straight apostrophes and single, plain spaces."""
    return " ".join(unicodedata.normalize("NFC", text).translate(PLAIN).split())


def read_pairs(path: Path) -> Iterator[Example]:
    """The pairs of a file whose lines are English TAB French."""
    for number, line in enumerate(read_lines(path), 1):
        english, tab, french = line.partition("\t")
        if not tab:
            raise DataError(f"Line {number} of {path} has no tab between two sentences.")
        yield Example(plain_text(english), plain_text(french))


def train_translation_tokenizer(examples: Sequence[Example]) -> Tokenizer:
    """Byte-level BPE of both languages together."""
    sentences = chain.from_iterable((example.text, example.answer) for example in examples)
    return train_tokenizer("bpe", sentences, VOCABULARY_SIZE, SEQUENCE_SPECIAL_TOKENS)


TRANSLATE = TextTask("translate", ("$HEADLIGHT_DATA/tasks/eng-fra.tsv.xz",), read_pairs, train_translation_tokenizer)
