"""Key/value caches of recent texts, so that a step reads only one token and going back needs no computation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple
from weakref import ReferenceType, ref

from headlight.generation.generate import Prefix, TextGenerator
from headlight.nn.attention import common_prefix_length
from headlight.nn.transformer import Transformer


class RunKey(NamedTuple):
    """What the keys and values of a text depend on besides its model and its tokens; and whose they are.

    The patches of all images have the same ids, and so have the frames of all sounds: `signal` is the digest of their
    numbers, b"" for a source text.
    """

    edits: tuple[str, ...]
    source: tuple[int, ...]
    signal: bytes
    owner: str


@dataclass(frozen=True, eq=False)
class CachedPrefix:
    """A prefix with its key/value cache, and its key: the model variant and the rest."""

    model: ReferenceType[Transformer]
    key: RunKey
    prefix: Prefix


class PrefixCache:
    """Prefixes by text and `owner`; beyond `budget` bytes the least recently used are dropped.

    A prefix of another prefix is not stored separately: it is truncated from the longer one.
    """

    def __init__(self, budget: int = 96 << 20) -> None:
        self.budget = budget
        self.entries: list[CachedPrefix] = []  # least recently used first

    def longest_prefix(self, generator: TextGenerator, ids: tuple[int, ...], owner: str = "") -> Prefix | None:
        """The longest cached prefix of a text, excluding at least its last token."""
        key = _run_key(generator, owner)
        matches = [
            (common_prefix_length(entry.prefix.ids, ids[:-1]), entry)
            for entry in self.entries
            if entry.model() is generator.model and entry.key == key
        ]
        length, best = max(matches, key=lambda pair: pair[0], default=(0, None))
        if best is None or length == 0:
            return None
        self.entries.remove(best)
        self.entries.append(best)
        return best.prefix.truncate(length)

    def store(self, generator: TextGenerator, prefix: Prefix, owner: str = "") -> None:
        """Store the prefix that a generator has read."""
        if not prefix.key_values:
            return
        new = CachedPrefix(ref(generator.model), _run_key(generator, owner), prefix)
        others = [entry for entry in self.entries if entry.model() is not None and not _is_prefix_of(entry, new)]
        self.entries = [*others, new]
        self.shrink(self.budget)

    def shrink(self, size: int) -> None:
        """Drop the least recently used prefixes beyond `size` bytes."""
        while len(self.entries) > 1 and sum(held.prefix.bytes for held in self.entries) > size:
            self.entries.pop(0)


def _run_key(generator: TextGenerator, owner: str) -> RunKey:
    source = generator.source
    ids, signal = (source.ids, source.signal) if source else ((), None)
    digest = b"" if signal is None else sha256(signal.tobytes()).digest()
    return RunKey(tuple(map(str, generator.edits)), ids, digest, owner)


def _is_prefix_of(entry: CachedPrefix, new: CachedPrefix) -> bool:
    return (entry.model(), entry.key) == (new.model(), new.key) and new.prefix.ids[
        : len(entry.prefix.ids)
    ] == entry.prefix.ids


@lru_cache(maxsize=1)
def prefix_cache() -> PrefixCache:
    """The one cache of this process."""
    return PrefixCache()
