"""ResidualConfig: how the sublayers of a block read and write the residual stream."""

from __future__ import annotations

from dataclasses import dataclass

from headlight.config.bounds import MAX_WIDTH, check_sizes
from headlight.errors import ConfigError

MAX_STREAMS = 64  # residual streams, each as wide as the model


@dataclass(frozen=True, kw_only=True)
class AlternatingUpdatesConfig:
    """Several residual streams side by side, of which each block reads and writes one (AltUp; Baykal et al. 2023).

    Before the block all streams are predicted from one another; its change of one stream then corrects all.
    """

    streams: int = 1
    active: int = 0  # number of the stream that blocks read and write
    output_scale: bool = False  # the gate of a layer's embedding reads the active stream times a vector (Gemma 3n)

    def check(self) -> None:
        """Raise ConfigError unless a model can have such streams."""
        path = "residual.alternating_updates"
        if not 1 <= self.streams <= MAX_STREAMS:
            raise ConfigError(f"{path}.streams is {self.streams}; it must be from 1 to {MAX_STREAMS}.")
        if not 0 <= self.active < self.streams:
            raise ConfigError(f"{path}.active is {self.active}; there are {self.streams} streams, from 0.")


@dataclass(frozen=True, kw_only=True)
class ResidualConfig:
    """What the residual stream has besides one sum after each sublayer."""

    parallel: bool = False  # attention and feed-forward of a block read the same input (GPT-J)
    scale: bool = False  # multiply the stream after each block by a learned number (Gemma 4)
    laurel_rank: int = 0  # of a linear map in parallel to each self-attention (LAuReL; Menghani et al. 2024); 0: none
    alternating_updates: AlternatingUpdatesConfig = AlternatingUpdatesConfig()

    def check(self) -> None:
        """Raise ConfigError unless a model can have such a stream."""
        check_sizes(self, {"laurel_rank": MAX_WIDTH}, "residual.")
        self.alternating_updates.check()
