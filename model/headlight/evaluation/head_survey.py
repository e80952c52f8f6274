"""Which heads stand out: the head metrics over a few sentences, and the heads with the most of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.analysis.head_metrics import HEAD_METRICS, head_metrics
from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.tracing.run import run

SENTENCES = (
    "The old gardener watered the roses, and then he sat down under the apple tree.",
    "Tom gave the ball to Anna. Anna gave the ball to Tom.",
    '"Have you seen my red scarf?" asked Grandmother. "I left it on the chair."',
    "The red boat and the blue boat sailed past the red house and the blue house.",
    "When it rains, the children stay inside; when the sun shines, the children play outside.",
    "My sister, who is seven years old, can swim, ride a horse and climb trees.",
    "One day a fox met a crow. The fox was hungry. The crow had a piece of cheese. The fox looked up.",
    "Because the dog was afraid of the thunder, it hid under the bed until the morning.",
)

HeadValues = Float[np.ndarray, "sentence layer head"]


@dataclass(frozen=True)
class HeadRanking:
    """The heads with the most of one metric: (layer, head) and the mean over the sentences, best first.

    `uniform_value` is the mean for a head that attends uniformly over the allowed keys; heads that do not exceed it are
    left out. `example` is the sentence in which the first head is most extreme, `example_value` its value there.
    """

    metric: str
    top_heads: tuple[tuple[int, int, float], ...]
    uniform_value: float
    example: str
    example_value: float


def rank_heads(checkpoint: Checkpoint, sentences: Sequence[str] = SENTENCES, count: int = 3) -> tuple[HeadRanking, ...]:
    """One ranking for each metric that is defined on these sentences; of `entropy` the heads with the least.

    A sentence longer than the model's context is left out, and so is a metric whose values repeat those of another.
    """
    context = checkpoint.model.config.context_length
    sentences = [sentence for sentence in sentences if len(checkpoint.tokenizer.encode(sentence).ids) <= context]
    uniform_edits = [f"{stack}.*.self.weights=uniform" for stack in checkpoint.model.config.stacks]
    values, uniform = _head_metrics(checkpoint, sentences, ()), _head_metrics(checkpoint, sentences, uniform_edits)
    rankings: list[HeadRanking] = []
    earlier: list[HeadValues] = []
    for metric in HEAD_METRICS if sentences else ():
        is_repeated = any(np.array_equal(values[metric], other, equal_nan=True) for other in earlier)
        earlier.append(values[metric])
        best = (
            None
            if is_repeated
            else _head_ranking(metric, values[metric], _mean(uniform[metric])[0, 0], sentences, count)
        )
        rankings += [best] if best else []
    return tuple(rankings)


def _head_metrics(loaded: Checkpoint, sentences: Sequence[str], edits: Sequence[str]) -> dict[str, HeadValues]:
    """Every metric of every head for each sentence."""
    each = [head_metrics(run(loaded.model, loaded.tokenizer, sentence, edits)) for sentence in sentences]
    return {metric: np.stack([one[metric] for one in each]) for metric in HEAD_METRICS} if each else {}


def _mean(values: HeadValues) -> Float[np.ndarray, "layer head"]:
    """The mean over the sentences in which the metric is defined; NaN if it is in none."""
    is_defined = ~np.isnan(values)
    mean: np.ndarray = np.where(is_defined, values, 0).sum(0) / np.where(is_defined.any(0), is_defined.sum(0), np.nan)
    return mean


def _head_ranking(
    metric: str, values: HeadValues, uniform_value: float, sentences: Sequence[str], count: int
) -> HeadRanking | None:
    sign = -1.0 if metric == "entropy" else 1.0
    mean = _mean(values)
    order = np.argsort(np.where(np.isnan(mean), np.inf, -sign * mean), axis=None, kind="stable")[:count]
    heads = [divmod(int(index), mean.shape[1]) for index in order]
    ranked = [(*head, float(mean[head])) for head in heads if sign * mean[head] > sign * uniform_value]
    if not ranked:
        return None
    layer, head, _ = ranked[0]
    example = int(np.nanargmax(sign * values[:, layer, head]))
    return HeadRanking(
        metric, tuple(ranked), float(uniform_value), sentences[example], float(values[example, layer, head])
    )
