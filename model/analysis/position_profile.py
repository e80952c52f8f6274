"""Positional waves: what a model's own position module does, as arrays to draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from model.array_types import Float
from model.errors import EditError
from model.nn.positional_encodings import Alibi, Rope
from model.nn.transformer import Transformer


@dataclass(frozen=True)
class Waves:
    """One position scheme over positions 0 to `length` - 1; what its doors leave untouched is None.

    `added` is what joins the embeddings, `angles` by how much (radians) each pair of channels turns, `bias` what
    joins the scores, `slopes` how fast a head's bias falls per token, `similarity` how alike two positions are.
    """

    scheme: str
    added: Float[np.ndarray, "pos width"] | None
    angles: Float[np.ndarray, "pos pair"] | None
    bias: Float[np.ndarray, "head query key"] | None
    slopes: Float[np.ndarray, " head"] | None
    similarity: Float[np.ndarray, "pos other"] | None


@torch.inference_mode()
def waves(model: Transformer, length: int, stack: str | None = None) -> Waves:
    """The position scheme of a stack, by default the one that gives the answer, read from the module itself."""
    name = stack or model.config.stacks[-1]
    if name not in model.config.stacks:
        raise EditError(f"This model has no {name!r}; it has {', '.join(model.config.stacks)}.")
    position = model.stack(name).position
    at = torch.arange(length, device=model.device)
    added, bias = position.embed(at), position.bias(at, at)
    angles = position.angles(at) if isinstance(position, Rope) else None
    return Waves(
        scheme=model.config.position,
        added=_array(added) if added.any() or model.added else None,
        angles=None if angles is None else _array(angles),
        bias=_array(bias) if bias.any() else None,
        slopes=_array(position.slopes()) if isinstance(position, Alibi) else None,
        similarity=_similarity(added, angles),
    )


def _similarity(added: torch.Tensor, angles: torch.Tensor | None) -> np.ndarray | None:
    """Added vectors: their cosine. Rotations: q . k of a vector of ones with itself, each turned to its place."""
    if angles is not None:
        return _array((angles[:, None] - angles[None, :]).cos().mean(-1))
    if not added.any():
        return None
    unit = torch.nn.functional.normalize(added.float(), dim=-1)
    return _array(unit @ unit.T)


def _array(value: torch.Tensor) -> np.ndarray:
    return value.detach().float().cpu().numpy().copy()
