"""Whether a model notices that the words of a sentence stand in another order."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from headlight.analysis.run_comparison import align
from headlight.checkpoints import Checkpoint
from headlight.errors import InputError
from headlight.nn.transformer import variant
from headlight.tracing.run import run


@dataclass(frozen=True, eq=False)
class OrderTest:
    """The same words in two orders under one model.

    `words` are the corresponding tokens of both texts; `differences` how far their vectors at the end are apart
    (relative to their length), and `mean_difference` how far the means of all vectors are.
    """

    words: tuple[str, ...]
    differences: tuple[float, ...]
    mean_difference: float


def shuffled(text: str, seed: int) -> str:
    """The words of a text in another order; a full stop at its end stays there. Raises InputError for a single word."""
    ending = text[len(text.rstrip(".!? ")) :].strip()
    words = text.rstrip(".!? ").split()
    if len(set(words)) < 2:
        raise InputError("There is only one word, which has no other order. Type two or more.")
    order = list(words)
    random = Random(seed)
    while order == words:
        random.shuffle(order)
    return " ".join(order) + ending


def compare_orders(
    checkpoint: Checkpoint, text: str, other: str, *, positional_encoding: str | None, masks: str | None
) -> OrderTest:
    """Both texts under the same weights, on wish with another positional encoding and other masks.

    Each word is compared with itself, wherever it stands. Raises InputError where the texts have other words.
    """
    if sorted(text.split()) != sorted(other.split()):
        raise InputError("The two lines must have the same words, each as often; only their order may differ.")
    model = variant(checkpoint.model, positional_encoding=positional_encoding, masks=masks)
    # With a space in front the first word has the token that it has inside a sentence.
    traces = [run(model, checkpoint.tokenizer, " " + line, keep=("*.final_residual",)) for line in (text, other)]
    pairs = align(traces[0].text, traces[1].text, "words")
    one, two = (trace[f"{trace.config.stacks[-1]}.final_residual"].astype(np.float64) for trace in traces)
    return OrderTest(
        tuple(traces[0].text.token_texts[first].strip() for first, _ in pairs),
        tuple(_relative_distance(one[first], two[second]) for first, second in pairs),
        _relative_distance(one.mean(0), two.mean(0)),
    )


def _relative_distance(one: np.ndarray, other: np.ndarray) -> float:
    length = max(float(np.linalg.norm(one)), float(np.linalg.norm(other)), float(np.finfo(np.float32).tiny))
    return float(np.linalg.norm(one - other)) / length
