"""Options of the token embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headlight.config.bounds import MAX_TOKENS, MAX_WIDTH
from headlight.errors import ConfigError

DROPPED_SHARE = 0.15 * 0.8  # share of tokens replaced by the mask token in training (Lin et al. 2023, ESM-2)


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig:
    """How tokens become the first residual stream."""

    dim: int = 0  # channels; 0: d_model
    scale: float = 1.0  # multiplies token embeddings
    # What is projected to d_model. "tokens": token embeddings (OPT); "all": their sum with positions (ALBERT).
    projection: Literal["none", "tokens", "all"] = "none"
    segments: int = 0  # segment embeddings (BERT): one for each text of a pair
    separate_encoder: bool = False  # the encoder of an encoder-decoder has its own table
    # The embedding of this token is 0. The others are multiplied by (1 - DROPPED_SHARE) / (their share of the text), as
    # DROPPED_SHARE of the tokens were dropped in training (ESM-2).
    dropped_token_id: int | None = None
    norm: bool = False  # a norm of the embeddings, with positions added, before the first block (BERT, BLOOM)
    tied: bool = True  # the output head uses the embedding table as well (Press & Wolf 2017)


@dataclass(frozen=True, kw_only=True)
class LayerEmbeddingConfig:
    """A vector that each token has for each layer: a row of a table plus a projection of its embedding (Gemma 3n).

    Each block ends with a sublayer that reads the vector through a gate.
    """

    dim: int = 0  # channels; 0: no such vector
    vocabulary_size: int = 0  # rows of the table; 0: the model's vocabulary. Tokens beyond it read the first row
    activation: str = "gelu-tanh"  # of the gate

    def check(self) -> None:
        """Raise ConfigError for sizes out of range."""
        for name, most in (("dim", MAX_WIDTH), ("vocabulary_size", MAX_TOKENS)):
            if not 0 <= (size := getattr(self, name)) <= most:
                raise ConfigError(f"layer_embedding.{name} is {size}; it must be from 0 to {most:,}.")
