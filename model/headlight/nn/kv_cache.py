"""The key/value cache: keys and values of the tokens that a stack has already processed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from headlight.nn.attention import UpdateCache

KeyValues = Mapping[str, tuple[Tensor, Tensor]]


@dataclass
class KVCache:
    """Keys and values of the first `length` tokens, by the path of their attention (`decoder.3`)."""

    length: int = 0
    key_values: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def updater(self, path: str) -> UpdateCache:
        """The function that appends one attention's new keys and values and gives back all of them."""

        def update(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            if path in self.key_values:
                k, v = (
                    torch.cat(old_and_new, dim=2) for old_and_new in zip(self.key_values[path], (k, v), strict=True)
                )
            self.key_values[path] = (k, v)
            return k, v

        return update


def common_prefix_length(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the longest common beginning of two texts, in tokens."""
    length = min(len(one), len(other))
    return next((position for position in range(length) if one[position] != other[position]), length)


def truncate_key_values(key_values: KeyValues, length: int) -> dict[str, tuple[Tensor, Tensor]]:
    """The keys and values of the first `length` tokens, where no token attends to a later one."""
    return {path: (k[:, :, :length], v[:, :, :length]) for path, (k, v) in key_values.items()}
