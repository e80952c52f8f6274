"""Reviews, and whether they are good: sentences of film reviews and of reviews of products and restaurants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from headlight.data.corpus import read_lines
from headlight.data.examples import Example
from headlight.data.text_tasks.text_task import TextTask
from headlight.data.text_tasks.words import join_words
from headlight.errors import DataError
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import MASKED_SPECIAL_TOKENS, train_tokenizer

LABELS = ("negative", "positive")  # 0 and 1 in the file
VOCABULARY_SIZE = 8000


def read_reviews(path: Path) -> Iterator[Example]:
    """The sentences of a file whose columns are label, sentence and source, below a line that says so."""
    for number, line in enumerate(read_lines(path), 1):
        label, sentence, *_ = (*line.split("\t"), "", "")
        if number == 1 and label == "label":
            continue
        if label not in ("0", "1") or not sentence.split():
            raise DataError(f"Line {number} of {path} is no label 0 or 1, a tab and a sentence.")
        yield Example(join_words(sentence.split())[0], LABELS[int(label)])


def train_encoder_tokenizer(examples: Sequence[Example]) -> Tokenizer:
    """Byte-level BPE with [CLS] and [SEP] around a text."""
    return train_tokenizer("bpe", (one.text for one in examples), VOCABULARY_SIZE, MASKED_SPECIAL_TOKENS)


SENTIMENT = TextTask(
    "sentiment", ("$HEADLIGHT_DATA/tasks/sentiment.tsv.xz",), read_reviews, train_encoder_tokenizer, LABELS
)
