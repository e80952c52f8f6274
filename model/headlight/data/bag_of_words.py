"""Classifiers of texts without a neural network: Naive Bayes and logistic regression over words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise

import torch
from torch.nn import functional

from headlight.data.examples import Example
from headlight.data.text_tasks import WORD

CHARACTER_NGRAMS = (3, 4, 5)


def words_and_bigrams(text: str) -> Iterator[Hashable]:
    """The words and the pairs of adjacent words, in lower case."""
    words = ["<s>", *WORD.findall(text.lower()), "</s>"]
    yield from words[1:-1]
    yield from pairwise(words)


def character_ngrams(text: str) -> Iterator[Hashable]:
    """All runs of 3 to 5 adjacent characters of a word in lower case; its start and end count as characters."""
    for word in WORD.findall(text.lower()):
        marked = f"<{word}>"
        yield from (marked[at : at + size] for size in CHARACTER_NGRAMS for at in range(len(marked) - size + 1))


class NaiveBayes:
    """Multinomial Naive Bayes over features of texts, with 1 added to each count (Laplace smoothing)."""

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
        """The log-probability of each label, up to a constant, in alphabetical order."""
        features = list(self.features(text))
        return {
            label: prior + sum(self.evidence[label].get(feature, self.unseen[label]) for feature in features)
            for label, prior in self.priors.items()
        }


PENALTY = 1 / 16  # factor of the squared weights; the loss is summed over the texts
ITERATIONS = 60  # of L-BFGS, enough for the loss to converge


def distinct_words_and_bigrams(text: str) -> Iterator[Hashable]:
    """The words and the pairs of adjacent words, each once."""
    yield from dict.fromkeys(words_and_bigrams(text))


class LogisticRegression:
    """Logistic regression: the contribution of each word to each label, learned jointly for all words.

    Naive Bayes counts two words that always occur together twice; a regression does not. It starts from the log-odds of
    Naive Bayes, which therefore determine the weights of rare words (Wang and Manning 2012, "Baselines and Bigrams",
    NBSVM).
    """

    def __init__(self, examples: Sequence[Example]) -> None:
        bayes = NaiveBayes(examples, distinct_words_and_bigrams)
        self.labels = list(bayes.evidence)
        ids = {feature: at for at, feature in enumerate(dict.fromkeys(f for e in bayes.evidence.values() for f in e))}
        evidence = torch.tensor(
            [[bayes.evidence[label].get(f, bayes.unseen[label]) for f in ids] for label in self.labels]
        )
        ratios = (evidence - evidence.mean(0)).T.contiguous()
        bags = [[ids[feature] for feature in distinct_words_and_bigrams(example.text)] for example in examples]
        targets = torch.tensor([self.labels.index(example.answer) for example in examples])
        weights, self.bias = fitted_weights(ratios, bags, targets)
        self.weights = dict(zip(ids, weights.tolist(), strict=True))

    def log_probabilities(self, text: str) -> dict[str, float]:
        """The log-probability of each label, up to a constant, in alphabetical order."""
        found = [self.weights[feature] for feature in distinct_words_and_bigrams(text) if feature in self.weights]
        return {
            label: bias + sum(weight[at] for weight in found)
            for at, (label, bias) in enumerate(zip(self.labels, self.bias, strict=True))
        }


def fitted_weights(
    ratios: torch.Tensor, bags: Sequence[Sequence[int]], targets: torch.Tensor
) -> tuple[torch.Tensor, list[float]]:
    """The weight of each feature for each label, (feature, label), and the bias of each label."""
    flat = torch.tensor([feature for bag in bags for feature in bag])
    offsets = torch.tensor([0, *(len(bag) for bag in bags[:-1])]).cumsum(0)
    factors = torch.zeros_like(ratios, requires_grad=True)
    bias = torch.zeros(ratios.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([factors, bias], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        logits = functional.embedding_bag(flat, factors * ratios, offsets, mode="sum") + bias
        total = functional.cross_entropy(logits, targets, reduction="sum") + PENALTY * factors.square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return (factors * ratios).detach(), bias.tolist()
