"""The next token as views: its candidates before and after the sampling settings, and the random number among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headlight.generation.step import GenerationStep, Sample
from headlight.problem_types import softmax
from headlight.tasks import task_of
from headlight.text.tokenizer import Tokenizer
from headlight.views.kinds import BarsView, NumberTable, StripsView, View
from headlight.views.rows import Row, row
from headlight.views.words import numbered, places, quoted, visible

MAX_CANDIDATES = 12
SERIES = ("by the model", "after sampling settings")
GREEDY = "Temperature 0: the likeliest token is taken; nothing is random."
# The views before anything is known of them.
CANDIDATES = BarsView(
    labels=(),
    series={},
    compared=SERIES[0],
    is_compact=True,
    high=1.0,
    as_percent=True,
    marked_as="sampled",
    chosen_as="taken",
)
RANDOM_NUMBER = StripsView(labels=("",), parts=(), high=1.0)


def next_token_rows(
    step: GenerationStep, logits: np.ndarray, sample: Sample, tokenizer: Tokenizer, *, is_greedy: bool
) -> Iterator[Row]:
    """What the model predicts at the step's position, and how a token was sampled from that."""
    shares, order = softmax(logits), np.argsort(-logits, kind="stable")
    after = "" if task_of(step.config).fills_masks else f"After {quoted(step.text.token_texts[step.position - 1])}. "
    entropy = _entropy_in_bits(shares.astype(np.float64))
    yield row(
        _candidates(step, shares, sample, order, tokenizer),
        text=f"{after}Entropy {places(entropy)} bits: 0 is certain, each further bit doubles the choice.",
    )
    yield row(text=GREEDY) if is_greedy else row(_random_number(sample, order, tokenizer))


def _candidates(
    step: GenerationStep, shares: np.ndarray, sample: Sample, order: np.ndarray, tokenizer: Tokenizer
) -> BarsView:
    """The likeliest tokens and the chosen one: the model's probabilities, and those after the sampling settings."""
    likeliest = [int(token) for token in order[:MAX_CANDIDATES]]
    shown = likeliest if sample.chosen in likeliest else [*likeliest, sample.chosen]
    texts = [tokenizer.token_text(token) for token in shown]
    both = np.stack([shares[shown], sample.probabilities[shown]], axis=1)
    return replace(
        CANDIDATES,
        title=f"Candidates at position {step.position}",
        labels=tuple(map(visible, texts)),
        series=dict(zip(SERIES, both.T, strict=True)),
        texts=tuple("" if share else "filtered out" for share in both[:, 1]),
        picks=tuple({"token": token, "token_text": text} for token, text in zip(shown, texts, strict=True)),
        marked=shown.index(sample.chosen),
        tables={"Candidates": NumberTable({"token": numbered(texts), "probability": SERIES}, both)},
    )


def _random_number(sample: Sample, order: np.ndarray, tokenizer: Tokenizer) -> View:
    """The shares side by side, largest first, and the random number among them."""
    likeliest = [int(token) for token in sample.order[:MAX_CANDIDATES] if sample.probabilities[token]]
    kept, vocabulary = int(np.count_nonzero(sample.probabilities)), len(order)
    rank = int(np.flatnonzero(order == sample.chosen)[0]) + 1
    left = f"all {vocabulary}" if kept == vocabulary else f"{kept} of {vocabulary}"
    return replace(
        RANDOM_NUMBER,
        title=f"Random number {sample.random_number:.3f}: {quoted(tokenizer.token_text(sample.chosen))} (rank {rank})",
        parts=(tuple((float(sample.probabilities[one]), 0 if one == sample.chosen else -1) for one in likeliest),),
        at=sample.random_number,
        note=f"The sampling settings leave {left} tokens.",
    )


def _entropy_in_bits(shares: np.ndarray) -> float:
    return float(-(shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)).sum())
