"""Classification of phrases, with the labels that counting gives them: words come before texts.

A few thousand labelled texts show a network most of their words once or twice. Naive Bayes makes more of so few; a
network that learns its answers for phrases (distillation: Hinton, Vinyals and Dean 2015) starts from what can be
counted. It is then trained on the texts themselves, from these weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from random import Random

from model.data.examples import Example
from model.data.text_tasks.naive_bayes import BigramNaiveBayes
from model.data.text_tasks.text_task import TextExamples
from model.errors import DataError
from model.training.objectives.examples import SequenceClassification

FOLDS = 5
PHRASE_WORDS = (4, 12)


class PhraseClassification(SequenceClassification):
    """An encoder gives a few words in a row the label that Naive Bayes gives them; it is validated on whole texts."""

    def draw_examples(self, seed: int, count: int) -> list[Example]:
        """Phrases from texts to train on, each with the label that the counts of the other folds make likelier."""
        random, examples = Random(seed), []
        for _ in range(count):
            texts, bayes = random.choice(self._folds)
            words = random.choice(texts)
            length = min(len(words), random.randint(*PHRASE_WORDS))
            start = random.randint(0, len(words) - length)
            phrase = " ".join(words[start : start + length])
            examples.append(Example(phrase, bayes.answer(phrase)))
        return examples

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
