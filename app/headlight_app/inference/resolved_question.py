"""A question with its open model variant, tokenizer and input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
from cachetools import LRUCache, cached
from msgspec import structs

from headlight.analysis.lenses.tuned_lens import TunedLens, read_tuned_lens
from headlight.analysis.moved_values import KEEP as MOVED_KEEP
from headlight.analysis.moved_values import moved_values
from headlight.analysis.position_profile import PositionProfile, position_profile
from headlight.array_types import Float
from headlight.attention_groups import attention_groups
from headlight.checkpoints import CatalogEntry, Checkpoint
from headlight.config import Config
from headlight.errors import EditError, HeadlightError
from headlight.nn.transformer import Transformer, attention_at, variant
from headlight.sound.frames import ProcessedSound
from headlight.text.chat import Chat
from headlight.text.tokenizer import TextPair, Tokenizer
from headlight.tracing.inputs import ModelInput
from headlight.tracing.live_edits import patched_paths
from headlight.tracing.recompute import logits_at, logits_of_rows, recompute_value
from headlight.tracing.request import RECOMPUTE_FROM, RunRequest, attention_bytes
from headlight.tracing.runner import run_request
from headlight.tracing.trace import Trace
from headlight.tracing.transformer_lens import native_edit
from headlight.vision.image import ProcessedImage
from headlight_app.contract.question import Question, Variant
from headlight_app.inference.examples import cache_owner
from headlight_app.inference.images import read_input_file
from headlight_app.inference.open_models import ModelLocation, model_pool, open_model
from headlight_app.inference.trace_cache import RunKey, trace_cache
from headlight_app.state.variants import readable_question

PROFILE_CACHE_BYTES = 64 << 20  # of the last profiles; a larger one is computed each time

# The logits of a whole text are large: they are computed per position when needed.
SHORT_TEXT_PATTERNS = ("*.weights", "*.mask", "*.final_residual", "*.embedding", "*.position_embedding")
# Bytes that the weights of all heads may take; those of a longer text are computed on demand.
MAX_WEIGHTS_BYTES = 192 << 20
MAX_LOGITS_BYTES = 32 << 20  # of cached logits


@dataclass(frozen=True)
class ResolvedQuestion:
    """A question with its model opened, for the visitor of the current request.

    Created for each request: a cached one would keep its model in memory, and give other visitors access to it.
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
        """The config of the model variant."""
        return self.model.config

    @property
    def is_changed(self) -> bool:
        """Whether the question has an edit or a replaced part, so that there is a before and an after."""
        return bool(self.question.edits or self.question.variant)

    @cached_property
    def as_trained(self) -> ResolvedQuestion:
        """The same input to the model as it was trained."""
        return replace(self, question=self.question.as_trained, model=self.checkpoint.model)

    @cached_property
    def owner(self) -> str:
        """The owner of cached results; see `cache_owner`."""
        return cache_owner(self.location, self.question.text, self.question.source, self.question.text_pair)

    def with_input(self, **changes: Any) -> ResolvedQuestion:
        """The same model and edits with another text, source or image."""
        return replace(self, question=structs.replace(self.question, **changes))

    @cached_property
    def input_file(self) -> ProcessedImage | ProcessedSound:
        """The preprocessed image or recording. Raises ImageError or SoundError if it is missing."""
        return read_input_file(self.question.image, self.config)

    @property
    def model_input(self) -> ModelInput:
        """The input of the predicting stack: the text, pair of texts or chat, the image or the sound."""
        if not self.config.reads_text:
            return self.input_file
        if self.question.chat:
            return Chat.from_text(self.question.text)
        return self.question.text if self.config.has_cross_attention else self._with_pair(self.question.text)

    @property
    def source(self) -> ModelInput | None:
        """The input of the encoder of an encoder-decoder: a text, the image or the sound."""
        if not self.config.has_cross_attention:
            return None
        return self.input_file if self.config.reads_signal else self._with_pair(self.question.source)

    def _with_pair(self, text: str) -> str | TextPair:
        return TextPair(text, self.question.text_pair) if self.question.text_pair else text

    @cached_property
    def is_long(self) -> bool:
        """Whether the texts are so long that attention weights are recomputed on demand instead of kept."""
        if self.is_surely_short:
            return False
        traced = self.trace_of(*RECOMPUTE_FROM)
        return attention_bytes(self.config, traced.text, traced.source, arrays=1) > MAX_WEIGHTS_BYTES

    @property
    def is_surely_short(self) -> bool:
        """Whether the text is not long under any tokenization."""
        first = self.config.for_stack(self.config.stacks[0])
        heads = max(self.config.heads, first.heads) * (self.config.layers + self.config.encoder.layers)
        template = self.tokenizer.chat_template
        made = template.render(Chat.from_text(self.question.text))[0] if self.question.chat and template else ""
        texts = made or self.question.text + self.question.source + self.question.text_pair
        max_tokens = 4 + len(texts.encode("utf-8", "surrogatepass"))
        if self.config.reads_signal:
            max_tokens = max(self.config.context_length, first.context_length)
        # A text has at most one token per byte, plus special tokens around it and between two.
        return 4 * heads * max_tokens**2 <= MAX_WEIGHTS_BYTES

    @property
    def shows_moved(self) -> bool:
        """Whether pictures show what weights move; for a long text they always show the weights."""
        return self.question.measure == "moved" and not self.is_long

    @cached_property
    def shown_trace(self) -> Trace:
        """The trace, with the shown quantity in place of the weights."""
        if not self.shows_moved:
            return self.trace
        traced, groups = self.trace_of(*MOVED_KEEP), attention_groups(self.config)
        paths = [group.path(layer) for group in groups for layer in range(group.layers)]
        shares = {f"{path}.weights": moved_values(self.model, traced, path).length for path in paths}
        return replace(self.trace, values={**self.trace.values, **shares})

    @cached_property
    def trace(self) -> Trace:
        """The values that the page shows first; for a long text, those from which the rest can be recomputed."""
        return self.trace_of(*(RECOMPUTE_FROM if self.is_long else SHORT_TEXT_PATTERNS))

    @cached_property
    def patched_from(self) -> ResolvedQuestion | None:
        """The question from whose run patches take values: the other text, unedited; None without a patch.

        Raises EditError if no other text is given.
        """
        if not patched_paths(self.question.edits):
            return None
        if not self.question.patch_from.strip():
            raise EditError("A patch takes a value from the run of another text; type that text beside it.")
        return self.of_other_text(self.question.patch_from)

    def of_other_text(self, text: str) -> ResolvedQuestion:
        """The question for another text, unedited; for a model of images or sounds, `text` is a file's name."""
        field = "image" if self.config.reads_signal else "source" if self.config.has_cross_attention else "text"
        return self.with_input(edits=(), patch_from="", masked_positions=(), **{field: text})

    @property
    def runs(self) -> dict[str, Trace]:
        """The runs from which patches take values, by name."""
        other = self.patched_from
        return {"B": other.trace_of(*patched_paths(self.question.edits))} if other else {}

    def trace_of(self, *keep: str) -> Trace:
        """The trace of the question; `keep` are the patterns of the paths to record."""
        _ = self.model_input, self.source  # checks each time that this visitor may read the image
        return trace_cache().get(
            self.run_key(keep), lambda previous: run_request(self.model, self.run_request(keep), previous)
        )

    def run_key(self, keep: tuple[str, ...]) -> RunKey:
        """The cache key of the run that records the patterns `keep`."""
        return (
            structs.replace(self.question, measure=""),
            keep,
            self.location.folder,
            self.location.modified,
            self.owner,
        )

    def run_request(self, keep: tuple[str, ...]) -> RunRequest:
        """The request for a run that records `keep`. Raises HeadlightError for an invalid input or edit."""
        edits, masked_positions = self.question.edits, self.question.masked_positions
        return RunRequest.encode(
            self.model, self.tokenizer, self.model_input, edits, self.source, masked_positions, keep, runs=self.runs
        )

    def value(self, path: str) -> np.ndarray:
        """One value by its path: from the trace, or from another run that records only this value."""
        return self.trace[path] if path in self.trace.values else self.trace_of(path)[path]

    def head_values(self, path: str, heads: range, queries: range, keys: range) -> Float[np.ndarray, "head query key"]:
        """A value of pairs of tokens (`decoder.3.self.weights`) for some heads, queries and keys.

        For a long text, only this part is computed.
        """
        attention_at(self.model, path.rpartition(".")[0])
        if self.is_long:
            return recompute_value(self.model, self.trace, path, heads, queries, keys)
        value = self.value(path)  # one mask may apply to all heads
        value = np.broadcast_to(value, (max(len(value), heads.stop), *value.shape[1:]))
        return value[heads.start : heads.stop, queries.start : queries.stop, keys.start : keys.stop]

    @property
    def tuned_lens(self) -> TunedLens | None:
        """The tuned lens in the model's folder; None without one, and for a variant, for which it is not trained."""
        return None if self.question.variant else _tuned_lens(self)

    def logits(self, position: int) -> Float[np.ndarray, " answer"]:
        """The logits at one position of a text of any length; those of the whole text if the task classifies it."""
        _ = self.model_input, self.source  # checks each time that this visitor may read the image
        return _position_logits(self, position)

    def position_profile(self, length: int, stack: str, layer: int | None = None) -> PositionProfile:
        """The positional encoding over `length` positions, independent of text and edits."""
        return _position_profile(self, length, stack, layer)


def resolve(question: Question) -> ResolvedQuestion:
    """Open the model and variant of a question. Raises HeadlightError if the question is invalid."""
    location, pooled = open_model(question.model, question.device)
    model = pooled.checkpoint.model
    question = readable_question(question, model.config, reads_chat(pooled.checkpoint))
    edits = tuple(native_edit(model.config, edit) for edit in question.edits)
    question = structs.replace(question, edits=edits)
    if question.variant:
        model = model_pool().variant(pooled, question.variant, lambda: _build(pooled.checkpoint, question.variant))
    return ResolvedQuestion(question, location, pooled.checkpoint, model)


def reads_chat(checkpoint: Checkpoint) -> bool:
    """Whether a model can be given messages: it has a chat template, and no encoder with a text of its own."""
    return checkpoint.tokenizer.chat_template is not None and not checkpoint.model.config.has_cross_attention


def has_chat(entry: CatalogEntry, device: str) -> bool:
    """Whether a listed model can be given messages; False if it does not open, which the next question reports."""
    try:
        return reads_chat(open_model(entry.name, device)[1].checkpoint)
    except (HeadlightError, RuntimeError):  # such as a full device
        return False


def _build(checkpoint: Checkpoint, parts: Variant) -> Transformer:
    """Build a checkpoint's model with other parts."""
    return variant(
        checkpoint.model,
        positional_encoding=parts.positional_encoding or None,
        attention_function=parts.attention_function or None,
        masks=parts.masks or None,
        scale={"on": True, "off": False}.get(parts.scale),
        pooling=parts.pooling or None,
    )


@cached(LRUCache(4), key=lambda resolved: resolved.location)
def _tuned_lens(resolved: ResolvedQuestion) -> TunedLens | None:
    return read_tuned_lens(resolved.location.folder, resolved.checkpoint.model.config)


LogitsKey = tuple[Question, ModelLocation, str, int]


def _logits_key(resolved: ResolvedQuestion, position: int) -> LogitsKey:
    return structs.replace(resolved.question, measure=""), resolved.location, resolved.owner, position


@lru_cache(maxsize=1)
def _kept_logits() -> LRUCache[LogitsKey, np.ndarray]:
    """Cached rows of logits, for each keystroke and for the model as trained. Keys contain no model.

    The last row is kept even if it is larger than the cache.
    """
    return LRUCache(MAX_LOGITS_BYTES, getsizeof=lambda logits: min(logits.nbytes, MAX_LOGITS_BYTES))


def _position_logits(resolved: ResolvedQuestion, position: int) -> np.ndarray:
    key, kept = _logits_key(resolved, position), _kept_logits()
    found = kept.get(key)
    if found is None:
        kept[key] = found = _frozen(logits_at(resolved.model, resolved.trace, position))
    return found


def keep_logits(asked: Sequence[tuple[ResolvedQuestion, int]]) -> None:
    """Compute the logits at positions of several short texts of one model in one matrix product, and cache them."""
    traces = [(resolved.trace, position) for resolved, position in asked]
    for (resolved, position), logits in zip(asked, logits_of_rows(asked[0][0].model, traces), strict=True):
        _kept_logits()[_logits_key(resolved, position)] = _frozen(logits)


def shrink_results(size: int) -> None:
    """Drop the least recently used logits and position profiles beyond `size` bytes of each."""
    for kept in (_kept_logits(), cast(LRUCache[Any, Any], _position_profile.cache)):
        while kept.currsize > size:
            kept.popitem()


def _frozen(logits: np.ndarray) -> np.ndarray:
    logits.flags.writeable = False
    return logits


def _profile_key(
    resolved: ResolvedQuestion, length: int, stack: str, layer: int | None
) -> tuple[Question, ModelLocation, int, str, int | None]:
    return resolved.question.without_input, resolved.location, length, stack, layer


def _profile_bytes(profile: PositionProfile) -> int:
    return sum(part.nbytes for part in vars(profile).values() if isinstance(part, np.ndarray))


@cached(LRUCache(PROFILE_CACHE_BYTES, getsizeof=_profile_bytes), key=_profile_key)
def _position_profile(resolved: ResolvedQuestion, length: int, stack: str, layer: int | None) -> PositionProfile:
    return position_profile(resolved.model, length, stack, layer)
