"""Per-layer embeddings: each token has a vector for each layer, read by a sublayer at the end of the layer.

Introduced by Gemma 3n (Google 2025); implemented as in Gemma 4.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from headlight.array_types import Float, Int
from headlight.config import Config
from headlight.nn.hooks import Hook
from headlight.nn.layers import ACTIVATIONS, Linear, make_norm


class LayerEmbedding(nn.Module):
    """Each token's vector for each layer: (a row of the table + the normed projection of its embedding) / sqrt(2)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.layers, self.dim, self.d_model = config.layers, config.layer_embedding.dim, config.d_model
        rows = config.layer_embedding.vocabulary_size or config.vocabulary_size
        self.table, self.reads_all_tokens = nn.Embedding(rows, self.layers * self.dim), rows >= config.vocabulary_size
        self.projection = Linear(self.d_model, self.layers * self.dim, bias=False)
        self.norm = make_norm(config, self.dim)

    def forward(
        self, ids: Int[Tensor, "batch pos"], embedded: Float[Tensor, "batch pos d_model"]
    ) -> Float[Tensor, "batch pos layer layer_channel"]:
        """The vector of each token for each layer."""
        known = ids if self.reads_all_tokens else torch.where(ids < self.table.num_embeddings, ids, 0)
        rows = self.table(known) * self.dim**0.5
        projected = self.projection(embedded) * self.d_model**-0.5
        of_layers = (*ids.shape, self.layers, self.dim)
        vectors: Tensor = (rows.view(of_layers) + self.norm(projected.view(of_layers))) * 2**-0.5
        return vectors


class LayerEmbeddingGate(nn.Module):
    """The sublayer that writes each token's vector, gated by a function of the residual stream."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[config.layer_embedding.activation]
        self.gate = Linear(config.d_model, config.layer_embedding.dim, bias=False)
        self.projection = Linear(config.layer_embedding.dim, config.d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "batch pos d_model"], vector: Float[Tensor, "#batch pos layer_channel"], hook: Hook
    ) -> Float[Tensor, "batch pos d_model"]:
        """projection(activation(gate(x)) * vector)."""
        gate: Tensor = self.activation(self.gate(hook("input", x)))
        return hook("output", self.projection(gate * hook("token_vector", vector)))
