"""A hook that leaves residual connections or norms out of a model that runs."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.config import Config
from headlight.nn.stack import NORM_PLACEMENTS, ResidualConnection
from headlight.nn.transformer import Transformer

RESIDUALS = ("residual", "residual_after_self", "residual_after_cross")
CONNECTIONS = {"self": "self_attention_residual", "cross": "cross_attention_residual"}  # by a part of a path


class SublayerSwitches:
    """A hook on the blocks of a model: each residual connection without its stream, or without its norms.

    Where `residual` is off, a sublayer's output is added to nothing; where `norm` is off, the norms, wherever they
    stand, are left out. Use a new one for each forward pass: it remembers the values before.
    """

    def __init__(self, model: Transformer, residual: bool = True, norm: bool = True) -> None:
        self.model, self.residual, self.norm = model, residual, norm
        self._stream: Tensor | None = None
        self._output: tuple[ResidualConnection, Tensor] | None = None

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value, as it is without the parts that are off."""
        place, _, name = path.rpartition(".")
        if name in RESIDUALS:
            self._stream = value if self._stream is None or self._output is None else self._joined(self._stream)
            return self._stream
        if name == "input" and not self.norm and self._stream is not None:
            return self._stream
        if name == "output":
            self._output = self._connection(place), value
        return value

    def _connection(self, path: str) -> ResidualConnection:
        """The residual connection around the sublayer at a path (`decoder.3.self`)."""
        stack, layer, sublayer = path.split(".")
        block = self.model.stack(stack).blocks[int(layer)]
        connection = getattr(block, CONNECTIONS.get(sublayer, "feed_forward_residual"))
        assert isinstance(connection, ResidualConnection)
        return connection

    def _joined(self, stream: Tensor) -> Tensor:
        """The stream after a sublayer, by the connection's own arithmetic with the parts that are on."""
        assert self._output is not None
        connection, output = self._output
        norms = (connection.norm, connection.output_norm) if self.norm else (torch.nn.Identity(), torch.nn.Identity())
        residual = stream if self.residual else torch.zeros_like(stream)
        return connection.placement.apply(stream, residual, norms[0], lambda h: output, norms[1])


def can_separate(config: Config) -> bool:
    """Whether norms and residual connections can be switched off one without the other.

    Not where sublayers stand side by side, nor where the stream itself is replaced by its norm.
    """
    return not config.parallel_residual and NORM_PLACEMENTS[config.norm_placement].norm_on_stream != "before"
