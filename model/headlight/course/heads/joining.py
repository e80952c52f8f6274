"""Heads of a trained model: concatenated, multiplied by W_O, and as a sum over heads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.course.sentences import require_layer
from headlight.nn.attention import merge_heads
from headlight.nn.transformer import attention_at
from headlight.text.tokenizer import Encoded
from headlight.tracing.run import run


@dataclass(frozen=True, eq=False)
class JoinedHeads:
    """One layer's self-attention of a text, from its heads to its output.

    `by_head` is what each head adds to the output by its own rows of W_O; their sum, with the bias of the projection,
    is the output up to `error`.
    """

    text: Encoded
    head_outputs: Float[Tensor, "head pos value_head_dim"]
    concatenated: Float[Tensor, "pos heads_times_value_head_dim"]
    projection: Float[Tensor, "heads_times_value_head_dim d_model"]
    output: Float[Tensor, "pos d_model"]
    by_head: Float[Tensor, "head pos d_model"]
    error: float


@torch.inference_mode()
def join_heads(checkpoint: Checkpoint, text: str, layer: int) -> JoinedHeads:
    """Run a text and follow the heads of a layer (from 0) to the output. Raises InputError for a layer there is not."""
    model = checkpoint.model
    path = f"{require_layer(model, layer)}.self"
    trace = run(model, checkpoint.tokenizer, text, keep=(f"{path}.weighted_values", f"{path}.output"))
    head_outputs, output = (torch.tensor(trace[f"{path}.{name}"]) for name in ("weighted_values", "output"))
    linear = attention_at(model, path)[0].output
    projection = linear.weight.detach().float().cpu().T
    rows = projection.view(len(head_outputs), -1, projection.shape[1])  # those of each head
    by_head = head_outputs @ rows
    summed = by_head.sum(0) if linear.bias is None else by_head.sum(0) + linear.bias.float().cpu()
    error = float((summed - output).abs().max())
    return JoinedHeads(trace.text, head_outputs, merge_heads(head_outputs[None])[0], projection, output, by_head, error)
