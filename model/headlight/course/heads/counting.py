"""Heads that are run and looked into: what they cost, how they are joined, and two stacks with other heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.config import Config
from headlight.course.sentences import require_layer
from headlight.nn.attention import Attention, AttentionContext, merge_heads
from headlight.nn.masks import QueryKeyPositions
from headlight.nn.positional_encodings import PositionalEncoding
from headlight.nn.transformer import Transformer, attention_at
from headlight.text.tokenizer import Encoded
from headlight.tracing.run import run

VOCABULARY, CHANNELS_AT_LEAST = 32, 48


def run_two_stacks(
    encoder_heads: int, decoder_heads: int, source_length: int, length: int, seed: int = 0
) -> dict[str, Float[Tensor, "head query key"]]:
    """The attention weights of an encoder-decoder of random weights, by the name of each attention."""
    heads = lcm(encoder_heads, decoder_heads)
    config = Config(
        architecture="encoder-decoder", vocabulary_size=VOCABULARY, context_length=max(source_length, length),
        d_model=heads * -(-CHANNELS_AT_LEAST // heads), layers=1, heads=decoder_heads, encoder_heads=encoder_heads,
        positional_encoding="sinusoidal",
    )  # fmt: skip
    values: dict[str, Tensor] = {}

    def record(path: str, value: Tensor) -> Tensor:
        if path.endswith(".weights"):
            values[path] = value[0]
        return value

    with torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(seed)
        model = Transformer(config).eval()
        source, target = (torch.randint(VOCABULARY, (1, size)) for size in (source_length, length))
        model(target, source=source, hook=record)
    return {
        "Self-attention of the encoder": values["encoder.0.self.weights"],
        "Self-attention of the decoder": values["decoder.0.self.weights"],
        "Cross-attention of the decoder": values["decoder.0.cross.weights"],
    }


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


_MATRIX_PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__, functional.linear)


@dataclass(frozen=True, eq=False)
class AttentionRun:
    """One forward pass of one attention: each value by its hook point, without the batch, and what it took."""

    values: Mapping[str, Tensor]
    parameters: int
    multiply_adds: int


class MultiplyAdds(TorchFunctionMode):
    """Counts the multiply-adds of the matrix products that are computed within it."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Every number of a product is a sum over the last axis of what is multiplied."""
        result = func(*args, **(kwargs or {}))
        if func in _MATRIX_PRODUCTS:
            self.count += result.numel() * args[0].shape[-1]
        return result


def run_attention(
    d_model: int, heads: int, length: int, *, head_dim: int = 0, value_head_dim: int = 0, seed: int = 0
) -> AttentionRun:
    """Attention of random weights over random tokens, each of which sees all.

    Sizes of 0 are d_model / heads. Raises ConfigError where the sizes do not go together.
    """
    config = Config(
        vocabulary_size=1, context_length=1, layers=1, d_model=d_model, heads=heads, head_dim=head_dim,
        value_head_dim=value_head_dim, positional_encoding="none", masks=(),
    )  # fmt: skip
    positions, values = torch.arange(length), dict[str, Tensor]()
    context = AttentionContext(
        PositionalEncoding(config), QueryKeyPositions(positions, positions), torch.ones(1, 1, length, length).bool()
    )

    def record(name: str, value: Tensor) -> Tensor:
        values[name] = value[0]
        return value

    with torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(seed)
        attention, x = Attention(config).eval(), torch.randn(1, length, d_model)
        with MultiplyAdds() as counter:
            attention(x, None, context, record)
    return AttentionRun(values, sum(weight.numel() for weight in attention.parameters()), counter.count)
