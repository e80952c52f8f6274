"""Open models, as many as fit into a stated number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Condition
from time import monotonic
from weakref import WeakKeyDictionary, finalize

from model.checkpoints import Loaded
from model.errors import CheckpointError
from model.nn.transformer import Transformer

PATIENCE = 20.0  # seconds in which those who use other models should be done
WIRINGS = 8  # of one model that are remembered
Key = tuple[Path, int, str]
Parts = tuple[str, str, str, str]


class Claim:
    """Stands for the bytes of one model; when nothing that uses its weights is left, they are free."""


class Opened:
    """One open model, and the same weights wired in other ways."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.wirings: OrderedDict[Parts, Transformer] = OrderedDict()


class Models:
    """Models by folder, stamp and device, the least recently used given away where `budget` bytes would not do.

    What is given away while somebody still uses it counts until they are done; who opens another one waits for that.
    """

    def __init__(self, budget: int, patience: float = PATIENCE) -> None:
        self.budget, self.patience = budget, patience
        self.open: OrderedDict[Key, Opened] = OrderedDict()
        self.coming: dict[Key, int] = {}
        self.claims: WeakKeyDictionary[Transformer, Claim] = WeakKeyDictionary()
        self.claimed = 0
        self.changed = Condition()

    def get(self, key: Key, size: int, load: Callable[[], Loaded]) -> Opened:
        """The open model of a key, loaded now if it is not here; it will take `size` bytes.

        Raises CheckpointError where they are more than there may be, or stay in use.
        """
        with self.changed:
            while key in self.coming:
                self.changed.wait()
            if key in self.open:
                self.open.move_to_end(key)
                return self.open[key]
            self._make_room(size)
            self.coming[key] = size
        try:
            opened = Opened(load())
            with self.changed:
                self._claim(opened.loaded.model, size)
                self.open[key] = opened
            return opened
        finally:
            with self.changed:
                del self.coming[key]
                self.changed.notify_all()

    def wired(self, opened: Opened, parts: Parts, make: Callable[[], Transformer]) -> Transformer:
        """A model under other parts, made once; it holds the claim of the weights that it shares."""
        with self.changed:
            if parts not in opened.wirings:
                opened.wirings[parts] = make()
                self.claims[opened.wirings[parts]] = self.claims[opened.loaded.model]
            opened.wirings.move_to_end(parts)
            made = opened.wirings[parts]
            if len(opened.wirings) > WIRINGS:
                opened.wirings.popitem(last=False)
        return made

    def drop(self, folder: Path) -> None:
        """Give away what was opened from a folder that is no more."""
        with self.changed:
            for key in [key for key in self.open if key[0] == folder]:
                del self.open[key]

    def _claim(self, model: Transformer, size: int) -> None:
        claim = self.claims[model] = Claim()
        self.claimed += size
        finalize(claim, self._release, size)

    def _release(self, size: int) -> None:
        with self.changed:
            self.claimed -= size
            self.changed.notify_all()

    def _make_room(self, size: int) -> None:
        """Give models away until `size` bytes are free."""
        if size > self.budget:
            raise CheckpointError(
                f"This model takes {size / 1e9:,.2f} GB of memory; {self.budget / 1e9:,.2f} GB are allowed here."
            )
        until = monotonic() + self.patience
        while self.claimed + sum(self.coming.values()) + size > self.budget:
            if self.open:
                self.open.popitem(last=False)
                continue
            left = until - monotonic()
            if left <= 0:
                raise CheckpointError(
                    "The memory for models is full with others that are in use. Try again in a moment."
                )
            self.changed.wait(left)
