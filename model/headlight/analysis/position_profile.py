"""Positional encodings as arrays to draw: embeddings, rotation angles, biases, and the similarity of positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from headlight.array_types import Float, Int
from headlight.config import Config
from headlight.errors import EditError
from headlight.nn.positional_encodings import Alibi, DisentangledPositions, PositionalEncoding, RelativeBias, Rope
from headlight.nn.transformer import Transformer
from headlight.tracing.recording import to_numpy


@dataclass(frozen=True)
class PositionProfile:
    """A positional encoding at the positions 0 to `length` - 1; parts that it does not have are None.

    `embeddings` are added to the token embeddings, `angles` (radians) rotate pairs of channels, `bias` is added to the
    scores, and `slopes` are the decrease of the bias per token of distance, for each head. `similarity` is the cosine
    of two positions' embeddings, or the cosine of two equal vectors after their rotations. `buckets` are the rows of
    the learned table for distances (key minus query, from -(`length` // 2) on), and `bucket_similarity` is the cosine
    of two distances' rows if these are vectors that are not all zero.
    """

    encoding: str
    embeddings: Float[np.ndarray, "pos width"] | None
    angles: Float[np.ndarray, "pos pair"] | None
    bias: Float[np.ndarray, "head query key"] | None
    slopes: Float[np.ndarray, " head"] | None
    similarity: Float[np.ndarray, "pos other"] | None
    buckets: Int[np.ndarray, " distance"] | None
    bucket_similarity: Float[np.ndarray, "distance other"] | None


@torch.inference_mode()
def position_profile(
    model: Transformer, length: int, stack: str | None = None, layer: int | None = None
) -> PositionProfile:
    """The positional encoding of a stack, by default the last one, read from its own module.

    With `layer` it is the encoding of that layer, for models whose layers differ (`PerLayerConfig.positions_differ`).
    Raises EditError for a stack, a layer or positions that the model does not have.
    """
    name = stack or model.config.stacks[-1]
    if name not in model.config.stacks:
        raise EditError(f"This model has no {name!r}; it has {', '.join(model.config.stacks)}.")
    encodings = model.stack(name).layer_positional_encodings
    if layer is not None and not 0 <= layer < len(encodings):
        raise EditError(f"There is no layer {layer}; the {name} has {len(encodings)}, counted from 0.")
    position = model.stack(name).positional_encoding if layer is None else encodings[layer]
    _, last = position.position_range
    if length > last + 1:
        raise EditError(f"The {name} has no position {length - 1}; ask for at most {last + 1:,} positions.")
    position_ids = torch.arange(length, device=model.device)
    embeddings, bias = position.embed(position_ids), position.bias(position_ids, position_ids)
    config = model.config.for_stack(name)
    angles = position.angles(position_ids) if isinstance(position, Rope) else None
    buckets = _buckets(position, torch.arange(-(length // 2), length // 2 + 1, device=model.device))
    return PositionProfile(
        encoding=encoding_name(config, layer),
        embeddings=to_numpy(embeddings) if position.adds_embeddings(config) else None,
        angles=None if angles is None else to_numpy(angles),
        bias=to_numpy(bias) if type(position).bias is not PositionalEncoding.bias else None,
        slopes=to_numpy(position.slopes()) if isinstance(position, Alibi) else None,
        similarity=_cosines(embeddings) if angles is None else _rotated_similarity(angles, _head_dim(config, layer)),
        buckets=None if buckets is None else buckets.cpu().numpy(),
        bucket_similarity=_cosines(position.norm(position.relative_embedding(buckets)))
        if isinstance(position, DisentangledPositions)
        else None,
    )


def encoding_name(config: Config, layer: int | None) -> str:
    """The positional encoding of a stack with this config, or of one of its layers."""
    of_layers = config.per_layer.positional_encodings
    return config.positional_encoding if layer is None or not of_layers else of_layers[layer]


def _head_dim(config: Config, layer: int | None) -> int:
    return (config if layer is None else config.for_layer(layer)).head_dim


def _buckets(position: PositionalEncoding, key_minus_query: torch.Tensor) -> torch.Tensor | None:
    """The row of each distance in the table of an encoding with learned distances."""
    if isinstance(position, DisentangledPositions):
        return position.bucket(-key_minus_query)
    return position.bucket(key_minus_query) if isinstance(position, RelativeBias) else None


def _rotated_similarity(angles: Float[torch.Tensor, "pos pair"], head_dim: int) -> Float[np.ndarray, "pos other"]:
    """The cosine of two vectors of ones, each rotated to its position; channels without a pair do not rotate.

    This includes the last channel of a head with an odd width.
    """
    cosines, sines = angles.cos(), angles.sin()
    rotated = 2 * (cosines @ cosines.T + sines @ sines.T)  # the cosine of a difference: no array of all three axes
    return to_numpy((rotated + head_dim - 2 * angles.shape[1]) / head_dim)


def _cosines(vectors: torch.Tensor) -> np.ndarray | None:
    """The cosine of each two vectors; None if all are zero."""
    if not vectors.any():
        return None
    unit = torch.nn.functional.normalize(vectors.float(), dim=-1)
    return to_numpy(unit @ unit.T)
