"""Open models, as many as fit into a budget of bytes."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary

from headlight.checkpoints import Checkpoint
from headlight.errors import CheckpointError
from headlight.nn.transformer import Transformer
from headlight_app.contract.question import Variant

MAX_VARIANTS = 8  # kept per model
ModelKey = tuple[Path, int, str]


class MemoryReservation:
    """Represents the memory of one model; it is released when no model that shares the weights is left."""


class PooledModel:
    """One open model, and its variants, which share its weights."""

    def __init__(self, loaded: Checkpoint) -> None:
        self.checkpoint = loaded
        self.variants: OrderedDict[Variant, Transformer] = OrderedDict()


class ModelPool:
    """Models by folder, modification time and device; beyond `budget` bytes the least recently used are closed.

    A closed model counts until nothing uses it any more. Only one thread may use a pool.
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.models: OrderedDict[ModelKey, PooledModel] = OrderedDict()
        self.reservations: WeakKeyDictionary[Transformer, MemoryReservation] = WeakKeyDictionary()
        self.sizes: WeakKeyDictionary[MemoryReservation, int] = WeakKeyDictionary()

    @property
    def reserved_bytes(self) -> int:
        """The bytes of all models in memory."""
        return sum(self.sizes.values())

    def get(self, key: ModelKey, size: int, load: Callable[[], Checkpoint]) -> PooledModel:
        """The open model of a key, loaded if needed; it takes `size` bytes.

        Raises CheckpointError if they exceed the budget, or what the models in use leave of it.
        """
        if key not in self.models:
            self._free_memory(size)
            pooled = PooledModel(load())
            model = pooled.checkpoint.model
            if self.reserved_bytes + size + model.packed_bytes > self.budget:
                model.unpack_weights()
            reservation = self.reservations[model] = MemoryReservation()
            self.sizes[reservation] = size + model.packed_bytes
            self.models[key] = pooled
        self.models.move_to_end(key)
        return self.models[key]

    def variant(self, pooled: PooledModel, key: Variant, build: Callable[[], Transformer]) -> Transformer:
        """A variant of a model, built once; it shares the weights and their memory reservation."""
        if key not in pooled.variants:
            pooled.variants[key] = build()
            self.reservations[pooled.variants[key]] = self.reservations[pooled.checkpoint.model]
        pooled.variants.move_to_end(key)
        model = pooled.variants[key]
        if len(pooled.variants) > MAX_VARIANTS:
            pooled.variants.popitem(last=False)
        return model

    def _free_memory(self, size: int) -> None:
        """Close models until `size` bytes are free."""
        if size > self.budget:
            raise CheckpointError(
                f"This model takes {size / 1e9:,.2f} GB of memory; {self.budget / 1e9:,.2f} GB are allowed here."
            )
        while self.reserved_bytes + size > self.budget and self.models:
            self.models.popitem(last=False)
        if self.reserved_bytes + size > self.budget:
            gc.collect()
        if self.reserved_bytes + size > self.budget:
            raise CheckpointError(
                f"The models that are in use take more than the {self.budget / 1e9:,.2f} GB of memory that are allowed "
                "here. Choose smaller ones."
            )
