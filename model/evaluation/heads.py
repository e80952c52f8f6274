"""Which heads do what: every metric of the lens over a few sentences, and the heads that stand out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.checkpoint import Loaded
from model.habits import METRICS
from model.lens import head_metrics
from model.run import run
from model.shapes import Float

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


@dataclass(frozen=True)
class Finding:
    """The heads with the most of one metric: (layer, head) and the mean over the sentences, best first.

    `example` is the sentence that shows the first of them best, `shown` its value there.
    """

    metric: str
    best: tuple[tuple[int, int, float], ...]
    example: str
    shown: float


def findings(loaded: Loaded, sentences: Sequence[str] = SENTENCES, top: int = 3) -> tuple[Finding, ...]:
    """One finding for each metric that these sentences give occasion to; of `entropy` the narrowest heads.

    A sentence longer than the model's context is left out.
    """
    room = loaded.model.config.context
    sentences = [sentence for sentence in sentences if len(loaded.tokenizer.encode(sentence).ids) <= room]
    measured = [head_metrics(run(loaded.model, loaded.tokenizer, sentence)) for sentence in sentences]
    found = []
    for metric in METRICS if sentences else ():
        values = np.stack([each[metric] for each in measured])
        if not np.isnan(values).all():
            found.append(_finding(metric, values, sentences, top))
    return tuple(found)


def _finding(
    metric: str, values: Float[np.ndarray, "sentence layer head"], sentences: Sequence[str], top: int
) -> Finding:
    sign = -1.0 if metric == "entropy" else 1.0
    known = ~np.isnan(values)
    mean = np.where(known, values, 0).sum(0) / np.maximum(known.sum(0), 1)
    order = np.argsort(np.where(known.any(0), -sign * mean, np.inf), axis=None, kind="stable")[:top]
    ranked = []
    for place in order:
        layer, head = divmod(int(place), mean.shape[1])
        ranked.append((layer, head, float(mean[layer, head])))
    layer, head, _ = ranked[0]
    example = int(np.nanargmax(sign * values[:, layer, head]))
    return Finding(metric, tuple(ranked), sentences[example], float(values[example, layer, head]))
