"""Attention on typed numbers, computed by the module that every model has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import normalize

from headlight.array_types import Bool, Float
from headlight.config import AttentionConfig, Config
from headlight.course.controls import NumberControl
from headlight.errors import InputError
from headlight.nn.attention import Attention, AttentionContext, AttentionInputs
from headlight.nn.hooks import no_hook
from headlight.nn.masks import QueryKeyPositions
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.tracing.recording import RecordingHook

MOST_HEADS = 16  # largest number of heads that an error sentence suggests


@dataclass(frozen=True)
class HeadValues:
    """The values of one head: scores before and after the mask, weights, and output; `allowed` is the mask."""

    scores: Float[Tensor, "query key"]
    masked_scores: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]
    output: Float[Tensor, "query value_head_dim"]
    allowed: Bool[Tensor, "query key"]
    scale: float


def attend(
    q: Float[Tensor, "query query_dim"],
    k: Float[Tensor, "key key_dim"],
    v: Float[Tensor, "value value_head_dim"],
    *,
    allowed: Bool[Tensor, "query key"] | None = None,
    scale: bool = True,
    attention_function: str = "softmax",
    dropout: float = 0.0,
) -> HeadValues:
    """One head of `Attention.attend`, recorded by a hook; `dropout` applies as in training.

    Raises InputError for matrices that do not fit together.
    """
    if q.shape[1] != k.shape[1]:
        raise InputError(
            f"Queries have {q.shape[1]} channels and keys have {k.shape[1]}. A dot product needs equally many."
        )
    if len(k) != len(v):
        raise InputError(f"There are {len(k)} keys and {len(v)} values. Each key needs a value.")
    config = head_config(q.shape[1], v.shape[1], scale, attention_function, dropout)
    attention = _module(config)
    allowed = torch.ones(len(q), len(k), dtype=torch.bool) if allowed is None else allowed
    context, recorder = context_without_positions(config, allowed), RecordingHook(no_hook, None)
    output = attention.attend(q[None, None], k[None, None], v[None, None], context, recorder)
    values = recorder.values
    scores, weights = values["scores"][0, 0], values["weights"][0, 0]
    # The module uses the most negative finite number for minus infinity.
    return HeadValues(
        scores, scores.masked_fill(~allowed, -torch.inf), weights, output[0, 0], allowed, float(values["scale"])
    )


def attend_with_weights(
    x: Float[Tensor, "pos channel"],
    memory: Float[Tensor, "key key_channel"] | None,
    w_q: Float[Tensor, "q_in q_out"],
    w_k: Float[Tensor, "k_in k_out"],
    w_v: Float[Tensor, "v_in v_out"],
) -> dict[str, Tensor]:
    """The values of `Attention.forward` of one head with these weights: attention of x to `memory`, or to itself.

    Raises InputError for sizes that do not fit.
    """
    for name, weight in (("W_Q", w_q), ("W_K", w_k), ("W_V", w_v)):
        if len(weight) != x.shape[1]:
            raise InputError(
                f"{name} has {len(weight)} rows and X has {x.shape[1]} columns. These numbers must be equal."
            )
    if w_q.shape[1] != w_k.shape[1]:
        raise InputError(f"W_Q has {w_q.shape[1]} columns and W_K has {w_k.shape[1]}. These numbers must be equal.")
    config = head_config(w_q.shape[1], w_v.shape[1]).replace(d_model=x.shape[1], head_dim=w_q.shape[1])
    attention = Attention(config).eval()
    for linear, weight in zip(attention.projections, (w_q, w_k, w_v), strict=True):
        linear.weight.data = weight.T  # a Linear holds its weight with a row for each output
    allowed = torch.ones(len(x), len(x if memory is None else memory), dtype=torch.bool)
    context, recorder = context_without_positions(config, allowed), RecordingHook(no_hook, None)
    with torch.no_grad():
        attention(x[None], AttentionInputs(context, None if memory is None else memory[None]), recorder)
    return recorder.values


def context_without_positions(config: Config, allowed: Bool[Tensor, "query key"]) -> AttentionContext:
    """The context of a single attention: where each query may look, and no positions."""
    positions = QueryKeyPositions(*map(torch.arange, allowed.shape))
    return AttentionContext(POSITIONAL_ENCODINGS["none"](config), positions, allowed[None, None])


@lru_cache(maxsize=64)
def head_config(
    head_dim: int,
    value_head_dim: int,
    scale: bool = True,
    attention_function: str = "softmax",
    dropout: float = 0.0,
) -> Config:
    """The config of one head without masks and positional encoding."""
    return Config(
        vocabulary_size=1,
        context_length=1,
        d_model=head_dim,
        layers=1,
        heads=1,
        value_head_dim=value_head_dim,
        positional_encoding="none",
        masks=(),
        attention=AttentionConfig(scale=scale),
        attention_function=attention_function,
        dropout=dropout,
    )


@lru_cache(maxsize=64)
def _module(config: Config) -> Attention:
    """The module of one head, in training mode if it has dropout; only its `attend` is used, which has no weights."""
    with torch.random.fork_rng(devices=[]):  # building it must not change later random numbers of a seed
        return Attention(config).train(config.dropout > 0)


def require_equal_heads(d_model: int, heads: int) -> None:
    """Raise InputError, with the possible numbers of heads, if channels cannot be split into equal heads."""
    if d_model % heads:
        possible = ", ".join(str(count) for count in range(1, MOST_HEADS + 1) if d_model % count == 0)
        raise InputError(
            f"A width of {d_model} channels does not divide into {heads} equal heads. Choose another width, or a "
            f"number of heads that divides it: {possible}."
        )


SHARPNESS = NumberControl("Sharpness (multiplies the queries)", "8", 0, 40, step=0.5)
NO_WEIGHTS = (
    "No weights are trained here: queries and keys are the vectors themselves, centred and scaled to length 1, so that "
    "a score is the cosine of two vectors times the sharpness. The sharpness replaces 1/√d_k."
)
UNSCALED = r"s_{ij} = q_i \cdot k_j \text{ (without } 1 / \sqrt{d_k} \text{)}"


def attend_by_similarity(
    vectors: Float[Tensor, "pos channel"], sharpness: float, allowed: Bool[Tensor, "pos pos"] | None = None
) -> HeadValues:
    """One head whose W_Q is `sharpness` times the identity, on centred vectors of length 1; the values are `vectors`.

    Raises InputError for matrices that do not fit together.
    """
    directions = normalize(vectors - vectors.mean(0), dim=-1)
    return attend(sharpness * directions, directions, vectors, allowed=allowed, scale=False)
