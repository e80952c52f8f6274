"""Classification of phrases, with the logits that counting gives them: words come before texts.

A few thousand labelled texts show a network most of their words once or twice. Naive Bayes makes more of so few; a
network that learns to give phrases its log-odds (distillation by logits: Ba and Caruana 2014) starts from what can be
counted. It is then trained on the texts themselves, from these weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from random import Random

import numpy as np
import torch
from torch import Tensor

from model.array_types import Float
from model.data.examples import Example
from model.data.text_tasks.naive_bayes import BigramNaiveBayes
from model.data.text_tasks.text_task import TextExamples
from model.errors import DataError
from model.training.objectives.batch import Batch
from model.training.objectives.examples import SequenceClassification

FOLDS = 5
PHRASE_WORDS = (4, 12)
SHARPNESS = 8.0  # by which what a word says is multiplied: phrases of so many words have the log-odds of Naive Bayes


class PhraseClassification(SequenceClassification):
    """An encoder gives a few words in a row the logits that Naive Bayes gives them; it is validated on whole texts."""

    def batch(self, generator: np.random.Generator, rows: int, context: int, schedule_factor: float = 1.0) -> Batch:
        """Phrases from texts to train on, each with what the counts of the other folds say."""
        random = Random(int(generator.integers(2**62)))
        drawn = [self._draw_phrase(random) for _ in range(rows)]
        batch = self._checked(self.make_batch([phrase for phrase, _ in drawn]), context)
        batch = replace(batch, logits=torch.stack([logits for _, logits in drawn]))
        return self._for_training(batch, generator, schedule_factor)

    def _draw_phrase(self, random: Random) -> tuple[Example, Float[Tensor, " label"]]:
        """A phrase with its likelier label, and the logits: log-probabilities for each word, as a mean of tokens is."""
        texts, bayes = random.choice(self._folds)
        words = random.choice(texts)
        length = min(len(words), random.randint(*PHRASE_WORDS))
        start = random.randint(0, len(words) - length)
        phrase = " ".join(words[start : start + length])
        log_probabilities = torch.tensor([bayes.log_probability(phrase, label) for label in self.task.labels])
        logits = SHARPNESS / length * (log_probabilities - log_probabilities.mean())
        return Example(phrase, self.task.labels[int(logits.argmax())]), logits

    @cached_property
    def _folds(self) -> list[tuple[list[list[str]], BigramNaiveBayes]]:
        """The words of the texts of each fold, and Naive Bayes of the other folds.

        What labels a phrase has not seen its text: else it would remember that text's label by the rarest words.
        """
        training = self._training_texts
        return [
            (
                [one.text.split() for one in training[fold::FOLDS]],
                BigramNaiveBayes([one for at, one in enumerate(training) if at % FOLDS != fold]),
            )
            for fold in range(FOLDS)
        ]

    @property
    def _training_texts(self) -> Sequence[Example]:
        if not isinstance(self.task, TextExamples):
            raise DataError(f"The examples of {self.task.name} are no texts with phrases to label.")
        return self.task.training
