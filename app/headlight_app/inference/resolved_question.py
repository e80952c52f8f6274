"""A question with all that it stands for, found once: the open model as the question wires it, tokenizer and input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from cachetools import LRUCache, cached
from msgspec import structs

from headlight.analysis.position_profile import PositionProfile, position_profile
from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.config import Config
from headlight.nn.transformer import Transformer, attention_at, variant
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.incremental import FinishedRun, continue_run
from headlight.tracing.recompute import logits_at, recompute_value
from headlight.tracing.run import RECOMPUTE_FROM, RunRequest, attention_bytes
from headlight.tracing.trace import Trace
from headlight.vision.image import ProcessedImage
from headlight_app.contract.question import Question, Variant
from headlight_app.inference.examples import cache_owner
from headlight_app.inference.images import read_image
from headlight_app.inference.open_models import ModelLocation, model_pool, open_model
from headlight_app.inference.trace_cache import trace_cache
from headlight_app.state.variants import readable_question

# Logits of a whole text are many: they are made where one is looked at.
SHORT_TEXT_PATTERNS = ("*.weights", "*.mask", "*.final_residual", "*.embedding", "*.position_embedding")
# Bytes that the weights of all heads may take; those of a longer text are computed on demand.
MAX_WEIGHTS_BYTES = 192 << 20


@dataclass(frozen=True)
class ResolvedQuestion:
    """A question with its model opened, for the visitor who asks now.

    Made anew for each request: one that is kept would keep its model in memory, and show it to others.
    """

    question: Question
    location: ModelLocation
    checkpoint: Checkpoint = field(compare=False, repr=False)
    model: Transformer = field(compare=False, repr=False)

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return self.checkpoint.tokenizer

    @property
    def config(self) -> Config:
        """The config of the model as the question wires it."""
        return self.model.config

    @property
    def is_changed(self) -> bool:
        """Whether there is a before and an after: an edit, or a part of the model exchanged."""
        return bool(self.question.edits or self.question.variant)

    @cached_property
    def as_trained(self) -> ResolvedQuestion:
        """The same input to the model as it was trained."""
        return replace(self, question=self.question.as_trained, model=self.checkpoint.model)

    @cached_property
    def owner(self) -> str:
        """Whose cache holds what is computed; see `cache_owner`."""
        return cache_owner(self.location, self.question.text, self.question.source)

    def with_input(self, **changes: Any) -> ResolvedQuestion:
        """The same model, edits included, asked about another text, source or image."""
        return replace(self, question=structs.replace(self.question, **changes))

    @cached_property
    def image(self) -> ProcessedImage:
        """The image as the model sees it. Raises ImageError for one that is not here."""
        return read_image(self.question.image, self.config)

    @property
    def model_input(self) -> str | ProcessedImage:
        """The input of the predicting stack: the text, or the image."""
        return self.image if self.config.predicts_from_image else self.question.text

    @property
    def source(self) -> str | ProcessedImage | None:
        """The input of the encoder of an encoder-decoder: a text, or the image."""
        if not self.config.has_cross_attention:
            return None
        return self.image if self.config.reads_image else self.question.source

    @cached_property
    def is_long(self) -> bool:
        """Whether the texts are so long that attention weights are recomputed on demand."""
        heads = self.config.heads * (self.config.layers + self.config.encoder_layers)
        max_tokens = 2 + len((self.question.text + self.question.source).encode("utf-8", "surrogatepass"))
        max_tokens = self.config.context_length if self.config.reads_image else max_tokens
        if 4 * heads * max_tokens**2 <= MAX_WEIGHTS_BYTES:  # no text has more tokens than bytes, but for special ones
            return False
        traced = self.trace_of(*RECOMPUTE_FROM)
        return attention_bytes(self.config, traced.text, traced.source, arrays=1) > MAX_WEIGHTS_BYTES

    @cached_property
    def trace(self) -> Trace:
        """The values that the page shows first; of a long text those from which the rest can be recomputed."""
        return self.trace_of(*(RECOMPUTE_FROM if self.is_long else SHORT_TEXT_PATTERNS))

    def trace_of(self, *keep: str) -> Trace:
        """The trace of the question; `keep` are the patterns of paths to hold."""
        model_input, source = self.model_input, self.source

        def compute(previous: FinishedRun | None) -> FinishedRun:
            edits, masked_positions = self.question.edits, self.question.masked_positions
            request = RunRequest.encode(self.model, self.tokenizer, model_input, edits, source, masked_positions, keep)
            return continue_run(previous, self.model, request)

        key = (self.question, keep, self.location.folder, self.location.modified, self.owner)
        return trace_cache().get(key, compute)

    def value(self, path: str) -> np.ndarray:
        """One value by its path: from the trace that is there, or made again to hold just this one."""
        return self.trace[path] if path in self.trace.values else self.trace_of(path)[path]

    def head_values(self, path: str, heads: range, queries: range, keys: range) -> Float[np.ndarray, "head query key"]:
        """A value of pairs of tokens (`decoder.3.self.weights`) for some heads, queries and keys.

        Of a long text nothing larger is computed.
        """
        attention_at(self.model, path.rpartition(".")[0])
        if self.is_long:
            return recompute_value(self.model, self.trace, path, heads, queries, keys)
        value = self.value(path)  # one mask may stand for all heads
        value = np.broadcast_to(value, (max(len(value), heads.stop), *value.shape[1:]))
        return value[heads.start : heads.stop, queries.start : queries.stop, keys.start : keys.stop]

    def logits(self, position: int) -> Float[np.ndarray, " answer"]:
        """The logits at one position of a text of any length; of the whole text, where that is what is classified."""
        _ = self.model_input, self.source  # an image is looked up for the asking visitor each time
        return _position_logits(self, position)

    def position_profile(self, length: int, stack: str, layer: int | None = None) -> PositionProfile:
        """The positional encoding over `length` positions; text and edits do not matter."""
        return _position_profile(self, length, stack, layer)


def resolve(question: Question) -> ResolvedQuestion:
    """Find and open what a question stands for. Raises HeadlightError where it stands for nothing."""
    location, pooled = open_model(question.model, question.device)
    model = pooled.checkpoint.model
    question = readable_question(question, model.config)
    if question.variant:
        model = model_pool().variant(pooled, question.variant, lambda: _build(pooled.checkpoint, question.variant))
    return ResolvedQuestion(question, location, pooled.checkpoint, model)


def _build(checkpoint: Checkpoint, parts: Variant) -> Transformer:
    """The model of a checkpoint with other parts."""
    return variant(
        checkpoint.model,
        positional_encoding=parts.positional_encoding or None,
        attention_function=parts.attention_function or None,
        masks=parts.masks or None,
        scale={"on": True, "off": False}.get(parts.scale),
        pooling=parts.pooling or None,
    )


def _logits_key(resolved: ResolvedQuestion, position: int) -> tuple[Question, ModelLocation, str, int]:
    return resolved.question, resolved.location, resolved.owner, position


# A row for each letter typed, and those that changes are compared with. Keys hold no model, which would stay open.
@cached(LRUCache(16), key=_logits_key)
def _position_logits(resolved: ResolvedQuestion, position: int) -> np.ndarray:
    logits = logits_at(resolved.model, resolved.trace, position)
    logits.flags.writeable = False
    return logits


def _profile_key(
    resolved: ResolvedQuestion, length: int, stack: str, layer: int | None
) -> tuple[Question, ModelLocation, int, str, int | None]:
    textless = structs.replace(resolved.question, text="", source="", image="", edits=(), masked_positions=())
    return textless, resolved.location, length, stack, layer


@cached(LRUCache(32), key=_profile_key)
def _position_profile(resolved: ResolvedQuestion, length: int, stack: str, layer: int | None) -> PositionProfile:
    return position_profile(resolved.model, length, stack, layer)
