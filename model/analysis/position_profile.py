"""Positional waves: what a model's own position module does, as arrays to draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from model.array_types import Float
from model.errors import EditError
from model.nn.positional_encodings import Alibi, Rope
from model.nn.transformer import Transformer
from model.tracing.run import to_numpy


@dataclass(frozen=True)
class PositionProfile:
    """One position scheme over positions 0 to `length` - 1; what its doors leave untouched is None.

    `added` is what joins the embeddings, `angles` by how much (radians) each pair of channels turns, `bias` what
    joins the scores, `slopes` how fast a head's bias falls per token, `similarity` how alike two positions are.
    """

    encoding: str
    embeddings: Float[np.ndarray, "pos width"] | None
    angles: Float[np.ndarray, "pos pair"] | None
    bias: Float[np.ndarray, "head query key"] | None
    slopes: Float[np.ndarray, " head"] | None
    similarity: Float[np.ndarray, "pos other"] | None


@torch.inference_mode()
def position_profile(model: Transformer, length: int, stack: str | None = None) -> PositionProfile:
    """The position scheme of a stack, by default the one that gives the answer, read from the module itself."""
    name = stack or model.config.stacks[-1]
    if name not in model.config.stacks:
        raise EditError(f"This model has no {name!r}; it has {', '.join(model.config.stacks)}.")
    position = model.stack(name).positional_encoding
    position_ids = torch.arange(length, device=model.device)
    embeddings, bias = position.embed(position_ids), position.bias(position_ids, position_ids)
    angles = position.angles(position_ids) if isinstance(position, Rope) else None
    return PositionProfile(
        encoding=model.config.positional_encoding,
        embeddings=to_numpy(embeddings) if embeddings.any() or model.new_parameters else None,
        angles=None if angles is None else to_numpy(angles),
        bias=to_numpy(bias) if bias.any() else None,
        slopes=to_numpy(position.slopes()) if isinstance(position, Alibi) else None,
        similarity=_similarity(embeddings, angles),
    )


def _similarity(embeddings: torch.Tensor, angles: torch.Tensor | None) -> np.ndarray | None:
    """Added vectors: their cosine. Rotations: q . k of a vector of ones with itself, each turned to its place."""
    if angles is not None:
        return to_numpy((angles[:, None] - angles[None, :]).cos().mean(-1))
    if not embeddings.any():
        return None
    unit = torch.nn.functional.normalize(embeddings.float(), dim=-1)
    return to_numpy(unit @ unit.T)
