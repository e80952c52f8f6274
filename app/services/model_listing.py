"""What everybody can open here: looked up often, read once."""

from __future__ import annotations

import os
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic

from app.access.settings import settings
from model.checkpoints import Entry
from model.checkpoints.catalog import VARIABLE, places, size
from model.checkpoints.metadata import Facts, facts

LASTING = 10.0  # seconds for which a look at the folders holds
_STAMPS: ContextVar[dict[Path, int] | None] = ContextVar("stamps", default=None)


@dataclass(frozen=True)
class Card:
    """A checkpoint as the page shows it; `bytes` on disk. `title` is its name where a person reads it."""

    name: str
    title: str
    folder: Path
    shipped: bool
    bytes: int
    facts: Facts
    own: bool = False

    @property
    def entry(self) -> Entry | None:
        """It as an entry of the catalogue; None where it cannot be opened."""
        config = self.facts.config
        return None if config is None else Entry(self.name, self.folder, config, self.shipped)


def cards(*, fresh: bool = False) -> tuple[Card, ...]:
    """All that this server offers, in the catalogue's order; what is broken too. `fresh` looks again at once."""
    if fresh:
        _cards.cache_clear()
    chosen = settings()
    return _cards(os.environ.get(VARIABLE, ""), chosen.cache, chosen.shared, int(monotonic() / LASTING))


def look(name: str, title: str, folder: Path, *, shipped: bool = False, own: bool = False) -> Card:
    """A card for a folder, read again only where one of its files has changed."""
    return Card(name, title, folder, shipped, size(folder), known(folder, stamp(folder), title), own)


def look_once() -> None:
    """From here on, and within this context only, each folder is looked at once.

    One question asks for its model some thirty times, and all its parts should come from the same one.
    """
    _STAMPS.set({})


def stamp(folder: Path) -> int:
    """When a file of a folder was last written: a model trained anew is not the one that was opened."""
    seen = _STAMPS.get()
    if seen is None:
        return _written(folder)
    if folder not in seen:
        seen[folder] = _written(folder)
    return seen[folder]


def _written(folder: Path) -> int:
    files = folder.iterdir() if folder.is_dir() else (folder,)
    return max((path.stat().st_mtime_ns for path in files if path.exists()), default=0)  # a link may lead to nothing


@lru_cache(maxsize=2)
def _cards(folders: str, cache: bool, shared: bool, tick: int) -> tuple[Card, ...]:
    found = []
    for place in places(cache=cache, inside=shared):
        try:
            found.append(look(place.name, place.name, place.folder, shipped=place.shipped))
        except OSError:
            continue  # removed meanwhile
    return tuple(found)


@lru_cache(maxsize=512)
def known(folder: Path, stamp: int, title: str) -> Facts:
    """What is told of a folder as it was at a stamp; sentences call it by its title."""
    return facts(folder, title)
