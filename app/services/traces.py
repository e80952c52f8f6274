"""Memory between questions: models by name, traces by what was asked (app.pasts: by what was read); never by arrays.

A name is looked up for whoever asks, each time: what is one visitor's alone is found by nobody else, kept or not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock

import numpy as np

from app.access.settings import settings
from app.access.uploads import guests
from app.access.visitor import visitor
from app.services.images import gallery
from app.services.model_listing import Card, cards, known, look, stamp
from app.services.model_pool import Models, Opened
from app.state.state import Question
from model.analysis.position_profile import Waves, waves
from model.array_types import Float
from model.checkpoints import Entry, Loaded, load, remark, scan
from model.checkpoints.load import choose_device
from model.checkpoints.memory import SHARE, free
from model.errors import CheckpointError
from model.nn.masks import parse
from model.nn.transformer import Transformer
from model.nn.variants import variant
from model.tracing.recompute import logits_at
from model.tracing.run import SEEDS, pairs, parsed, run
from model.tracing.trace import Trace

PAIRS = ("*.weights", "*.mask")
LONG = 192 << 20  # bytes that the weights of all heads may take; those of a longer text are made when somebody looks
MODELS_SHARE = 0.6  # of the memory that is free at first may go to open models
Key = tuple[Question, tuple[str, ...], Path, int]


class Shelf:
    """Traces by question, the least recently used given away once they fill `budget` bytes."""

    def __init__(self, budget: int = 512 << 20) -> None:
        self.budget = budget
        self.size = 0
        self.traces: OrderedDict[Key, Trace] = OrderedDict()
        self.making: dict[Key, Lock] = {}
        self.lock = Lock()

    def get(self, key: Key, make: Callable[[], Trace]) -> Trace:
        """The trace of a question, made now if it is not here; who asks the same meanwhile waits for it."""
        with self.lock:
            making = self.making.setdefault(key, Lock())
        try:
            with making:
                return self._here(key) or self._keep(key, make())
        finally:
            with self.lock:
                self.making.pop(key, None)

    def drop(self, folder: Path) -> None:
        """Give away what came from a folder."""
        with self.lock:
            for key in [key for key in self.traces if key[2] == folder]:
                self.size -= weight(self.traces.pop(key))

    def _here(self, key: Key) -> Trace | None:
        with self.lock:
            if key in self.traces:
                self.traces.move_to_end(key)
            return self.traces.get(key)

    def _keep(self, key: Key, trace: Trace) -> Trace:
        with self.lock:
            if key not in self.traces:
                self.traces[key] = trace
                self.size += weight(trace)
            while self.size > self.budget and len(self.traces) > 1:
                self.size -= weight(self.traces.popitem(last=False)[1])
        return trace


def weight(trace: Trace) -> int:
    """How many bytes the arrays of a trace take."""
    return sum(value.nbytes for value in trace.values.values())


@lru_cache(maxsize=1)
def shelf() -> Shelf:
    """The one shelf of this process; traces are frozen, so visitors may share them."""
    return Shelf()


def models() -> tuple[Entry, ...]:
    """Everything that this visitor can open by name: what the server offers, then what they brought themselves."""
    return tuple(entry for card in (*cards(), *own_cards()) if (entry := card.entry))


def own_cards() -> tuple[Card, ...]:
    """What this visitor brought."""
    mine = guests().of(visitor())
    return tuple(look(guest.name, guest.title, guest.folder, own=True) for guest in mine if guest.folder.exists())


@lru_cache(maxsize=8)
def devices() -> tuple[str, ...]:
    """The devices of this machine, `auto` first."""

    def present(name: str) -> bool:
        try:
            choose_device(name)
        except CheckpointError:
            return False
        return True

    return ("auto", *(name for name in ("cpu", "cuda", "mps") if present(name)))


@lru_cache(maxsize=1)
def opened() -> Models:
    """The one store of open models of this process; they never change, so visitors may share them."""
    limit = settings().memory_limit
    return Models(limit << 20 if limit else int(free() * MODELS_SHARE))


def loaded(model: str, device: str = "auto") -> Loaded:
    """A model that this visitor may open, opened once. Raises CheckpointError for any other name, paths included."""
    return _opened(_found(model), device, opened()).loaded


def wired(question: Question) -> Transformer:
    """The model a question is for, with the parts that the question exchanges."""
    store = opened()  # asked once: where two ask first at the same moment each has one of its own
    model = _opened(_found(question.model), question.device, store)
    masks, position, kernel = question.masks, question.position, question.kernel

    def make() -> Transformer:
        return variant(
            model.loaded.model,
            position=position or None,
            kernel=kernel or None,
            masks=parse(masks) if masks else None,
            scale={"on": True, "off": False}.get(question.scale),
        )

    return store.wired(model, (masks, position, kernel, question.scale), make)


def long(question: Question) -> bool:
    """Whether a question's texts are so long that their weights are made only for who looks (`model.again`)."""
    config = wired(question).config
    heads = config.heads * (config.layers + config.encoder_layers)
    most = 2 + len((question.text + question.source).encode("utf-8", "surrogatepass"))
    most = config.context if config.picture.channels else most
    if 4 * heads * most**2 <= LONG:  # no text has more tokens than bytes, but for those around it
        return False
    traced = trace(question, _kept(question, whole=False))
    return pairs(config, traced.text, traced.source, sites=1) > LONG


def trace(question: Question, keep: tuple[str, ...] = ()) -> Trace:
    """What the model does with a question; `keep` are the patterns of paths to hold.

    By itself that is what the page shows first; of a long text what everything else can be made from.
    """
    keep = keep or _kept(question, whole=not long(question))
    model, tokenizer = wired(question), loaded(question.model, question.device).tokenizer
    source = question.source if model.config.has_cross else None
    reads = model.config.picture
    # Found for whoever asks, each time: a picture that a visitor brought is nobody else's.
    read = gallery().seen(visitor(), question.image, reads) if reads.channels else question.text

    def make() -> Trace:
        edits, masked = question.edits, question.masked
        return run(model, tokenizer, read, edits, source=source, masked=masked, keep=keep)

    return shelf().get((question, keep, *place(question.model)), make)


def _kept(question: Question, whole: bool) -> tuple[str, ...]:
    """What is held of a text that is `whole` or long.

    Logits for a vocabulary are made where one is looked at, unless an edit of them needs all tokens at once.
    """
    words = wired(question).config.top in ("language", "masked-language")
    apart = all(edit.one_row or not edit.matches("logits") for edit in parsed(question.edits))
    return (*(PAIRS if whole else SEEDS), "*.final" if words and apart else "logits")


def value(question: Question, path: str) -> np.ndarray:
    """One value by its path: from the trace that is there, or made again to hold just this one."""
    kept = trace(question)
    return kept[path] if path in kept.values else trace(question, (path,))[path]


def said(question: Question, position: int) -> Float[np.ndarray, " answer"]:
    """The logits at one position of a text of any length; of the whole text, where that is what is classified."""
    traced = trace(question)  # for whoever asks, each time, as above
    if traced.config.top == "sequence-classifier":
        return np.asarray(traced["logits"])
    return _said(question, position, *place(question.model))


def picture(question: Question, length: int, stack: str) -> Waves:
    """The position scheme of a question's model over `length` positions; text and edits do not matter."""
    return _picture(wiring(question), length, stack, *place(question.model))


def wiring(question: Question) -> Question:
    """The question without what only concerns the text."""
    return replace(question, text="", source="", image="", edits=(), masked=())


def forget(folder: Path) -> None:
    """Let go of everything that was made of a folder."""
    opened().drop(folder)
    shelf().drop(folder)


def discard(name: str) -> None:
    """Delete an upload of this visitor, or close a folder that they opened."""
    guest = guests().remove(visitor(), name)
    if guest:
        forget(guest.folder)


def place(model: str) -> tuple[Path, int]:
    """Where a model lies that this visitor may open, and its stamp: what else is kept of it is kept under both."""
    folder, _ = _found(model)
    return folder, stamp(folder)


def health(model: str, device: str = "auto") -> str:
    """What to say of weights that are no numbers; empty where all are. Looks at each weight, once."""
    return _health(model, device, *place(model))


def _found(model: str) -> tuple[Path, str]:
    """The folder and title of a model that this visitor may open: one that is offered, or one they brought."""
    for fresh in (False, True):  # a model trained a moment ago is there, and one removed is not
        offered = {card.name: (card.folder, card.title) for card in cards(fresh=fresh)}
        guest = None if model in offered else guests().find(visitor(), model)
        folder, title = (guest.folder, guest.title) if guest else offered.get(model, (None, ""))
        if folder and folder.exists():
            return folder, title
    raise CheckpointError(f"There is no model {model[:200]!r}. Known: {', '.join(offered) or 'none'}.")


def _opened(found: tuple[Path, str], device: str, store: Models) -> Opened:
    folder, title = found
    written = stamp(folder)
    facts = known(folder, written, title)
    if facts.problem:
        raise CheckpointError(facts.problem)

    def open_now() -> Loaded:
        return load(folder, name=title, device=device, limit=min(store.budget, int(free() * SHARE)))

    return store.get((folder, written, device), facts.memory, open_now)


@lru_cache(maxsize=256)
def _health(model: str, device: str, folder: Path, stamp: int) -> str:
    return remark(scan(loaded(model, device)))


@lru_cache(maxsize=16)  # a row for each letter typed, and those that changes are compared with
def _said(question: Question, position: int, folder: Path, stamp: int) -> np.ndarray:
    logits = logits_at(wired(question), trace(question), position)
    logits.flags.writeable = False
    return logits


@lru_cache(maxsize=32)
def _picture(question: Question, length: int, stack: str, folder: Path, stamp: int) -> Waves:
    return waves(wired(question), length, stack)
