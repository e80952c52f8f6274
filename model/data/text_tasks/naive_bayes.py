"""Naive Bayes over the words and bigrams of labelled texts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from model.data.examples import Example
from model.data.text_tasks.words import WORD


def _features(text: str) -> Iterator[tuple[str, ...]]:
    """The words and the pairs of adjacent words, in lower case."""
    words = ["<s>", *WORD.findall(text.lower()), "</s>"]
    yield from ((word,) for word in words[1:-1])
    yield from pairwise(words)


class BigramNaiveBayes:
    """Multinomial Naive Bayes over words and bigrams, each counted once more than it occurs (Laplace)."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.texts = Counter(example.answer for example in examples)
        self.counts: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for example in examples:
            self.counts[example.answer].update(_features(example.text))
        self.totals = {label: counts.total() for label, counts in self.counts.items()}
        self.vocabulary_size = len(set().union(*self.counts.values()))

    def answer(self, text: str) -> str:
        """The likeliest label of a text."""
        return max(sorted(self.counts), key=lambda label: self._log_probability(text, label))

    def _log_probability(self, text: str, label: str) -> float:
        counts, total = self.counts[label], self.totals[label] + self.vocabulary_size
        evidence = sum(math.log((counts[feature] + 1) / total) for feature in _features(text))
        return math.log(self.texts[label]) + evidence
