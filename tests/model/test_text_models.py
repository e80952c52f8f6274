"""The shipped models of tasks on texts do what their cards claim, on hand-written sentences and on held-out rows."""

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from random import Random

import numpy as np
import pytest

from model.checkpoints import Checkpoint, load
from model.data.examples import Example
from model.data.text_tasks.translate import TRANSLATE
from model.evaluation.example_accuracy import link_agreement
from model.evaluation.hand_written import aligned_examples, hand_written_examples
from model.evaluation.samples import Sample
from model.evaluation.translation import SHORT_WORDS, corpus_bleu, group_references, translate
from model.paths import assets_dir

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

MODELS = assets_dir() / "models"
SENTENCES, ROWS, RESAMPLES, SEED = 100, 40, 50, 20_261_122


@lru_cache
def opened(name: str) -> Checkpoint:
    return load(MODELS / name)


def claimed(name: str, pattern: str) -> float:
    """The number that a card states where the pattern has its only group."""
    found = re.search(pattern, opened(name).card)
    assert found, f"the card of {name} does not say {pattern}"
    return float(found[1])


def translated(examples: Sequence[Example], count: int) -> list[Sample]:
    """So many of the sentences, each with its translation by greedy decoding."""
    references = group_references(examples)
    sources = Random(SEED).sample(sorted(references), min(count, len(references)))
    return [Sample(text, translate(opened("translate"), text, beams=1), references[text]) for text in sources]


def bleu_with_error(samples: Sequence[Sample]) -> tuple[float, float]:
    """BLEU, and its standard error by drawing as many sentences with replacement (Koehn 2004)."""
    draw = Random(SEED)
    scores = [corpus_bleu(draw.choices(samples, k=len(samples))).score for _ in range(RESAMPLES)]
    return corpus_bleu(samples).score, float(np.std(scores))


def test_sentences_written_by_hand_are_translated_as_well_as_the_card_says() -> None:
    samples = translated(hand_written_examples("translate"), SENTENCES)
    score, error = bleu_with_error(samples)
    stated = claimed("translate", r"hand-written sentences(?:.|\n)*?- greedy decoding: ([\d.]+) BLEU")
    assert abs(score - stated) <= 3 * error
    short = [sample for sample in samples if len(sample.text.split()) <= SHORT_WORDS]
    assert corpus_bleu(short).score >= 30


@pytest.mark.skipif("HEADLIGHT_DATA" not in os.environ, reason="needs the held-out texts")
def test_held_out_sentences_are_translated_as_well_as_the_card_says() -> None:
    score, error = bleu_with_error(translated(TRANSLATE.open().held_out, ROWS))
    assert (
        abs(score - claimed("translate", r"held-out examples(?:.|\n)*?- greedy decoding: ([\d.]+) BLEU")) <= 3 * error
    )


def test_cross_attention_aligns_the_words_of_two_languages() -> None:
    examples = aligned_examples()
    assert len(examples) >= 50
    best, links = link_agreement(opened("translate"), examples).max(), sum(len(example.links) for example in examples)
    stated = claimed("translate", r"translates in ([\d.]+)% of the cases") / 100
    assert best >= 0.6
    assert abs(best - stated) <= 3 * sqrt(stated * (1 - stated) / links)
