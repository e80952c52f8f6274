"""The same weights, wired another way: another position scheme, attention function, masks or scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from model.nn.masks import parse
from model.nn.transformer import Transformer, outline


def variant(
    model: Transformer,
    *,
    position: str | None = None,
    kernel: str | None = None,
    masks: str | Sequence[str] | None = None,
    scale: bool | None = None,
) -> Transformer:
    """The same weights, shared and not copied, under another position scheme, kernel, masks or scale.

    `masks` may be their text form, `causal+window:8`. What the new wiring needs and the model lacks (a learned table,
    a T5 bias) is zero; `added` names it.
    """
    if masks is not None:
        masks = parse(masks) if isinstance(masks, str) else tuple(masks)
    asked = {"position": position, "kernel": kernel, "masks": masks, "scale": scale}
    now = model.config
    new: dict[str, Any] = {
        name: choice for name, choice in asked.items() if choice is not None and choice != getattr(now, name)
    }
    if "masks" in new:
        new["by_layer"] = replace(now.by_layer, masks=())
    if "position" in new:
        new["by_layer"] = replace(new.get("by_layer", now.by_layer), positions=(), rotations=())
    config = now.change(**new)
    if config == model.config:
        return model
    rewired = outline(config)
    theirs, shapes = model.state_dict(), {name: weight.shape for name, weight in rewired.state_dict().items()}
    # Two schemes may call different tables alike: only one of the same shape is the same.
    weights = {name: theirs[name] for name, shape in shapes.items() if name in theirs and theirs[name].shape == shape}
    missing = tuple(name for name in shapes if name not in weights)
    zeros = {
        name: torch.zeros(shapes[name], dtype=model.embedding.weight.dtype, device=model.device) for name in missing
    }
    rewired.load_state_dict({**weights, **zeros}, assign=True)
    rewired.tie()
    rewired.added = missing + tuple(name for name in model.added if name in weights)
    return rewired.requires_grad_(False).train(model.training)
