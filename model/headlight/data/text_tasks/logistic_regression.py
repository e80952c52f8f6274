"""Logistic regression over the words of labelled texts, each weighed beforehand by what Naive Bayes makes of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import torch
from torch.nn import functional

from headlight.data.examples import Example
from headlight.data.text_tasks.naive_bayes import NaiveBayes, words_and_bigrams

PENALTY = 1 / 16  # of squared weights, beside a loss that is summed over the texts
ITERATIONS = 60  # of L-BFGS; by then the loss has stopped falling


def distinct_words_and_bigrams(text: str) -> Iterator[Hashable]:
    """The words and the pairs of adjacent words, each once."""
    yield from dict.fromkeys(words_and_bigrams(text))


class LogisticRegression:
    """What each word adds to each label, learned for all words together.

    Naive Bayes counts two words that always come together twice; a regression does not. It starts from the log-odds of
    Naive Bayes, so that rare words are weighed by them alone (Wang and Manning 2012, "Baselines and Bigrams", NBSVM).
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
        """Of each label, in the order of the alphabet and up to a constant."""
        found = [self.weights[feature] for feature in distinct_words_and_bigrams(text) if feature in self.weights]
        return {
            label: bias + sum(weight[at] for weight in found)
            for at, (label, bias) in enumerate(zip(self.labels, self.bias, strict=True))
        }


def fitted_weights(
    ratios: torch.Tensor, bags: Sequence[Sequence[int]], targets: torch.Tensor
) -> tuple[torch.Tensor, list[float]]:
    """What each feature adds to each label, (feature, label), and what is added without any."""
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
