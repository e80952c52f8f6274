"""Open models, as many as fit into a stated number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Condition
from time import monotonic
from weakref import WeakKeyDictionary, finalize

from model.checkpoints import Checkpoint
from model.errors import CheckpointError
from model.nn.transformer import Transformer

MAX_WAIT_SECONDS = 20.0  # seconds in which those who use other models should be done
MAX_VARIANTS = 8  # of one model that are remembered
ModelKey = tuple[Path, int, str]
VariantKey = tuple[str, str, str, str]


class MemoryReservation:
    """Stands for the bytes of one model; when nothing that uses its weights is left, they are free."""


class PooledModel:
    """One open model, and its variants, which share its weights."""

    def __init__(self, loaded: Checkpoint) -> None:
        self.checkpoint = loaded
        self.variants: OrderedDict[VariantKey, Transformer] = OrderedDict()


class ModelPool:
    """Models by folder, modification time and device; the least recently used are closed past `budget` bytes.

    What is given away while somebody still uses it counts until they are done; who opens another one waits for that.
    """

    def __init__(self, budget: int, max_wait: float = MAX_WAIT_SECONDS) -> None:
        self.budget, self.max_wait = budget, max_wait
        self.models: OrderedDict[ModelKey, PooledModel] = OrderedDict()
        self.loading: dict[ModelKey, int] = {}
        self.reservations: WeakKeyDictionary[Transformer, MemoryReservation] = WeakKeyDictionary()
        self.reserved_bytes = 0
        self.changed = Condition()

    def get(self, key: ModelKey, size: int, load: Callable[[], Checkpoint]) -> PooledModel:
        """The open model of a key, loaded now if it is not here; it will take `size` bytes.

        Raises CheckpointError where they are more than there may be, or stay in use.
        """
        with self.changed:
            while key in self.loading:
                self.changed.wait()
            if key in self.models:
                self.models.move_to_end(key)
                return self.models[key]
            self._free_memory(size)
            self.loading[key] = size
        try:
            pooled = PooledModel(load())
            with self.changed:
                self._reserve(pooled.checkpoint.model, size)
                self.models[key] = pooled
            return pooled
        finally:
            with self.changed:
                del self.loading[key]
                self.changed.notify_all()

    def variant(self, pooled: PooledModel, key: VariantKey, build: Callable[[], Transformer]) -> Transformer:
        """A variant of a model, built once; it keeps the memory reservation of the weights that it shares."""
        with self.changed:
            if key not in pooled.variants:
                pooled.variants[key] = build()
                self.reservations[pooled.variants[key]] = self.reservations[pooled.checkpoint.model]
            pooled.variants.move_to_end(key)
            model = pooled.variants[key]
            if len(pooled.variants) > MAX_VARIANTS:
                pooled.variants.popitem(last=False)
        return model

    def _reserve(self, model: Transformer, size: int) -> None:
        reservation = self.reservations[model] = MemoryReservation()
        self.reserved_bytes += size
        finalize(reservation, self._release, size)

    def _release(self, size: int) -> None:
        with self.changed:
            self.reserved_bytes -= size
            self.changed.notify_all()

    def _free_memory(self, size: int) -> None:
        """Give models away until `size` bytes are free."""
        if size > self.budget:
            raise CheckpointError(
                f"This model takes {size / 1e9:,.2f} GB of memory; {self.budget / 1e9:,.2f} GB are allowed here."
            )
        deadline = monotonic() + self.max_wait
        while self.reserved_bytes + sum(self.loading.values()) + size > self.budget:
            if self.models:
                self.models.popitem(last=False)
                continue
            remaining = deadline - monotonic()
            if remaining <= 0:
                raise CheckpointError(
                    "The memory for models is full with others that are in use. Try again in a moment."
                )
            self.changed.wait(remaining)
