"""Naive Bayes over the words or the characters of labelled texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise

from headlight.data.examples import Example
from headlight.data.text_tasks.words import WORD

CHARACTER_NGRAMS = (3, 4, 5)


def words_and_bigrams(text: str) -> Iterator[Hashable]:
    """The words and the pairs of adjacent words, in lower case."""
    words = ["<s>", *WORD.findall(text.lower()), "</s>"]
    yield from words[1:-1]
    yield from pairwise(words)


def character_ngrams(text: str) -> Iterator[Hashable]:
    """Every 3 to 5 adjacent characters of a word in lower case, whose two ends count as characters."""
    for word in WORD.findall(text.lower()):
        marked = f"<{word}>"
        yield from (marked[at : at + size] for size in CHARACTER_NGRAMS for at in range(len(marked) - size + 1))


class NaiveBayes:
    """Multinomial Naive Bayes over features of texts, each counted once more than it occurs (Laplace)."""

    def __init__(
        self, examples: Sequence[Example], features: Callable[[str], Iterator[Hashable]] = words_and_bigrams
    ) -> None:
        texts = Counter(example.answer for example in examples)
        counts: dict[str, Counter[Hashable]] = {label: Counter() for label in sorted(texts)}
        for example in examples:
            counts[example.answer].update(features(example.text))
        vocabulary_size = len(set().union(*counts.values()))
        totals = {label: counts[label].total() + vocabulary_size for label in counts}
        self.features = features
        self.priors = {label: math.log(texts[label]) for label in counts}
        self.unseen = {label: -math.log(total) for label, total in totals.items()}
        self.evidence = {
            label: {feature: math.log((n + 1) / totals[label]) for feature, n in counts[label].items()}
            for label in counts
        }

    def answer(self, text: str) -> str:
        """The likeliest label of a text."""
        found = self.log_probabilities(text)
        return max(found, key=found.__getitem__)

    def log_probabilities(self, text: str) -> dict[str, float]:
        """Of each label, in the order of the alphabet and up to a constant: its share times what it gives the text."""
        features = list(self.features(text))
        return {
            label: prior + sum(self.evidence[label].get(feature, self.unseen[label]) for feature in features)
            for label, prior in self.priors.items()
        }
