"""The similarity of two sentences as a sum over pairs of their tokens, and the effect of each head on it.

A sentence encoder pools the last hidden states of a text's tokens into one vector. Each channel of that vector is a sum
over tokens, whatever the pooling, so the cosine of two vectors is a sum over pairs of tokens:
cos(u, v) = sum over i, j of (share_i * x_i) . (share_j * y_j) / (|u| |v|).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.ablation import KEEP, all_heads, final_without_heads, heads_per_batch
from headlight.analysis.sentences.pooling import POOLINGS, Hidden, SentencePooling
from headlight.array_types import Float
from headlight.cancellation import check_cancelled
from headlight.errors import ConfigError, TextError
from headlight.nn.transformer import Transformer, attention_at
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.run import run
from headlight.tracing.trace import Trace


@dataclass(frozen=True)
class HeadEffect:
    """The cosine with the weights of one head (of the attention at `path`) set to 0 in both sentences."""

    path: str
    head: int
    cosine: float


@dataclass(frozen=True)
class Similarity:
    """The comparison of two sentences by a sentence encoder.

    `vectors` are their pooled vectors, `cosine` is the cosine of the two, `pairs` are the contributions of each pair of
    tokens: they sum to the cosine, except for rounding (below 1e-5).
    """

    traces: tuple[Trace, Trace]
    pooling: SentencePooling
    vectors: Float[np.ndarray, "2 d_model"]
    cosine: float
    pairs: Float[np.ndarray, "token other_token"]


def sentence_similarity(
    model: Transformer,
    tokenizer: Tokenizer,
    one: str,
    other: str,
    pooling: SentencePooling = SentencePooling(),
    edits: Sequence[str] = (),
) -> Similarity:
    """Compare two sentences, both read with the same edits.

    Raises ConfigError for a model of two stacks, of images or of sounds, TextError for a sentence longer than the model
    reads.
    """
    if model.config.has_cross_attention or model.config.reads_signal:
        raise ConfigError(
            "Only a model that reads one text can compare two sentences; this one reads two texts, images or sounds."
        )
    traces = [_read(model, tokenizer, text, pooling, edits) for text in (one, other)]
    hidden = [torch.from_numpy(trace[_final_path(model)].copy()).double() for trace in traces]
    parts = [POOLINGS[pooling.mode](states) * states for states in hidden]
    sums = [part.sum(0) for part in parts]
    lengths = [float(total.norm().clamp_min(1e-12)) for total in sums]
    pairs = parts[0] @ parts[1].T / (lengths[0] * lengths[1])
    divisors = lengths if pooling.normalized else [1.0, 1.0]
    vectors = np.stack([(total / by).numpy() for total, by in zip(sums, divisors, strict=True)])
    cosine = float(sums[0] @ sums[1]) / (lengths[0] * lengths[1])
    return Similarity((traces[0], traces[1]), pooling, vectors, cosine, pairs.numpy())


def _read(model: Transformer, tokenizer: Tokenizer, text: str, pooling: SentencePooling, edits: Sequence[str]) -> Trace:
    text = text.strip().lower() if pooling.lowercase else text.strip()
    trace = run(model, tokenizer, text, edits, keep=KEEP)
    count = len(trace.text.ids)
    if pooling.max_tokens and count > pooling.max_tokens:
        raise TextError(f"This model reads {pooling.max_tokens} tokens of a sentence; this one has {count}.")
    return trace


def _final_path(model: Transformer) -> str:
    return f"{model.config.stacks[-1]}.final_residual"


@torch.inference_mode()
def cosines_without_heads(model: Transformer, similarity: Similarity) -> tuple[HeadEffect, ...]:
    """The cosine without each single head, the largest change first."""
    effects: list[HeadEffect] = []
    for path, first, finals in without_each_head(model, similarity.traces):
        one, other = (_pooled(final, similarity.pooling) for final in finals)
        cosines = torch.nn.functional.cosine_similarity(one, other, dim=-1).tolist()
        effects += [HeadEffect(path, first + row, cosine) for row, cosine in enumerate(cosines)]
    return strongest_first(effects, similarity.cosine)


def without_each_head(model: Transformer, traces: Sequence[Trace]) -> Iterator[tuple[str, int, list[Hidden]]]:
    """The last hidden states of each trace without each of some heads: the attention's path, the first head, states."""
    heads, batch = all_heads(model), min(map(heads_per_batch, traces))
    done = 0
    while done < len(heads):
        path, first = heads[done]
        check_cancelled()
        count = min(batch, attention_at(model, path)[0].heads - first)
        yield path, first, [final_without_heads(model, trace, path, first, count) for trace in traces]
        done += count


def strongest_first(effects: Iterable[HeadEffect], cosine: float) -> tuple[HeadEffect, ...]:
    """Effects on a cosine, in the order of their size."""
    return tuple(sorted(effects, key=lambda effect: -abs(effect.cosine - cosine)))


def _pooled(final: Hidden, pooling: SentencePooling) -> Tensor:
    hidden = final.double()
    return (POOLINGS[pooling.mode](hidden) * hidden).sum(-2)
