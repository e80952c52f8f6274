"""Four networks for one task: what was the first token? Attention, two recurrent networks and a convolution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.config import Config
from headlight.nn.transformer import Transformer

SYMBOLS, FILLERS = 8, 8  # the first token is one of the symbols, all others are fillers
VOCABULARY = SYMBOLS + FILLERS
D_MODEL, KERNEL = 32, 3
MOST_LENGTH = 1024


class AttentionNetwork(nn.Module):
    """The project's Transformer, causal, without positions."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.model = Transformer(
            Config(
                vocabulary_size=VOCABULARY, context_length=MOST_LENGTH, d_model=D_MODEL, layers=layers, heads=2,
                positional_encoding="none", feed_forward="gelu", d_ff=2 * D_MODEL, tied_embeddings=False,
            )
        )  # fmt: skip
        for module in self.model.modules():  # begins as the other two do, with torch's own random weights
            if isinstance(module, nn.Linear | nn.Embedding):
                module.reset_parameters()

    def embed(self, ids: Int[Tensor, "row pos"]) -> Float[Tensor, "row pos d_model"]:
        """The tokens' vectors."""
        return self.model.embed(ids)

    def forward(self, embedded: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos token"]:
        """Logits at every token."""
        final = self.model.stack("decoder")(embedded, None, None, None, None, lambda name, value: value, None)
        logits: Tensor = self.model.output_head(final)
        return logits


class RecurrentNetwork(nn.Module):
    """h_t = tanh(W h_{t-1} + U x_t) in each layer (Elman 1990), one token after the other."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, D_MODEL)
        self.recurrent: nn.RNNBase = nn.RNN(D_MODEL, 2 * D_MODEL, layers, batch_first=True)
        self.output = nn.Linear(2 * D_MODEL, VOCABULARY)

    def forward(self, embedded: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos token"]:
        """Logits at every token."""
        logits: Tensor = self.output(self.recurrent(embedded)[0])
        return logits


class GatedNetwork(RecurrentNetwork):
    """The same with gates that can let a state pass unchanged (GRU; Cho et al. 2014)."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        self.recurrent = nn.GRU(D_MODEL, 2 * D_MODEL, layers, batch_first=True)


class ConvolutionalNetwork(nn.Module):
    """Causal convolutions: each layer sees a token and the KERNEL - 1 before it."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, D_MODEL)
        sizes = [D_MODEL] + [2 * D_MODEL] * layers
        self.convolutions = nn.ModuleList(nn.Conv1d(a, b, KERNEL) for a, b in pairwise(sizes))
        self.output = nn.Linear(2 * D_MODEL, VOCABULARY)

    def forward(self, embedded: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos token"]:
        """Logits at every token."""
        x = embedded.transpose(1, 2)
        for convolution in self.convolutions:
            x = functional.gelu(convolution(functional.pad(x, (KERNEL - 1, 0))))
        logits: Tensor = self.output(x.transpose(1, 2))
        return logits


@dataclass(frozen=True)
class Network:
    """One of the four: what makes it from a number of layers, and how many steps must follow one another."""

    make: Callable[[int], nn.Module]
    steps_in_a_row: Callable[[int, int], int]  # from length and layers


# A recurrent layer may begin a token as soon as the layer below has finished it: length + layers - 1 steps.
NETWORKS = {
    "attention": Network(AttentionNetwork, lambda length, layers: layers),
    "recurrent": Network(RecurrentNetwork, lambda length, layers: length + layers - 1),
    "recurrent with gates": Network(GatedNetwork, lambda length, layers: length + layers - 1),
    "convolution": Network(ConvolutionalNetwork, lambda length, layers: layers),
}


def recall_batch(
    distances: Int[Tensor, " row"], generator: torch.Generator
) -> tuple[Int[Tensor, "row pos"], Int[Tensor, " row"]]:
    """Rows of fillers with a symbol so many tokens before the last one, which is to be named there; and the symbols."""
    rows, length = len(distances), int(distances.max()) + 1
    ids = torch.randint(SYMBOLS, VOCABULARY, (rows, length), generator=generator)
    symbols = torch.randint(SYMBOLS, (rows,), generator=generator)
    ids[torch.arange(rows), length - 1 - distances] = symbols
    return ids, symbols


def parameters(network: nn.Module) -> int:
    """How many numbers a network learns."""
    return sum(parameter.numel() for parameter in network.parameters())
