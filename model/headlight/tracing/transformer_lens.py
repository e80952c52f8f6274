"""The names of TransformerLens for values of a trace, such as `blocks.1.attn.hook_pattern`, with its order of axes."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from headlight.config import Config

_OF_BLOCKS = {
    "hook_resid_pre": "residual",
    "hook_resid_mid": "residual_after_self",
    "hook_attn_out": "self.output",
    "hook_mlp_out": "feed_forward.output",
    "mlp.hook_post": "feed_forward.neurons",
    "attn.hook_pattern": "self.weights",
    "attn.hook_attn_scores": "self.masked_scores",
    "attn.hook_q": "self.q",
    "attn.hook_k": "self.k",
    "attn.hook_v": "self.v",
    "attn.hook_rot_q": "self.rotated_q",
    "attn.hook_rot_k": "self.rotated_k",
    "attn.hook_z": "self.weighted_values",
}
_HEAD_AFTER_POSITION = ("q", "k", "v", "rotated_q", "rotated_k", "weighted_values")  # there, and before it here
_OF_STACK = {"hook_embed": "embedding", "hook_pos_embed": "position_embedding"}
_BLOCK_PATTERN = re.compile(r"blocks\.(\d{1,6})\.(.+)")


def transformer_lens_value(values: Mapping[str, np.ndarray], config: Config, name: str) -> np.ndarray | None:
    """The value of that name in the stack that predicts, with its axes there; None for a name that has none."""
    path = _path(config, name)
    if path not in values:
        return None
    return np.swapaxes(values[path], 0, 1) if path.rpartition(".")[2] in _HEAD_AFTER_POSITION else values[path]


def _path(config: Config, name: str) -> str:
    stack, block = config.stacks[-1], _BLOCK_PATTERN.fullmatch(name)
    if block is None:
        return f"{stack}.{_OF_STACK.get(name, '')}"
    layer, kind = int(block[1]), block[2]
    if kind == "hook_resid_post":
        return f"{stack}.{layer + 1}.residual" if layer + 1 < config.layers else f"{stack}.residual"
    return f"{stack}.{layer}.{_OF_BLOCKS.get(kind, '')}"
