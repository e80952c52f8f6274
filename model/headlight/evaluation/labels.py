"""How well a model labels texts or their words, beside a method without a neural network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from typing import Any

from headlight.checkpoints import Checkpoint
from headlight.data.examples import Example
from headlight.data.text_tasks.entities import OUTSIDE
from headlight.data.text_tasks.naive_bayes import NaiveBayes
from headlight.data.text_tasks.text_task import TextExamples
from headlight.data.text_tasks.words import word_spans
from headlight.evaluation.baselines import MostFrequentLabels
from headlight.evaluation.samples import HELD_OUT, Sample
from headlight.tasks import label_text, task_of
from headlight.tracing.run import run

Entity = tuple[str, int, int]  # the kind of a name, its first word, and the one after its last


@dataclass(frozen=True)
class Accuracy:
    """How many answers are right."""

    right: int
    count: int

    @property
    def value(self) -> float:
        """The fraction that is right."""
        return self.right / self.count

    @property
    def standard_error(self) -> float:
        """How far the fraction may lie from that of all texts."""
        return sqrt(self.value * (1 - self.value) / self.count)

    def to_dict(self) -> dict[str, float]:
        """As plain JSON values."""
        return {"accuracy": self.value, "standard error": self.standard_error, "count": self.count}

    def __str__(self) -> str:
        return f"{self.right:,} of {self.count:,} right ({self.value:.1%} ± {self.standard_error:.1%})"


@dataclass(frozen=True)
class EntityScore:
    """How many names were found, how many there are, and how many found ones are right in kind and extent."""

    right: int
    found: int
    wanted: int

    @property
    def precision(self) -> float:
        """The fraction of the found names that are right."""
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        """The fraction of the names that are found."""
        return self.right / max(1, self.wanted)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / max(1, self.found + self.wanted)

    def to_dict(self) -> dict[str, float]:
        """As plain JSON values."""
        return {"precision": self.precision, "recall": self.recall, "F1": self.f1, "names": self.wanted}

    def __str__(self) -> str:
        return f"precision {self.precision:.1%}, recall {self.recall:.1%}, F1 {self.f1:.1%} ({self.wanted:,} names)"


Score = Accuracy | EntityScore


@dataclass(frozen=True)
class LabelQuality:
    """The scores of a model and of a baseline on the same examples, and the first answers."""

    task: str
    kind: str  # of the examples, as a sentence names them
    examples: int
    scores: dict[str, Score]
    samples: tuple[Sample, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        scores = {name: score.to_dict() for name, score in self.scores.items()}
        return {"task": self.task, "examples": self.examples, "scores": scores}

    def sentences(self) -> list[str]:
        """A line for each score."""
        heading = f"On {self.examples:,} {self.kind} of the task {self.task}:"
        return [heading, "\n".join(f"- {name}: {score}" for name, score in self.scores.items())]


def label_quality(
    checkpoint: Checkpoint, data: TextExamples, examples: Sequence[Example], kind: str = HELD_OUT
) -> LabelQuality:
    """Measure a classifier of texts or of words on examples, beside a baseline from the data's training examples."""
    answers = [label_answer(checkpoint, example.text) for example in examples]
    samples = tuple(Sample(one.text, given, (one.answer,)) for one, given in zip(examples, answers, strict=True))
    if task_of(checkpoint.model.config).whole_text:
        bayes = NaiveBayes(data.training)
        baseline = [bayes.answer(example.text) for example in examples]
        scores: dict[str, Score] = {
            "the model": accuracy(examples, answers),
            "a bigram Naive Bayes": accuracy(examples, baseline),
        }
    else:
        frequent = MostFrequentLabels(data.training)
        baseline = [frequent.answer(example.text) for example in examples]
        kinds = [label for label in data.labels if label != OUTSIDE]
        scores = {"the model": entity_score(examples, answers, kinds)}
        scores |= {f"the model, {kind}": entity_score(examples, answers, [kind]) for kind in kinds}
        scores["each word's most frequent label"] = entity_score(examples, baseline, kinds)
    return LabelQuality(data.name, kind, len(examples), scores, samples)


def label_answer(checkpoint: Checkpoint, text: str) -> str:
    """A text's likeliest label, or those of its words: a word has the label of its first token."""
    config = checkpoint.model.config
    trace = run(checkpoint.model, checkpoint.tokenizer, text, keep=("logits",))
    assert trace.logits is not None
    best = trace.logits.argmax(-1)
    if task_of(config).whole_text:
        return label_text(config, int(best.reshape(-1)[0]))
    ends = [(end, label_text(config, int(index))) for (_, end), index in zip(trace.text.offsets, best, strict=True)]
    return " ".join(next((label for end, label in ends if end > start), OUTSIDE) for start, _ in word_spans(text))


def accuracy(examples: Sequence[Example], answers: Iterable[str]) -> Accuracy:
    """How many answers are those of the examples."""
    right = sum(example.answer == given for example, given in zip(examples, answers, strict=True))
    return Accuracy(right, len(examples))


def entities(answer: str, kinds: Sequence[str]) -> set[Entity]:
    """The names of some kinds: words with the same label, side by side."""
    found, at = set(), 0
    for label, words in groupby(answer.split()):
        length = len(list(words))
        if label in kinds:
            found.add((label, at, at + length))
        at += length
    return found


def entity_score(examples: Sequence[Example], answers: Iterable[str], kinds: Sequence[str]) -> EntityScore:
    """How well the names of some kinds are found: a name counts where its kind and all its words are right."""
    right = found = wanted = 0
    for example, given in zip(examples, answers, strict=True):
        theirs, ours = entities(given, kinds), entities(example.answer, kinds)
        right, found, wanted = right + len(theirs & ours), found + len(theirs), wanted + len(ours)
    return EntityScore(right, found, wanted)
