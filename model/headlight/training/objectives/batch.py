"""A batch: model inputs and targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from headlight.array_types import Bool, Float, Int

IGNORE_INDEX = -100  # marks positions without a target


@dataclass(frozen=True)
class Batch:
    """Rows of tokens and their targets, which are IGNORE_INDEX at positions without one.

    A row may instead have a single target. `mask` forbids cells of the attention, `padding_mask` is True at tokens; the
    encoder of an encoder-decoder reads `source`, or the `signal`, pixels of images. If `logits` are given, the model
    learns them instead of the targets, up to a constant for each row.
    """

    ids: Int[Tensor, "row pos"]
    targets: Int[Tensor, "row target_pos"]
    mask: Bool[Tensor, "row 1 pos pos"] | None = None
    padding_mask: Bool[Tensor, "row pos"] | None = None
    source: Int[Tensor, "row source"] | None = None
    source_padding_mask: Bool[Tensor, "row source"] | None = None
    signal: Float[Tensor, "row color_channel pixel_row pixel_column"] | None = None
    logits: Float[Tensor, "row label"] | None = None

    @property
    def inputs(self) -> dict[str, Any]:
        """The other arguments of `Transformer.encode_hidden`, by name."""
        names = ("mask", "padding_mask", "source", "source_padding_mask", "signal")
        return {name: getattr(self, name) for name in names}

    @property
    def target_count(self) -> int:
        """The number of targets."""
        return int((self.targets != IGNORE_INDEX).sum())

    @property
    def target_rows(self) -> Int[Tensor, " target"]:
        """The row of each target."""
        return (self.targets != IGNORE_INDEX).nonzero()[:, 0]

    def split(self, rows: int) -> Iterator[Batch]:
        """The same rows in batches of at most `rows`."""
        for at in range(0, len(self.ids), rows):
            yield self._map(lambda tensor, at=at: tensor[at : at + rows])

    def to(self, device: torch.device) -> Batch:
        """The batch on another device."""
        return self._map(lambda tensor: tensor.to(device))

    def _map(self, change: Callable[..., Tensor]) -> Batch:
        tensors: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}
        return replace(self, **{name: change(tensor) for name, tensor in tensors.items() if tensor is not None})
