"""What word vectors are learned from: pairs of neighbouring words, counts of them, and character n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.array_types import Int
from headlight.data.text_tasks import word_spans
from headlight.errors import InputError

MAX_WORDS, MAX_WINDOW, MAX_WORD, MAX_TABLE = 5_000, 10, 60, 24


@dataclass(frozen=True)
class Cbow:
    """One question of CBOW: the words around, and the word in their middle to be predicted."""

    context: tuple[str, ...]
    target: str


@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """How often two words stand within a window of each other, for the most frequent words."""

    words: tuple[str, ...]
    counts: Int[np.ndarray, "word other"]


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text in lower case. Raises InputError where there are none, or too many."""
    words = [text[start:end].lower() for start, end in word_spans(text)]
    if not words:
        raise InputError("There is no word in this text; type a sentence.")
    if len(words) > MAX_WORDS:
        raise InputError(f"The text has {len(words):,} words; at most {MAX_WORDS:,} are read. Shorten it.")
    return words


def skip_gram_pairs(words: Sequence[str], window: int) -> list[tuple[str, str]]:
    """Every word with each word at most `window` away: from the first the second is predicted (Mikolov et al. 2013)."""
    return [(question.target, word) for question in cbow_questions(words, window) for word in question.context]


def cbow_questions(words: Sequence[str], window: int) -> list[Cbow]:
    """For every word the at most 2 `window` words around it, from which it is predicted (Mikolov et al. 2013)."""
    return [
        Cbow((*words[max(0, index - window) : index], *words[index + 1 : index + 1 + window]), word)
        for index, word in enumerate(words)
    ]


def co_occurrences(words: Sequence[str], window: int, most: int = MAX_TABLE) -> CoOccurrence:
    """The counts that GloVe starts from (Pennington et al. 2014, section 3), of the `most` frequent words."""
    pairs = Counter(skip_gram_pairs(words, window))
    chosen = tuple(word for word, _ in Counter(words).most_common(most))
    return CoOccurrence(chosen, np.array([[pairs[word, other] for other in chosen] for word in chosen]))


def character_ngrams(word: str, shortest: int = 3, longest: int = 6) -> tuple[str, ...]:
    """The n-grams of <word>, and <word> itself: fastText's vector of a word is their sum (Bojanowski et al. 2017).

    Raises InputError for an empty word, one of more than MAX_WORD characters, and lengths that cannot be.
    """
    if not word.strip() or len(word) > MAX_WORD:
        raise InputError(f"The word has {len(word.strip())} characters; type one of 1 to {MAX_WORD}.")
    if not 1 <= shortest <= longest:
        raise InputError(
            f"There are no n-grams of {shortest} to {longest} characters; the first number is the smaller one."
        )
    marked = f"<{word.strip()}>"
    lengths = range(shortest, min(longest, len(marked) - 1) + 1)
    grams = [marked[start : start + length] for length in lengths for start in range(len(marked) - length + 1)]
    return (*dict.fromkeys(grams), marked)
