"""Which heads do what: every metric of the lens over a few sentences, and the heads that stand out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.head_metrics import METRICS, head_metrics
from model.array_types import Float
from model.checkpoints import Loaded
from model.tracing.run import run

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


Values = Float[np.ndarray, "sentence layer head"]


@dataclass(frozen=True)
class Finding:
    """The heads with the most of one metric: (layer, head) and the mean over the sentences, best first.

    `even` is the same for a head that looks at all it may see alike; heads that do no more than that are left out.
    `example` is the sentence that shows the first of them best, `shown` its value there.
    """

    metric: str
    best: tuple[tuple[int, int, float], ...]
    even: float
    example: str
    shown: float


def findings(loaded: Loaded, sentences: Sequence[str] = SENTENCES, top: int = 3) -> tuple[Finding, ...]:
    """One finding for each metric that these sentences give occasion to; of `entropy` the narrowest heads.

    A sentence longer than the model's context is left out, and so is a metric that says what one before it said.
    """
    room = loaded.model.config.context
    sentences = [sentence for sentence in sentences if len(loaded.tokenizer.encode(sentence).ids) <= room]
    alike = [f"{stack}.*.self.weights=uniform" for stack in loaded.model.config.stacks]
    values, even = _measured(loaded, sentences, ()), _measured(loaded, sentences, alike)
    found: list[Finding] = []
    told: list[Values] = []
    for metric in METRICS if sentences else ():
        again = any(np.array_equal(values[metric], other, equal_nan=True) for other in told)
        told.append(values[metric])
        best = None if again else _finding(metric, values[metric], _mean(even[metric])[0, 0], sentences, top)
        found += [best] if best else []
    return tuple(found)


def _measured(loaded: Loaded, sentences: Sequence[str], edits: Sequence[str]) -> dict[str, Values]:
    """Every metric of every head for each sentence."""
    each = [head_metrics(run(loaded.model, loaded.tokenizer, sentence, edits)) for sentence in sentences]
    return {metric: np.stack([one[metric] for one in each]) for metric in METRICS} if each else {}


def _mean(values: Values) -> Float[np.ndarray, "layer head"]:
    """Over the sentences that give occasion; NaN where none does."""
    known = ~np.isnan(values)
    mean: np.ndarray = np.where(known, values, 0).sum(0) / np.where(known.any(0), known.sum(0), np.nan)
    return mean


def _finding(metric: str, values: Values, even: float, sentences: Sequence[str], top: int) -> Finding | None:
    sign = -1.0 if metric == "entropy" else 1.0
    mean = _mean(values)
    order = np.argsort(np.where(np.isnan(mean), np.inf, -sign * mean), axis=None, kind="stable")[:top]
    places = [divmod(int(place), mean.shape[1]) for place in order]
    ranked = [(*place, float(mean[place])) for place in places if sign * mean[place] > sign * even]
    if not ranked:
        return None
    layer, head, _ = ranked[0]
    example = int(np.nanargmax(sign * values[:, layer, head]))
    return Finding(metric, tuple(ranked), float(even), sentences[example], float(values[example, layer, head]))
