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
from app.access.uploads import upload_store
from app.access.visitor import current_visitor
from app.services.images import image_store
from app.services.model_listing import ListedModel, folder_metadata, list_folder, listed_models, modification_time
from app.services.model_pool import ModelPool, PooledModel
from app.state.state import Question
from model.analysis.position_profile import PositionProfile, position_profile
from model.array_types import Float
from model.checkpoints import CatalogEntry, Checkpoint, describe_nonfinite, find_nonfinite, load
from model.checkpoints.load import choose_device
from model.checkpoints.memory import MAX_FREE_FRACTION, free_memory
from model.errors import CheckpointError
from model.nn.masks import parse_masks
from model.nn.transformer import Transformer
from model.nn.variants import variant
from model.tracing.recompute import logits_at
from model.tracing.run import RECOMPUTE_FROM, attention_bytes, parse_interventions, run
from model.tracing.trace import Trace

ATTENTION_PATTERNS = ("*.weights", "*.mask")
MAX_WEIGHTS_BYTES = (
    192 << 20
)  # bytes that the weights of all heads may take; those of a longer text are made when somebody looks
MODEL_MEMORY_FRACTION = 0.6  # of the memory that is free at first may go to open models
TraceKey = tuple[Question, tuple[str, ...], Path, int]


class TraceCache:
    """Traces by question, the least recently used given away once they fill `budget` bytes."""

    def __init__(self, budget: int = 512 << 20) -> None:
        self.budget = budget
        self.size = 0
        self.traces: OrderedDict[TraceKey, Trace] = OrderedDict()
        self.in_progress: dict[TraceKey, Lock] = {}
        self.lock = Lock()

    def get(self, key: TraceKey, compute: Callable[[], Trace]) -> Trace:
        """The trace of a question, made now if it is not here; who asks the same meanwhile waits for it."""
        with self.lock:
            key_lock = self.in_progress.setdefault(key, Lock())
        try:
            with key_lock:
                return self._lookup(key) or self._store(key, compute())
        finally:
            with self.lock:
                self.in_progress.pop(key, None)

    def drop(self, folder: Path) -> None:
        """Give away what came from a folder."""
        with self.lock:
            for key in [key for key in self.traces if key[2] == folder]:
                self.size -= trace_bytes(self.traces.pop(key))

    def _lookup(self, key: TraceKey) -> Trace | None:
        with self.lock:
            if key in self.traces:
                self.traces.move_to_end(key)
            return self.traces.get(key)

    def _store(self, key: TraceKey, trace: Trace) -> Trace:
        with self.lock:
            if key not in self.traces:
                self.traces[key] = trace
                self.size += trace_bytes(trace)
            while self.size > self.budget and len(self.traces) > 1:
                self.size -= trace_bytes(self.traces.popitem(last=False)[1])
        return trace


def trace_bytes(trace: Trace) -> int:
    """How many bytes the arrays of a trace take."""
    return sum(value.nbytes for value in trace.values.values())


@lru_cache(maxsize=1)
def trace_cache() -> TraceCache:
    """The one shelf of this process; traces are frozen, so visitors may share them."""
    return TraceCache()


def available_models() -> tuple[CatalogEntry, ...]:
    """Everything that this visitor can open by name: what the server offers, then what they brought themselves."""
    return tuple(entry for card in (*listed_models(), *own_models()) if (entry := card.entry))


def own_models() -> tuple[ListedModel, ...]:
    """What this visitor brought."""
    uploads = upload_store().owned_by(current_visitor())
    return tuple(
        list_folder(checkpoint.name, checkpoint.title, checkpoint.folder, own=True)
        for checkpoint in uploads
        if checkpoint.folder.exists()
    )


@lru_cache(maxsize=8)
def available_devices() -> tuple[str, ...]:
    """The devices of this machine, `auto` first."""

    def is_available(name: str) -> bool:
        try:
            choose_device(name)
        except CheckpointError:
            return False
        return True

    return ("auto", *(name for name in ("cpu", "cuda", "mps") if is_available(name)))


@lru_cache(maxsize=1)
def model_pool() -> ModelPool:
    """The one store of open models of this process; they never change, so visitors may share them."""
    limit = settings().memory_limit
    return ModelPool(limit << 20 if limit else int(free_memory() * MODEL_MEMORY_FRACTION))


def open_checkpoint(model: str, device: str = "auto") -> Checkpoint:
    """A model that this visitor may open, opened once. Raises CheckpointError for any other name, paths included."""
    return _open_pooled(_resolve_model(model), device, model_pool()).checkpoint


def model_variant(question: Question) -> Transformer:
    """The model a question is for, with the parts that the question exchanges."""
    pool = model_pool()  # asked once: where two ask first at the same moment each has one of its own
    model = _open_pooled(_resolve_model(question.model), question.device, pool)
    masks, position, kernel = question.masks, question.positional_encoding, question.attention_function

    def build() -> Transformer:
        return variant(
            model.checkpoint.model,
            positional_encoding=position or None,
            attention_function=kernel or None,
            masks=parse_masks(masks) if masks else None,
            scale={"on": True, "off": False}.get(question.scale),
        )

    return pool.variant(model, (masks, position, kernel, question.scale), build)


def is_long_text(question: Question) -> bool:
    """Whether a question's texts are so long that their weights are made only for who looks (`model.again`)."""
    config = model_variant(question).config
    heads = config.heads * (config.layers + config.encoder_layers)
    max_tokens = 2 + len((question.text + question.source).encode("utf-8", "surrogatepass"))
    max_tokens = config.context_length if config.image.channels else max_tokens
    if 4 * heads * max_tokens**2 <= MAX_WEIGHTS_BYTES:  # no text has more tokens than bytes, but for those around it
        return False
    traced = trace(question, _default_keep(question, with_weights=False))
    return attention_bytes(config, traced.text, traced.source, arrays=1) > MAX_WEIGHTS_BYTES


def trace(question: Question, keep: tuple[str, ...] = ()) -> Trace:
    """What the model does with a question; `keep` are the patterns of paths to hold.

    By itself that is what the page shows first; of a long text what everything else can be made from.
    """
    keep = keep or _default_keep(question, with_weights=not is_long_text(question))
    model, tokenizer = model_variant(question), open_checkpoint(question.model, question.device).tokenizer
    source = question.source if model.config.has_cross_attention else None
    image_config = model.config.image
    # Found for whoever asks, each time: a picture that a visitor brought is nobody else's.
    model_input = (
        image_store().prepare(current_visitor(), question.image, image_config)
        if image_config.channels
        else question.text
    )

    def compute() -> Trace:
        edits, masked_positions = question.edits, question.masked_positions
        return run(model, tokenizer, model_input, edits, source=source, masked_positions=masked_positions, keep=keep)

    return trace_cache().get((question, keep, *model_location(question.model)), compute)


def _default_keep(question: Question, with_weights: bool) -> tuple[str, ...]:
    """What is held of a text that is `whole` or long.

    Logits for a vocabulary are made where one is looked at, unless an edit of them needs all tokens at once.
    """
    predicts_tokens = model_variant(question).config.output_head in ("language-model", "masked-language-model")
    edits_stay_in_row = all(
        edit.row_local or not edit.matches("logits") for edit in parse_interventions(question.edits)
    )
    return (
        *(ATTENTION_PATTERNS if with_weights else RECOMPUTE_FROM),
        "*.final_residual" if predicts_tokens and edits_stay_in_row else "logits",
    )


def trace_value(question: Question, path: str) -> np.ndarray:
    """One value by its path: from the trace that is there, or made again to hold just this one."""
    default_trace = trace(question)
    return default_trace[path] if path in default_trace.values else trace(question, (path,))[path]


def position_logits(question: Question, position: int) -> Float[np.ndarray, " answer"]:
    """The logits at one position of a text of any length; of the whole text, where that is what is classified."""
    traced = trace(question)  # for whoever asks, each time, as above
    if traced.config.output_head == "sequence-classifier":
        return np.asarray(traced["logits"])
    return _position_logits(question, position, *model_location(question.model))


def cached_position_profile(question: Question, length: int, stack: str) -> PositionProfile:
    """The position scheme of a question's model over `length` positions; text and edits do not matter."""
    return _position_profile(without_text(question), length, stack, *model_location(question.model))


def without_text(question: Question) -> Question:
    """The question without what only concerns the text."""
    return replace(question, text="", source="", image="", edits=(), masked_positions=())


def evict_folder(folder: Path) -> None:
    """Let go of everything that was made of a folder."""
    model_pool().drop(folder)
    trace_cache().drop(folder)


def discard_checkpoint(name: str) -> None:
    """Delete an upload of this visitor, or close a folder that they opened."""
    checkpoint = upload_store().remove(current_visitor(), name)
    if checkpoint:
        evict_folder(checkpoint.folder)


def model_location(model: str) -> tuple[Path, int]:
    """Where a model lies that this visitor may open, and its stamp: what else is kept of it is kept under both."""
    folder, _ = _resolve_model(model)
    return folder, modification_time(folder)


def nonfinite_warning(model: str, device: str = "auto") -> str:
    """What to say of weights that are no numbers; empty where all are. Looks at each weight, once."""
    return _nonfinite_warning(model, device, *model_location(model))


def _resolve_model(model: str) -> tuple[Path, str]:
    """The folder and title of a model that this visitor may open: one that is offered, or one they brought."""
    for refresh in (False, True):  # a model trained a moment ago is there, and one removed is not
        offered = {card.name: (card.folder, card.title) for card in listed_models(refresh=refresh)}
        checkpoint = None if model in offered else upload_store().find(current_visitor(), model)
        folder, title = (checkpoint.folder, checkpoint.title) if checkpoint else offered.get(model, (None, ""))
        if folder and folder.exists():
            return folder, title
    raise CheckpointError(f"There is no model {model[:200]!r}. Known: {', '.join(offered) or 'none'}.")


def _open_pooled(location: tuple[Path, str], device: str, pool: ModelPool) -> PooledModel:
    folder, title = location
    modified = modification_time(folder)
    metadata = folder_metadata(folder, modified, title)
    if metadata.error:
        raise CheckpointError(metadata.error)

    def load_now() -> Checkpoint:
        return load(
            folder, name=title, device=device, memory_limit=min(pool.budget, int(free_memory() * MAX_FREE_FRACTION))
        )

    return pool.get((folder, modified, device), metadata.memory_bytes, load_now)


@lru_cache(maxsize=256)
def _nonfinite_warning(model: str, device: str, folder: Path, modified: int) -> str:
    return describe_nonfinite(find_nonfinite(open_checkpoint(model, device)))


@lru_cache(maxsize=16)  # a row for each letter typed, and those that changes are compared with
def _position_logits(question: Question, position: int, folder: Path, modified: int) -> np.ndarray:
    logits = logits_at(model_variant(question), trace(question), position)
    logits.flags.writeable = False
    return logits


@lru_cache(maxsize=32)
def _position_profile(question: Question, length: int, stack: str, folder: Path, modified: int) -> PositionProfile:
    return position_profile(model_variant(question), length, stack)
