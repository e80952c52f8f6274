"""The only memory between questions: models by name, traces by what was asked. Never keyed by arrays."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock

import numpy as np

from app.state import Question
from model.checkpoint import Entry, Loaded, catalogue, find, load
from model.checkpoint.catalogue import VARIABLE
from model.checkpoint.folder import choose_device
from model.errors import CheckpointError
from model.masks import parse
from model.run import run
from model.trace import Trace
from model.transformer import Transformer, variant
from model.waves import Waves, waves

KEPT = ("*.weights", "*.mask", "logits")
Key = tuple[Question, tuple[str, ...], int]


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
    """Everything that can be opened by name, looked up anew: a model trained meanwhile is there."""
    return catalogue()


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


def loaded(model: str, device: str = "auto") -> Loaded:
    """A model of the catalogue, opened once. Raises CheckpointError for any other name, paths included."""
    folder = _folder(model)
    return _loaded(folder, _stamp(folder), device)


def wired(question: Question) -> Transformer:
    """The model a question is for, with the parts that the question exchanges."""
    folder = _folder(question.model)
    parts = (question.masks, question.position, question.kernel, question.scale)
    return _wired(folder, _stamp(folder), question.device, *parts)


def trace(question: Question, keep: tuple[str, ...] = KEPT) -> Trace:
    """What the model does with a question; `keep` are the patterns of paths to hold."""
    model, tokenizer = wired(question), loaded(question.model, question.device).tokenizer
    source = question.source if model.config.has_cross else None

    def make() -> Trace:
        edits, masked = question.edits, question.masked
        return run(model, tokenizer, question.text, edits, source=source, masked=masked, keep=keep)

    return shelf().get((question, keep, _stamp(_folder(question.model))), make)


def value(question: Question, path: str) -> np.ndarray:
    """One value by its path: from the trace that is there, or made again to hold just this one."""
    kept = trace(question)
    return kept[path] if path in kept.values else trace(question, (path,))[path]


@lru_cache(maxsize=32)
def picture(question: Question, length: int, stack: str) -> Waves:
    """The position scheme of a question's model over `length` positions; text and edits do not matter."""
    return waves(wired(question), length, stack)


def wiring(question: Question) -> Question:
    """The question without what only concerns the text, as a key for `picture`."""
    return replace(question, text="", source="", edits=(), masked=())


def _folder(model: str) -> Path:
    """Where a model of the catalogue lies; looked up once, for reading the catalogue takes as long as a small model."""
    folder = _found(model, os.environ.get(VARIABLE, ""))
    if not folder.is_dir():  # removed meanwhile
        _found.cache_clear()
        folder = _found(model, os.environ.get(VARIABLE, ""))
    return folder


@lru_cache(maxsize=64)
def _found(model: str, folders: str) -> Path:
    return find(model, paths=False)


def _stamp(folder: Path) -> int:
    """When the weights were last written: a model trained anew is not the one that was opened."""
    return max(path.stat().st_mtime_ns for path in folder.iterdir())


@lru_cache(maxsize=4)
def _loaded(folder: Path, stamp: int, device: str) -> Loaded:
    return load(folder, device=device)


@lru_cache(maxsize=32)
def _wired(folder: Path, stamp: int, device: str, masks: str, position: str, kernel: str, scale: str) -> Transformer:
    return variant(
        _loaded(folder, stamp, device).model,
        position=position or None,
        kernel=kernel or None,
        masks=parse(masks) if masks else None,
        scale={"on": True, "off": False}.get(scale),
    )
