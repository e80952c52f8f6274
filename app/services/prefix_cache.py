"""What models have read lately while writing, so that a step reads one token and going back costs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from weakref import ReferenceType, ref

from model.generation.generate import Past, Writer
from model.nn.transformer import Transformer

Line = tuple[tuple[str, ...], tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Held:
    """A past, and whose it is: the model as it is wired, its edits, and the source it reads."""

    model: ReferenceType[Transformer]
    line: Line
    past: Past


class Pasts:
    """Pasts by what was read, never by who asked; the ones used longest ago are given away past `budget` bytes.

    A past that another one begins with is not held twice, for it can be cut from the longer one.
    """

    def __init__(self, budget: int = 256 << 20) -> None:
        self.budget = budget
        self.held: list[Held] = []  # the one used last comes last
        self.lock = Lock()

    def longest(self, writer: Writer, ids: tuple[int, ...]) -> Past | None:
        """The longest known beginning of a text that leaves at least its last token to read."""
        with self.lock:
            shared = [(_common(held.past.ids, ids[:-1]), held) for held in self.held if _of(held, writer)]
            length, best = max(shared, key=lambda pair: pair[0], default=(0, None))
            if best is None or length == 0:
                return None
            self.held.remove(best)
            self.held.append(best)
        return best.past.upto(length)

    def hold(self, writer: Writer, past: Past) -> None:
        """Keep what a writer remembers."""
        if not past.pairs:
            return
        new = Held(ref(writer.model), _line(writer), past)
        with self.lock:
            others = [held for held in self.held if held.model() is not None and not _begins(held, new, writer)]
            self.held = [*others, new]
            while len(self.held) > 1 and sum(held.past.bytes for held in self.held) > self.budget:
                self.held.pop(0)


def _line(writer: Writer) -> Line:
    return tuple(map(str, writer.edits)), writer.source.ids if writer.source else ()


def _of(held: Held, writer: Writer) -> bool:
    return held.model() is writer.model and held.line == _line(writer)


def _begins(held: Held, new: Held, writer: Writer) -> bool:
    return _of(held, writer) and new.past.ids[: len(held.past.ids)] == held.past.ids


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many tokens two texts begin with alike."""
    length = min(len(one), len(other))
    return next((place for place in range(length) if one[place] != other[place]), length)


@lru_cache(maxsize=1)
def pasts() -> Pasts:
    """The one store of this process; a past never changes, so visitors may share it."""
    return Pasts()
