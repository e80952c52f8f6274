"""The key/value cache: keys and values of the tokens that a stack has already read."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from model.nn.attention import Remember


@dataclass
class Cache:
    """Keys and values of the tokens already read, by the path of their attention."""

    length: int = 0
    pairs: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def at(self, path: str) -> Remember:
        """The memory of one attention: gives back everything so far, the new ones last."""

        def remember(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            if path in self.pairs:
                k, v = (torch.cat(both, dim=2) for both in zip(self.pairs[path], (k, v), strict=True))
            self.pairs[path] = (k, v)
            return k, v

        return remember
