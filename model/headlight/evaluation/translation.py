"""How well a model translates: BLEU against all translations of each held-out sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from random import Random
from typing import Any

import numpy as np

from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.data.examples import Example
from headlight.data.text_tasks.text_task import split_key
from headlight.errors import DataError
from headlight.evaluation.example_accuracy import link_agreement
from headlight.evaluation.samples import HELD_OUT, Sample
from headlight.generation.beam_search import beam_search

BEAMS = 4
SHORT_WORDS = 8  # a sentence of at most so many is a short one
EXTRA_TOKENS = 20  # by which a translation may be longer than twice its source


@dataclass(frozen=True)
class Bleu:
    """BLEU of some sentences, and how sacrebleu computed it."""

    score: float
    sentences: int
    signature: str


@dataclass(frozen=True)
class TranslationQuality:
    """BLEU of greedy decoding and of beam search, of all sentences and of the short ones, and the translations."""

    task: str
    kind: str  # of the sentences
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
        """A line for each score, how they were computed, and a sentence on the alignment of words."""
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
    """Measure a model on so many source sentences of the examples, each with all its translations.

    Where there are `aligned` sentences, it says how well each head's attention agrees with their links.

    Raises DataError where sacrebleu is not installed.
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
    """All translations of each source sentence; sources that differ in punctuation and case alone are one."""
    groups: dict[str, tuple[str, list[str]]] = {}
    for example in examples:
        groups.setdefault(split_key(example.text), (example.text, []))[1].append(example.answer)
    return {text: tuple(dict.fromkeys(answers)) for text, answers in groups.values()}


def translate(checkpoint: Checkpoint, text: str, beams: int = BEAMS) -> str:
    """A text's translation, by beam search."""
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    steps = 2 * len(tokenizer.encode(text).ids) + EXTRA_TOKENS
    *_, found = beam_search(model, tokenizer, "", source=text, beams=beams, steps=steps)
    return tokenizer.decode(found[0].tokens)


def corpus_bleu(samples: Sequence[Sample]) -> Bleu:
    """BLEU of the answers against those that are right (Papineni et al. 2002; Post 2018)."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU()
    streams = list(zip_longest(*(sample.right for sample in samples)))  # the first of each, the second of each, ...
    score = metric.corpus_score([sample.answer for sample in samples], streams)
    return Bleu(score.score, len(samples), str(metric.get_signature()))
