"""A hook that leaves residual connections or norms out of a model that runs."""

from __future__ import annotations

from torch import Tensor

RESIDUALS = ("residual", "residual_after_self", "residual_after_cross")


class SublayerSwitches:
    """A hook on the blocks of a pre-norm model: x + f(norm(x)) without its x, or without its norm.

    Where `residual` is off, the stream after a sublayer is that sublayer's output alone; where `norm` is off, a
    sublayer reads the stream as it is. Use a new one for each forward pass: it remembers the values before.
    """

    def __init__(self, residual: bool = True, norm: bool = True) -> None:
        self.residual, self.norm = residual, norm
        self._stream: Tensor | None = None
        self._output: Tensor | None = None

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value, as it is without the parts that are off."""
        name = path.rpartition(".")[2]
        if name in RESIDUALS:
            self._stream = value if self.residual or self._output is None else self._output
            return self._stream
        if name == "input" and not self.norm and self._stream is not None:
            return self._stream
        if name == "output":
            self._output = value
        return value
