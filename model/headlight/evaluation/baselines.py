"""What can be had without a neural network: bigrams of answers, and each word's most frequent label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise

from headlight.data.examples import Example
from headlight.data.text_tasks.words import WORD


class MostFrequentLabels:
    """Each word gets the label that it has most often in training examples, an unknown one the commonest of all."""

    def __init__(self, examples: Sequence[Example]) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for example in examples:
            for word, label in zip(WORD.findall(example.text), example.answer.split(), strict=True):
                counts[word][label] += 1
        self.label_of = {word: labels.most_common(1)[0][0] for word, labels in counts.items()}
        self.commonest = sum(counts.values(), Counter()).most_common(1)[0][0]

    def answer(self, text: str) -> str:
        """The labels of a text's words."""
        return " ".join(self.label_of.get(word, self.commonest) for word in WORD.findall(text))


class AnswerBigrams:
    """Each token of an answer is the one that most often follows the token before it: what is asked does not matter."""

    def __init__(self, answers: Sequence[Sequence[Hashable]]) -> None:
        counts: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        for answer in answers:
            for before, token in pairwise((None, *answer)):
                counts[before][token] += 1
        self.following = {before: tokens.most_common(1)[0][0] for before, tokens in counts.items()}

    def tokens_right(self, answer: Sequence[Hashable]) -> int:
        """How many tokens of an answer are guessed, each after those that are right."""
        return sum(self.following.get(before) == token for before, token in pairwise((None, *answer)))
