"""Measures of labelling texts or words, compared with a method without a neural network, and of translation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby, zip_longest
from math import sqrt
from random import Random
from typing import Any

import numpy as np

from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.data.bag_of_words import NaiveBayes
from headlight.data.examples import Example
from headlight.data.text_tasks import OUTSIDE, WORD, TextExamples, split_key, word_spans
from headlight.errors import DataError
from headlight.evaluation.example_accuracy import link_agreement
from headlight.generation.generate import beam_search
from headlight.tasks import label_text, task_of
from headlight.tracing.run import run

HELD_OUT, HAND_WRITTEN = "held-out examples", "hand-written sentences"


@dataclass(frozen=True)
class Sample:
    """A text, the model's answer, and all right answers."""

    text: str
    answer: str
    right: tuple[str, ...]


def sample_table(samples: Sequence[Sample], read: str = "text") -> str:
    """The samples as a Markdown table; `read` is the heading of the first column."""
    lines = [f"| {read} | answer | right |", "|---|---|---|"]
    for sample in samples:
        right = "yes" if sample.answer in sample.right else f"no: {' / '.join(sample.right)}"
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in (sample.text, sample.answer, right)) + " |")
    return "\n".join(lines)


class MostFrequentLabels:
    """A baseline: a word gets its most frequent label in training, an unknown word the most frequent label of all."""

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


Entity = tuple[str, int, int]  # the kind of a name, the index of its first word, and of the word after its last


@dataclass(frozen=True)
class Accuracy:
    """The number of right answers."""

    right: int
    count: int

    @property
    def value(self) -> float:
        """The fraction of right answers."""
        return self.right / self.count

    @property
    def standard_error(self) -> float:
        """The standard error of the fraction."""
        return sqrt(self.value * (1 - self.value) / self.count)

    def to_dict(self) -> dict[str, float]:
        """As plain JSON values."""
        return {"accuracy": self.value, "standard error": self.standard_error, "count": self.count}

    def __str__(self) -> str:
        return f"{self.right:,} of {self.count:,} right ({self.value:.1%} ± {self.standard_error:.1%})"


@dataclass(frozen=True)
class EntityScore:
    """The numbers of found names, of existing names, and of found names that are right in kind and extent."""

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
    kind: str  # the word for the examples in a sentence
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
    """Measure a classifier of texts or words on examples, and a baseline learned from the training examples."""
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
        scores = _word_scores("the model", data.labels, examples, answers)
        scores |= _word_scores("each word's most frequent label", data.labels, examples, baseline, by_kind=False)
    return LabelQuality(data.name, kind, len(examples), scores, samples)


def _word_scores(
    who: str, labels: Sequence[str], examples: Sequence[Example], answers: Sequence[str], by_kind: bool = True
) -> dict[str, Score]:
    """The scores of found names, in total and by kind; if no label is O, the fraction of words with the right label."""
    if OUTSIDE not in labels:
        pairs = ((one.answer.split(), given.split()) for one, given in zip(examples, answers, strict=True))
        hits = [right == given for one, other in pairs for right, given in zip(one, other, strict=True)]
        return {who: Accuracy(sum(hits), len(hits))}
    kinds = [label for label in labels if label != OUTSIDE]
    each = {f"{who}, {kind}": entity_score(examples, answers, [kind]) for kind in kinds if by_kind}
    return {who: entity_score(examples, answers, kinds), **each}


def label_answer(checkpoint: Checkpoint, text: str) -> str:
    """The likeliest label of a text, or of each of its words, taken from the word's first token."""
    config = checkpoint.model.config
    trace = run(checkpoint.model, checkpoint.tokenizer, text, keep=("logits",))
    assert trace.logits is not None
    best = trace.logits.argmax(-1)
    if task_of(config).whole_text:
        return label_text(config, int(best.reshape(-1)[0]))
    ends = [(end, label_text(config, int(index))) for (_, end), index in zip(trace.text.offsets, best, strict=True)]
    return " ".join(next((label for end, label in ends if end > start), OUTSIDE) for start, _ in word_spans(text))


def accuracy(examples: Sequence[Example], answers: Iterable[str]) -> Accuracy:
    """The accuracy of answers to examples."""
    right = sum(example.answer == given for example, given in zip(examples, answers, strict=True))
    return Accuracy(right, len(examples))


def entities(answer: str, kinds: Sequence[str]) -> set[Entity]:
    """The names of some kinds: runs of adjacent words with the same label."""
    found, at = set(), 0
    for label, words in groupby(answer.split()):
        length = len(list(words))
        if label in kinds:
            found.add((label, at, at + length))
        at += length
    return found


def entity_score(examples: Sequence[Example], answers: Iterable[str], kinds: Sequence[str]) -> EntityScore:
    """The score of found names of some kinds; a name is right if its kind and all its words are right."""
    right = found = wanted = 0
    for example, given in zip(examples, answers, strict=True):
        theirs, ours = entities(given, kinds), entities(example.answer, kinds)
        right, found, wanted = right + len(theirs & ours), found + len(theirs), wanted + len(ours)
    return EntityScore(right, found, wanted)


BEAMS = 4
SHORT_WORDS = 8  # maximum words of a short sentence
EXTRA_TOKENS = 20  # maximum length of a translation beyond twice its source


@dataclass(frozen=True)
class Bleu:
    """BLEU of some sentences, and sacrebleu's signature."""

    score: float
    sentences: int
    signature: str


@dataclass(frozen=True)
class TranslationQuality:
    """BLEU of greedy decoding and beam search, for all sentences and for the short ones, and the translations."""

    task: str
    kind: str  # the word for the sentences
    examples: int
    bleu: dict[str, Bleu]
    samples: tuple[Sample, ...]
    link_agreement: Float[np.ndarray, "layer head"] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        scores = {name: {"BLEU": bleu.score, "sentences": bleu.sentences} for name, bleu in self.bleu.items()}
        plain = {"task": self.task, "examples": self.examples, "scores": scores}
        return plain if self.link_agreement is None else plain | {"link agreement": self.link_agreement.tolist()}

    def sentences(self) -> list[str]:
        """A line for each score, the signature, and a sentence on the alignment of words."""
        signature = next(iter(self.bleu.values())).signature
        lines = [f"- {name}: {bleu.score:.1f} BLEU ({bleu.sentences:,} sentences)" for name, bleu in self.bleu.items()]
        heading = f"On {self.examples:,} {self.kind}, with all their translations as references ({signature}):"
        return [heading, "\n".join(lines), *([] if self.link_agreement is None else [self._alignment_sentence()])]

    def _alignment_sentence(self) -> str:
        assert self.link_agreement is not None
        layer, head = divmod(int(self.link_agreement.argmax()), self.link_agreement.shape[1])
        return (
            f"Where a French word is aligned by hand, cross-attention head {layer}.{head} attends most to the English "
            f"word that it translates in {self.link_agreement[layer, head]:.1%} of the cases, more than any other."
        )


def translation_quality(
    checkpoint: Checkpoint,
    task: str,
    examples: Sequence[Example],
    count: int,
    seed: int,
    kind: str = HELD_OUT,
    aligned: Sequence[Example] = (),
) -> TranslationQuality:
    """Measure a model on `count` source sentences of the examples, each with all its translations.

    With `aligned` sentences, it includes the agreement of each head's attention with their links.

    Raises DataError if sacrebleu is not installed.
    """
    if find_spec("sacrebleu") is None:
        raise DataError("BLEU is measured with sacrebleu, which is not installed. Say: pip install sacrebleu")
    references = group_references(examples)
    sources = Random(seed).sample(sorted(references), min(count, len(references)))
    bleu: dict[str, Bleu] = {}
    for name, beams in ((f"beam search with {BEAMS} beams", BEAMS), ("greedy decoding", 1)):
        found = [Sample(text, translate(checkpoint, text, beams), references[text]) for text in sources]
        bleu[name] = corpus_bleu(found)
        if short := [sample for sample in found if len(sample.text.split()) <= SHORT_WORDS]:
            bleu[f"{name}, up to {SHORT_WORDS} words"] = corpus_bleu(short)
    agreement = link_agreement(checkpoint, aligned) if aligned else None
    return TranslationQuality(task, kind, len(sources), bleu, tuple(found), agreement)


def group_references(examples: Sequence[Example]) -> dict[str, tuple[str, ...]]:
    """All translations of each source sentence; sources that differ only in punctuation and case are merged."""
    groups: dict[str, tuple[str, list[str]]] = {}
    for example in examples:
        groups.setdefault(split_key(example.text), (example.text, []))[1].append(example.answer)
    return {text: tuple(dict.fromkeys(answers)) for text, answers in groups.values()}


def translate(checkpoint: Checkpoint, text: str, beams: int = BEAMS) -> str:
    """The translation of a text, by beam search."""
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    steps = 2 * len(tokenizer.encode(text).ids) + EXTRA_TOKENS
    *_, found = beam_search(model, tokenizer, "", source=text, beams=beams, steps=steps)
    return tokenizer.decode(found[0].tokens)


def corpus_bleu(samples: Sequence[Sample]) -> Bleu:
    """BLEU of the answers against the right answers (Papineni et al. 2002; Post 2018)."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU()
    streams = list(zip_longest(*(sample.right for sample in samples)))  # the first of each, the second of each, ...
    score = metric.corpus_score([sample.answer for sample in samples], streams)
    return Bleu(score.score, len(samples), str(metric.get_signature()))
