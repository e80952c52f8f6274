"""The key/value cache: keys and values of the tokens that a stack has already read."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from model.nn.attention import UpdateCache


@dataclass
class KVCache:
    """Keys and values of the tokens already read, by the path of their attention."""

    length: int = 0
    key_values: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def updater(self, path: str) -> UpdateCache:
        """The memory of one attention: gives back everything so far, the new ones last."""

        def update(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            if path in self.key_values:
                k, v = (
                    torch.cat(old_and_new, dim=2) for old_and_new in zip(self.key_values[path], (k, v), strict=True)
                )
            self.key_values[path] = (k, v)
            return k, v

        return update
