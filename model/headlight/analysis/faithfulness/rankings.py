"""Rankings of the tokens that explain an answer, each tested by deleting tokens in its order.

A ranking is faithful if the answer's probability falls fast when its first tokens are deleted, and rises fast when they
are restored first (Petsiuk et al. 2018, "RISE": deletion and insertion). All are compared with random order. A deleted
token keeps its place, but no token attends to it and it is not pooled (Li et al. 2016, "erasure"). The token at which
the answer is predicted stays, since nothing could be predicted there without it. A caveat: a text with holes differs
from all texts that the model was trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.attention_maps import attention_rollout
from headlight.analysis.faithfulness import alti_logit as alti
from headlight.analysis.residual_stream import require_attention_alone
from headlight.analysis.weight_importance import gradient_times_input
from headlight.array_types import Bool, Float, Int
from headlight.cancellation import check_cancelled
from headlight.errors import ConfigError, TextError
from headlight.nn.output_heads import pooling_names
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.nn.transformer import Transformer
from headlight.problem_types import problem_type_of
from headlight.registry import Registry
from headlight.tasks import task_of
from headlight.tracing.inputs import segment_tensor, signal_tensor, token_tensor
from headlight.tracing.recompute import intervention_hook
from headlight.tracing.trace import Trace, position_index

KEEP = (*alti.KEEP, "*.weights")
TOKENS_PER_BATCH = 2048  # of copies of a text, each with different tokens deleted
MOST_STEPS = 10  # of a curve
RANDOM_ORDERS = 5
TIED = 1e-6  # areas that differ by less differ only by rounding
Scores = Float[np.ndarray, " token"]


@dataclass(frozen=True)
class AnswerPlace:
    """An answer (a token or label) at a position of a text that a model read."""

    model: Transformer
    trace: Trace
    position: int
    answer: int

    def values(self, kept: Bool[np.ndarray, "copy token"]) -> Float[np.ndarray, " copy"]:
        """The probability (or score) of the answer in copies of the text in which only some tokens are kept."""
        return problem_type_of(self.model.config).values(self.logits(kept).numpy())[:, self.answer]

    def compared(self, kept: Bool[np.ndarray, "copy token"]) -> Float[np.ndarray, " copy"]:
        """The log-probability (or score) of the answer in such copies."""
        return problem_type_of(self.model.config).compared(self.logits(kept))[:, self.answer].numpy()

    def logits(self, kept: Bool[np.ndarray, "copy token"]) -> Float[Tensor, "copy answer"]:
        """The logits of such copies at the position."""
        ids, signal = token_tensor(self.trace.text, self.model), signal_tensor(self.trace.text, self.model)
        segments = segment_tensor(self.trace.text, self.model)
        size, found = max(1, TOKENS_PER_BATCH // kept.shape[1]), []
        for start in range(0, len(kept), size):
            check_cancelled()
            mask = torch.from_numpy(kept[start : start + size]).to(self.model.device)
            hook, copies = intervention_hook(self.trace), ids.expand(len(mask), -1)
            signals = None if signal is None else signal.expand(len(mask), *signal.shape[1:])
            final = self.model.encode_hidden(copies, signal=signals, padding_mask=mask, segment_ids=segments, hook=hook)
            answerable = mask if signals is not None else self.model.answerable(copies, mask)
            logits = self.model.logits(final, answerable, hook, slice(self.position, self.position + 1))
            assert logits is not None  # models without an output head were rejected before
            found.append(logits.flatten(0, -2).float().cpu())
        return torch.cat(found)


def _mean_weight(place: AnswerPlace) -> Scores:
    weights = place.trace.attention().mean((0, 1))
    return np.asarray(weights[_rows(place)].mean(0))


def _rollout(place: AnswerPlace) -> Scores:
    require_attention_alone(place.trace.config, "attention rollout")
    has_residual = NORM_PLACEMENTS[place.trace.config.norm_placement].has_residual
    rollout = attention_rollout(place.trace.attention(), has_residual)[-1]
    return np.asarray(rollout[_rows(place)].mean(0))


def _rows(place: AnswerPlace) -> list[int]:
    """The tokens whose vectors the output head reads; one that it reads in two poolings counts twice."""
    if not task_of(place.trace.config).whole_text:
        return [place.position]
    count = len(place.trace.text.ids)
    config = place.trace.config
    rows = [row for row in range(count) if not 0 < row <= config.output_head_config.skipped_tokens]
    read = {"first": [0], "second": [1 % count], "last": [count - 1], "mean-but-first": rows[1:] or [0]}
    return [row for name in pooling_names(config) for row in read.get(name, rows)]


def _deletion(place: AnswerPlace) -> Scores:
    count = len(place.trace.text.ids)
    kept = np.concatenate((np.ones((1, count), dtype=bool), ~np.eye(count, dtype=bool)))
    compared = place.compared(kept)
    return np.asarray(compared[0] - compared[1:])


@dataclass(frozen=True)
class Ranking:
    """A way to rank the tokens of a text: its title, its source, and the score of each token for an answer."""

    title: str
    source: str
    scores: Callable[[AnswerPlace], Scores]


RANKINGS: Registry[Ranking] = Registry(
    "ranking",
    {
        "weight": Ranking("Attention weight", "mean over all layers and heads, in the row that predicts", _mean_weight),
        "rollout": Ranking("Rollout", "Abnar and Zuidema 2020, section 3", _rollout),
        "gradient-times-input": Ranking(
            "Gradient × input",
            "Denil et al. 2014; of the log-probability, where Shrikumar et al. 2016 take the logit",
            lambda place: gradient_times_input(place.model, place.trace, place.position, place.answer),
        ),
        "alti-logit": Ranking(
            "ALTI-Logit",
            "Ferrando et al. 2023, section 3.3",
            lambda place: alti.alti_logit(place.model, place.trace, place.position, place.answer).tokens,
        ),
        "deletion": Ranking(
            "Leave one out", "each token alone, hidden from all others; Li et al. 2016 divide by the whole", _deletion
        ),
    },
)


@dataclass(frozen=True)
class Faithfulness:
    """A ranking under test: the score of each token, and the answer's probability as tokens are deleted or inserted.

    For a model whose answers are scores, the curves are of the answer's score (`headlight.problem_types`).

    `order` lists the deletable tokens by rank. In `deletion` the first `steps[i]` of them are missing, in `insertion`
    only these are present. The areas are means of the curves over the share of tokens: a small area is good for
    deletion, a large one for insertion. For the random order, `scores` are NaN, and the curves are means over several
    orders.
    """

    scores: Scores
    order: Int[np.ndarray, " candidate"]
    steps: Int[np.ndarray, " step"]
    deletion: Float[np.ndarray, " step"]
    insertion: Float[np.ndarray, " step"]

    @property
    def deletion_area(self) -> float:
        """The area under the curve of deletion."""
        return _area(self.steps, self.deletion)

    @property
    def insertion_area(self) -> float:
        """The area under the curve of insertion."""
        return _area(self.steps, self.insertion)


def _area(steps: np.ndarray, curve: np.ndarray) -> float:
    return float(np.trapezoid(curve, steps / steps[-1]))


def compare_rankings(
    model: Transformer, trace: Trace, position: int, answer: int, seed: int = 0
) -> dict[str, Faithfulness]:
    """Every ranking of RANKINGS for an answer at a position, and "random"; the trace holds KEEP.

    Raises ConfigError for an encoder-decoder or a model that predicts nothing, TextError if no token can be deleted or
    the answer does not exist.
    """
    place, candidates = _require(model, trace, position, answer)
    found = {}
    for name, ranking in RANKINGS.items():
        try:
            scores = ranking.scores(place).astype(np.float64)
        except ConfigError:  # ALTI-Logit does not apply to a text that is labelled as a whole
            continue
        found[name] = _tested(place, scores, [candidates[np.argsort(-scores[candidates], kind="stable")]])
    generator = np.random.default_rng(seed)
    orders = [generator.permutation(candidates) for _ in range(RANDOM_ORDERS)]
    return found | {"random": _tested(place, np.full(len(trace.text.ids), np.nan), orders)}


def most_faithful(found: Mapping[str, Faithfulness]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rankings with the smallest area of deletion, and those with the largest of insertion.

    None for a curve in which no ranking beats random order; several if they differ by less than TIED.
    """
    deletion = {name: each.deletion_area for name, each in found.items()}
    return _smallest(deletion), _smallest({name: -each.insertion_area for name, each in found.items()})


def _smallest(areas: Mapping[str, float]) -> tuple[str, ...]:
    least = min(areas.values())
    names = tuple(name for name, area in areas.items() if area < least + TIED)
    return () if "random" in names else names


def _require(model: Transformer, trace: Trace, position: int, answer: int) -> tuple[AnswerPlace, np.ndarray]:
    """The answer, and the tokens that can be deleted."""
    task, count = task_of(trace.config), len(trace.text.ids)
    if trace.config.has_cross_attention:
        raise ConfigError("Rankings are compared on one text; this model reads two.")
    if not task.predicts:
        raise ConfigError(task.no_prediction)
    place = AnswerPlace(model, trace, position_index(position, count), answer)
    answers = len(trace.config.labels) if task.predicts_labels else trace.config.vocabulary_size
    if not 0 <= answer < answers:
        raise TextError(f"There is no answer {answer}: this model knows {answers}, counted from 0.")
    end = place.position + 1 if "causal" in trace.config.masks and not task.whole_text else count
    fixed = {"first": 0, "second": 1}  # places that are read whichever tokens are deleted
    poolings = pooling_names(trace.config)
    own = {fixed[name] for name in poolings if name in fixed} if task.whole_text else {place.position}
    candidates = np.array([token for token in range(end) if token not in own])
    if not len(candidates):
        raise TextError("The answer depends on one token only, so there is none to delete; type a longer text.")
    return place, candidates


def _tested(place: AnswerPlace, scores: Scores, orders: Sequence[np.ndarray]) -> Faithfulness:
    """The curves of a ranking; the mean of the curves if there are several orders."""
    count = len(orders[0])
    steps = np.unique(np.linspace(0, count, min(count, MOST_STEPS) + 1).round().astype(np.int64))
    kept = np.ones((len(orders), 2, len(steps), len(place.trace.text.ids)), dtype=bool)
    for row, order in enumerate(orders):
        for column, step in enumerate(steps):
            kept[row, 0, column, order[:step]] = False
            kept[row, 1, column, order[step:]] = False
    curves = place.values(kept.reshape(-1, kept.shape[-1])).reshape(kept.shape[:-1]).mean(0)
    return Faithfulness(scores, orders[0].astype(np.int64), steps, curves[0], curves[1])
