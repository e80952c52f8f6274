"""Objectives on examples: a text or a drawing, and the expected answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any, ClassVar

import numpy as np
import torch
from tokenizers import Encoding
from torch import Tensor

from headlight.array_types import Bool, Float, Int
from headlight.config import ImageConfig
from headlight.data.bag_of_words import LogisticRegression, NaiveBayes, character_ngrams
from headlight.data.examples import Example, ExampleTask
from headlight.data.text_tasks import TargetKind, TextExamples, word_spans
from headlight.errors import DataError
from headlight.text.tokenizer import Tokenizer
from headlight.training.objectives.batch import IGNORE_INDEX, Batch
from headlight.training.objectives.texts import (
    TRAINING_REPLACEMENTS,
    VALIDATION_REPLACEMENTS,
    TokenMasker,
    decoder_with,
    encoder_with,
)
from headlight.vision.image import Drawing, process_image

START_ID = 0  # the first token of a decoder with an encoder


class ExampleObjective(ABC):
    """Batches of examples; each objective makes its own kind of batch in `make_batch`.

    `image` sets how the model reads the drawings of a task; `target` is the kind of target in files of examples, None
    for an objective that reads no files.
    """

    config_values: ClassVar[dict[str, Any]]
    target: ClassVar[TargetKind | None] = None

    def __init__(
        self,
        tokenizer: Tokenizer,
        task: ExampleTask,
        options: Mapping[str, float] | None = None,
        image: ImageConfig = ImageConfig(),
    ) -> None:
        self.tokenizer, self.task, self.options, self.image = tokenizer, task, options or {}, image

    def batch(self, generator: np.random.Generator, rows: int, context: int, schedule_factor: float = 1.0) -> Batch:
        """New examples to train on."""
        examples = self.task.training_examples(int(generator.integers(2**62)), rows)
        return self._for_training(self._checked(self.make_batch(examples), context), generator, schedule_factor)

    def _for_training(self, batch: Batch, generator: np.random.Generator, schedule_factor: float) -> Batch:
        """The batch with its random changes for training."""
        return batch

    def validation_batch(self, task: ExampleTask, rows: int, context: int) -> Batch:
        """Examples that are not trained on, always the same."""
        return self._checked(self.make_batch(task.validation_examples(rows)), context)

    @abstractmethod
    def make_batch(self, examples: Sequence[Example]) -> Batch:
        """The examples as one batch, padded to the longest."""

    def _checked(self, batch: Batch, context: int) -> Batch:
        longest = max(batch.ids.shape[1], 0 if batch.source is None else batch.source.shape[1])
        if longest > context:
            raise DataError(
                f"An example of {self.task.name} has {longest} tokens; the model has a context of {context}; "
                "give it a longer context_length."
            )
        return batch

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of texts, with the same special tokens as a typed text."""
        return [encoding.ids for encoding in self.tokenizer.backend.encode_batch(list(texts))]


class Completion(ExampleObjective):
    """A decoder continues the text with the answer; only the answer's tokens are targets."""

    config_values: ClassVar[dict[str, Any]] = decoder_with("language-model")

    def make_batch(self, examples: Sequence[Example]) -> Batch:
        """Text and answer in a row, shifted by one token."""
        texts = self._encode([example.text for example in examples])
        answers = self.tokenizer.encode_batch([example.answer for example in examples])
        pairs = list(zip(texts, answers, strict=True))
        ids, _ = _pad([[*text, *answer[:-1]] for text, answer in pairs], 0)
        targets, _ = _pad([[IGNORE_INDEX] * (len(text) - 1) + answer for text, answer in pairs], IGNORE_INDEX)
        return Batch(ids, targets)


class EncoderObjective(ExampleObjective):
    """An encoder reads a text; in training a fraction `token_dropout` of its tokens is hidden.

    Since [MASK] may replace any word, the answer cannot depend on a single word (Iyyer et al. 2015: word dropout).
    """

    @cached_property
    def _masker(self) -> TokenMasker:
        return TokenMasker.from_options(self.tokenizer, self.options)

    def _for_training(self, batch: Batch, generator: np.random.Generator, schedule_factor: float) -> Batch:
        rate = self.options.get("token_dropout", 0.0)
        if not rate:
            return batch
        hidden, _ = self._masker.mask(batch.ids.numpy(), _is_text(batch), generator, rate, VALIDATION_REPLACEMENTS)
        return replace(batch, ids=torch.from_numpy(hidden))


class MaskedExamples(EncoderObjective):
    """Masked language modeling on the texts of the examples, so that a model learns a task's words before its labels.

    Gururangan et al. 2020, "Don't Stop Pretraining".
    """

    config_values: ClassVar[dict[str, Any]] = encoder_with("masked-language-model")
    target: ClassVar[TargetKind | None] = TargetKind.LABEL

    def make_batch(self, examples: Sequence[Example]) -> Batch:
        """The texts, with nothing hidden yet."""
        ids, is_token = _pad(self._encode([example.text for example in examples]), 0)
        return Batch(ids, torch.full_like(ids, IGNORE_INDEX), padding_mask=is_token)

    def validation_batch(self, task: ExampleTask, rows: int, context: int) -> Batch:
        """Examples that are not trained on, always with the same tokens hidden."""
        batch, rate = super().validation_batch(task, rows, context), self._masker.first_rate
        return self._masked(batch, np.random.default_rng(1), rate, VALIDATION_REPLACEMENTS)

    def _for_training(self, batch: Batch, generator: np.random.Generator, schedule_factor: float) -> Batch:
        return self._masked(batch, generator, self._masker.rate(schedule_factor), TRAINING_REPLACEMENTS)

    def _masked(
        self, batch: Batch, generator: np.random.Generator, rate: float, replacements: tuple[float, float]
    ) -> Batch:
        hidden, targets = self._masker.mask(batch.ids.numpy(), _is_text(batch), generator, rate, replacements)
        return replace(batch, ids=torch.from_numpy(hidden), targets=torch.from_numpy(targets))


class SequenceClassification(EncoderObjective):
    """An encoder gives the whole text one label, the answer."""

    config_values: ClassVar[dict[str, Any]] = encoder_with("sequence-classifier")
    target: ClassVar[TargetKind | None] = TargetKind.LABEL

    def make_batch(self, examples: Sequence[Example]) -> Batch:
        """Texts, and the label of each."""
        ids, is_token = _pad(self._encode([example.text for example in examples]), 0)
        targets = torch.tensor([[self.task.labels.index(example.answer)] for example in examples])
        return Batch(ids, targets, padding_mask=is_token)


class TokenClassification(EncoderObjective):
    """An encoder gives each token of the text the label of its word, one of the answer's words."""

    config_values: ClassVar[dict[str, Any]] = encoder_with("token-classifier")
    target: ClassVar[TargetKind | None] = TargetKind.WORD_LABELS

    def make_batch(self, examples: Sequence[Example]) -> Batch:
        """Texts, and the labels of their tokens."""
        encodings = self.tokenizer.backend.encode_batch([example.text for example in examples])
        ids, is_token = _pad([encoding.ids for encoding in encodings], 0)
        pairs = zip(examples, encodings, strict=True)
        targets, _ = _pad([self._token_labels(example, encoding) for example, encoding in pairs], IGNORE_INDEX)
        return Batch(ids, targets, padding_mask=is_token)

    def _token_labels(self, example: Example, encoding: Encoding) -> list[int]:
        """The label of each token: the label of the word or punctuation mark in which it ends, if there is one."""
        spans, labels = word_spans(example.text), example.answer.split()
        if len(spans) != len(labels):
            raise DataError(f"An example of {self.task.name} does not have one label for each word.")
        label_at = {
            at: self.task.labels.index(label) for span, label in zip(spans, labels, strict=True) for at in range(*span)
        }
        tokens = zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
        return [IGNORE_INDEX if special else label_at.get(end - 1, IGNORE_INDEX) for (_, end), special in tokens]


class SequenceToSequence(ExampleObjective):
    """An encoder reads the text or drawing; a decoder predicts each token of the answer from the right ones before it.

    The decoder begins with START_ID and ends with the tokenizer's end token.
    """

    config_values: ClassVar[dict[str, Any]] = {
        "architecture": "encoder-decoder",
        "output_head": "language-model",
        "masks": ("causal",),
        "decoder": {"start_token_id": START_ID},
    }
    target: ClassVar[TargetKind | None] = TargetKind.TEXT

    def make_batch(self, examples: Sequence[Example]) -> Batch:
        """Texts or drawings as sources, and the answers shifted by one token."""
        end_id = self.tokenizer.end_id
        if end_id is None:
            raise DataError("An answer needs an end token, such as </s>.")
        answers = self.tokenizer.encode_batch([example.answer for example in examples])
        ids, _ = _pad([[START_ID, *answer] for answer in answers], 0)
        targets, _ = _pad([[*answer, end_id] for answer in answers], IGNORE_INDEX)
        drawings = [example.drawing for example in examples if example.drawing]
        if drawings:
            return Batch(ids, targets, signal=self._pixels(drawings))
        source, is_source = _pad(self._encode([example.text for example in examples]), 0)
        return Batch(ids, targets, source=source, source_padding_mask=is_source)

    def _pixels(self, drawings: Sequence[Drawing]) -> Float[Tensor, "row color_channel pixel_row pixel_column"]:
        """The drawings as the model reads them."""
        images = [process_image(drawing.render(), self.image).pixel_values for drawing in drawings]
        return torch.from_numpy(np.stack(images))


def _is_text(batch: Batch) -> Bool[np.ndarray, "row pos"]:
    """True where a batch holds tokens, not padding."""
    assert batch.padding_mask is not None
    return batch.padding_mask.numpy()


def _pad(rows: Sequence[Sequence[int]], filler: int) -> tuple[Int[Tensor, "row pos"], Bool[Tensor, "row pos"]]:
    """Rows as one tensor, padded at the end, and True where it holds tokens."""
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    table = np.full((len(rows), longest), filler, dtype=np.int64)
    for row, numbers in enumerate(rows):
        table[row, : len(numbers)] = numbers
    return torch.from_numpy(table), torch.arange(longest)[None] < lengths[:, None]


FOLDS = 5
SPLICE_WORDS = (4, 28)
CHARACTERS_WEIGHT = 0.2  # weight of the log-odds of character n-grams, which overlap, relative to words
REGRESSION_WEIGHT = 2.0  # weight of the log-odds of the regression, which are smaller because it counts nothing twice
LOG_ODDS_WORDS = 2.5  # targets are this times the teacher's log-odds per word: the network's are a mean over tokens


@dataclass(frozen=True)
class Teacher:
    """Three bags of words together.

    Naive Bayes over words and bigrams, Naive Bayes over the characters of words, which helps with rare and new words,
    and a regression.
    """

    words: NaiveBayes
    characters: NaiveBayes
    regression: LogisticRegression

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Teacher:
        """A teacher trained on examples."""
        return cls(NaiveBayes(examples), NaiveBayes(examples, character_ngrams), LogisticRegression(examples))

    def log_probabilities(self, text: str) -> dict[str, float]:
        """The log-probability of each label, up to a constant."""
        words, characters, regression = (
            each.log_probabilities(text) for each in (self.words, self.characters, self.regression)
        )
        return {
            label: words[label] + CHARACTERS_WEIGHT * characters[label] + REGRESSION_WEIGHT * regression[label]
            for label in words
        }


class BagOfWordsDistillation(SequenceClassification):
    """Distillation of bags of words: an encoder learns the log-odds that they give to spliced texts.

    In a few thousand labelled texts most words occur once or twice, and from so few, counting learns more than a
    network. The counts label any number of texts spliced from pieces of the training texts (Tang et al. 2019,
    "Distilling Task-Specific Knowledge from BERT into Simple Neural Networks", section 3.3). The network learns their
    log-odds (Ba and Caruana 2014); a second run from these weights learns the labels. It is validated on labelled
    texts.
    """

    def batch(self, generator: np.random.Generator, rows: int, context: int, schedule_factor: float = 1.0) -> Batch:
        """Spliced texts of equal word counts, each with the logits of a teacher that has seen none of its pieces."""
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
        """`length` words from pieces of texts, and the teacher's logits, scaled like a mean over tokens."""
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
        """The words of each fold's texts, with a teacher trained on the other folds.

        A teacher that has seen a text remembers its label from its rarest words.
        """
        if not isinstance(self.task, TextExamples):
            raise DataError(f"The examples of {self.task.name} are not texts with words to count.")
        training = self.task.training
        return [
            (
                [one.text.split() for one in training[fold::FOLDS]],
                Teacher.of([one for at, one in enumerate(training) if at % FOLDS != fold]),
            )
            for fold in range(FOLDS)
        ]
