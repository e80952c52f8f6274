"""An encoder-decoder whose stacks have different numbers of heads."""

from __future__ import annotations

from math import lcm

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.config import Config
from headlight.nn.transformer import Transformer

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
