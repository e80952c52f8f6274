"""Distillation of bags of words into an encoder: what words are worth comes before whole texts.

A few thousand labelled texts show a network most of their words once or twice, and counting makes more of so few. The
counts label any number of texts put together from pieces of those to train on (Tang et al. 2019, "Distilling
Task-Specific Knowledge from BERT into Simple Neural Networks", section 3.3); the network learns their log-odds (Ba and
Caruana 2014), and then, from these weights, the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

import numpy as np
import torch

from headlight.data.examples import Example
from headlight.data.text_tasks.logistic_regression import LogisticRegression
from headlight.data.text_tasks.naive_bayes import NaiveBayes, character_ngrams
from headlight.data.text_tasks.text_task import TextExamples
from headlight.errors import DataError
from headlight.training.objectives.batch import Batch
from headlight.training.objectives.examples import SequenceClassification

FOLDS = 5
SPLICE_WORDS = (4, 28)
CHARACTERS_WEIGHT = 0.2  # of the log-odds of character n-grams, which repeat each other, beside those of words
REGRESSION_WEIGHT = 2.0  # of the log-odds of the regression, which are smaller since it counts nothing twice
LOG_ODDS_WORDS = 2.5  # a mean over tokens says how much a word says; so many of them have the log-odds of the teacher


@dataclass(frozen=True)
class Teacher:
    """What three bags of words say together.

    Naive Bayes over words and bigrams, the same over the characters of words, which knows something of words that are
    rare or new, and a regression.
    """

    words: NaiveBayes
    characters: NaiveBayes
    regression: LogisticRegression

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Teacher:
        """What examples teach."""
        return cls(NaiveBayes(examples), NaiveBayes(examples, character_ngrams), LogisticRegression(examples))

    def log_probabilities(self, text: str) -> dict[str, float]:
        """Of each label, up to a constant."""
        words, characters, regression = (
            each.log_probabilities(text) for each in (self.words, self.characters, self.regression)
        )
        return {
            label: words[label] + CHARACTERS_WEIGHT * characters[label] + REGRESSION_WEIGHT * regression[label]
            for label in words
        }


class BagOfWordsDistillation(SequenceClassification):
    """An encoder learns to give spliced texts the log-odds of bags of words; it is validated on labelled texts."""

    def batch(self, generator: np.random.Generator, rows: int, context: int, schedule_factor: float = 1.0) -> Batch:
        """Spliced texts of equally many words, each with the logits of a teacher that has seen none of its pieces."""
        random = Random(int(generator.integers(2**62)))
        length = random.randint(*SPLICE_WORDS)
        drawn = [self._draw(random, length) for _ in range(rows)]
        logits = torch.tensor([logits for _, logits in drawn])
        examples = [
            Example(text, self.task.labels[best]) for (text, _), best in zip(drawn, logits.argmax(-1), strict=True)
        ]
        batch = self._checked(self.make_batch(examples), context)
        return self._for_training(replace(batch, logits=logits), generator, schedule_factor)

    def _draw(self, random: Random, length: int) -> tuple[str, list[float]]:
        """So many words from pieces of texts, and the logits, for each word, as a mean of tokens is."""
        texts, teacher = random.choice(self._folds)
        words: list[str] = []
        while len(words) < length:
            text = random.choice(texts)
            size = min(len(text), length - len(words), random.randint(2, 2 * length))
            start = random.randint(0, len(text) - size)
            words += text[start : start + size]
        spliced = " ".join(words)
        found = teacher.log_probabilities(spliced)
        return spliced, [LOG_ODDS_WORDS / length * found[label] for label in self.task.labels]

    @cached_property
    def _folds(self) -> list[tuple[list[list[str]], Teacher]]:
        """The words of the texts of each fold, and what the other folds teach.

        A teacher that had seen the text would remember its label by the rarest words.
        """
        if not isinstance(self.task, TextExamples):
            raise DataError(f"The examples of {self.task.name} are not texts whose words can be counted.")
        training = self.task.training
        return [
            (
                [one.text.split() for one in training[fold::FOLDS]],
                Teacher.of([one for at, one in enumerate(training) if at % FOLDS != fold]),
            )
            for fold in range(FOLDS)
        ]
