"""Norms of the value vectors that each head moves: how much weighted attention contributes to the output."""

from __future__ import annotations

import numpy as np
import torch

from headlight.analysis.attribution.linearize import per_head_output
from headlight.array_types import Float
from headlight.nn.attention import repeat_key_values
from headlight.nn.transformer import Transformer, attention_at
from headlight.tracing.trace import Trace


@torch.inference_mode()
def weighted_value_norm(model: Transformer, trace: Trace, path: str) -> Float[np.ndarray, "head query key"]:
    """The norm of the weighted, projected value, ||a_ij v_j W_O|| (Kobayashi et al. 2020, equation 5).

    For the attention at `path` (`decoder.3.self`), whose `weights` and `v` the trace must hold; rows do not sum to one.
    """
    attention, _ = attention_at(model, path)
    values = torch.from_numpy(trace[f"{path}.v"].copy())[None].to(attention.output.weight.device)
    value_outputs = per_head_output(
        attention, repeat_key_values(values.float(), attention.group_size)[0]
    )  # head key d_model
    norms: np.ndarray = value_outputs.norm(dim=-1).cpu().numpy()
    weighted_norms: np.ndarray = trace[f"{path}.weights"] * norms[:, None, :]
    return weighted_norms.astype(np.float32)
