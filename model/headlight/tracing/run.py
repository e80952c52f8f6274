"""run(): one forward pass over a text, an image or a sound, recorded as a Trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import lru_cache, partial
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from headlight.config import Config
from headlight.errors import EditError, ImageError, SoundError, TextError, shortened
from headlight.nn.attention import KVCache
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS, Hook, HookScope, hook_for_rows, hook_scope, no_hook
from headlight.nn.transformer import Transformer
from headlight.sound.frames import ProcessedSound, encode_sound
from headlight.tasks import label_text, task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.tracing.interventions import Intervention, InterventionHook
from headlight.tracing.live_edits import LiveEdit, LiveHook, is_patch, parse_patch
from headlight.tracing.trace import Trace
from headlight.tracing.transformer_lens import native_edit
from headlight.vision.image import ProcessedImage
from headlight.vision.patches import encode_image

MAX_CHARACTERS = 200_000  # the tokenizer is too slow for longer texts
# The beginning of a longer text is tokenized first: at least BEGINNING_CHARACTERS, and CHARACTERS_PER_TOKEN per token.
BEGINNING_CHARACTERS, CHARACTERS_PER_TOKEN = 8_000, 8
WORD_CHARACTERS = 100  # ignored at the end of a beginning: a truncated word may have more tokens than the whole word
ATTENTION_BYTES_BUDGET = 512 << 20  # for the query x key values of a trace, unless requested by name
# Recorded values of a long text: enough to recompute all others (model/headlight/tracing/recompute.py).
RECOMPUTE_FROM = ("*.self.input", "*.cross.input", "*.residual", "*.final_residual")
# Errors for a text if the model reads another kind of input.
_WANTED = {
    "image": "This model reads images, not texts; give it one (on the command line: --image FILE).",
    "sound": "This model hears sounds, not texts; give it a recording (on the command line: --audio FILE).",
}
InterventionLike = Intervention | str
SIGNALS = (ProcessedImage, ProcessedSound)
ModelInput = str | ProcessedImage | ProcessedSound


def to_numpy(value: Tensor) -> np.ndarray:
    """The same numbers as an array; floats of any precision as float32."""
    return (value.float() if value.is_floating_point() else value).cpu().numpy()


def distinct_arrays(
    values: Mapping[str, Tensor], to_array: Callable[[str, Tensor], np.ndarray]
) -> dict[str, np.ndarray]:
    """Values as arrays, by path; a value that layers share, such as a mask, is one array."""
    distinct = {id(value): (path, value) for path, value in values.items()}
    arrays = {number: to_array(path, value) for number, (path, value) in distinct.items()}
    return {path: arrays[id(value)] for path, value in values.items()}


class RecordingHook:
    """A hook that records the values whose path matches one of the patterns `keep` (all values if None).

    `hook` is called first: its replacements are recorded.
    """

    def __init__(self, hook: Hook, keep: Sequence[str] | None) -> None:
        self.hook, self.keeps = hook, _keeps_all if keep is None else _pattern_matcher(tuple(keep))
        self.values: dict[str, Tensor] = {}

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value after the inner hook, recorded if its path matches."""
        value = self.hook(path, value)
        if self.keeps(path):
            self.values[path] = value
        return value

    def scope(self, path: str) -> HookScope:
        """The whole value if it is recorded; otherwise the scope of the inner hook."""
        return HookScope.ALL if self.keeps(path) else hook_scope(self.hook, path)

    def for_rows(self, start: int, total: int) -> Hook:
        """The inner hook alone: values that are computed a few rows at a time are not recorded."""
        return hook_for_rows(self.hook, start, total)

    def arrays(self) -> dict[str, np.ndarray]:
        """The recorded values without their batch axis, by path."""
        return distinct_arrays(self.values, lambda path, value: to_numpy(value.detach()[0]))


def _keeps_all(path: str) -> bool:
    return True


@lru_cache(maxsize=256)
def _pattern_matcher(keep: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path matches a pattern; cached, because every forward pass checks every value."""
    matches = re.compile("|".join(map(translate, keep)) or r"(?!)").match
    return lru_cache(maxsize=4_096)(lambda path: matches(path) is not None)


@dataclass(frozen=True)
class Candidate:
    """One possible token or label: its display text, id and probability."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class RunRequest:
    """The inputs of a run, the edits, and the patterns of the paths to record (None: all)."""

    text: Encoded
    source: Encoded | None
    edits: tuple[Intervention, ...]
    keep: tuple[str, ...] | None
    live: tuple[LiveEdit, ...] = ()

    @classmethod
    def encode(
        cls,
        model: Transformer,
        tokenizer: Tokenizer,
        text: ModelInput,
        interventions: Sequence[InterventionLike] = (),
        source: ModelInput | None = None,
        masked_positions: Sequence[int] = (),
        keep: Sequence[str] | None = None,
        hook: LiveHook | None = None,
        runs: Mapping[str, Trace] = MappingProxyType({}),
    ) -> RunRequest:
        """The arguments of `run`, encoded and checked."""
        if task_of(model.config).whole_text and isinstance(source, str):
            text = text or source
        encoded = apply_mask_tokens(encode_input(model, tokenizer, text), masked_positions, tokenizer)
        source_encoded = encode_source(model, tokenizer, source)
        if keep is None and attention_bytes(model.config, encoded, source_encoded) > ATTENTION_BYTES_BUDGET:
            keep = RECOMPUTE_FROM
        interventions = native_edits(model.config, interventions)
        edits = parse_interventions([edit for edit in interventions if not is_patch(edit)])
        values = {name: other.values for name, other in runs.items()}
        live = [parse_patch(str(edit), values) for edit in interventions if is_patch(edit)]
        live += [] if hook is None else [LiveEdit(getattr(hook, "__name__", "The hook"), hook)]
        return cls(encoded, source_encoded, edits, None if keep is None else tuple(keep), tuple(live))

    def run(self, model: Transformer, cache: KVCache | None = None) -> tuple[Trace, Tensor | None]:
        """The trace of one forward pass over the whole text, and the encoder's output; fills an empty cache."""
        edits = InterventionHook(self.edits, live=self.live)
        record = RecordingHook(edits, self.keep)
        memory = self.read(model, record, cache)
        edits.require_all_applied()
        trace = self.trace(model, record.arrays())
        return (replace(trace, live_paths=frozenset(edits.live_paths)) if self.live else trace), memory

    def read(
        self, model: Transformer, record: RecordingHook, cache: KVCache | None = None, memory: Tensor | None = None
    ) -> Tensor | None:
        """One forward pass over the tokens that are not cached; returns the encoder's output (`memory`)."""
        memory = encode_memory(model, self.source, record) if memory is None else memory
        ids, start = token_tensor(self.text, model), cache.length if cache else 0
        signal = signal_tensor(self.text, model)
        final = model.encode_hidden(ids[:, start:], signal=signal, memory=memory, hook=record, cache=cache)
        # The logits of a long text are larger than all other values: they are computed only if recorded or edited.
        if self.wants_logits:
            model.logits(final, model.answerable(ids), record)
        return memory

    @property
    def wants_logits(self) -> bool:
        """Whether logits are recorded or edited."""
        return hook_scope(self._recorder, "logits") is not HookScope.NONE

    @property
    def _recorder(self) -> RecordingHook:
        return RecordingHook(InterventionHook(self.edits, live=self.live), self.keep)

    def trace(self, model: Transformer, values: Mapping[str, np.ndarray]) -> Trace:
        """The trace of a run that recorded these values."""
        edits = tuple(map(str, self.edits))
        return Trace(model.config, self.text, self.source, values, edits, model.origin, self.live)


@torch.inference_mode()
def run(
    model: Transformer,
    tokenizer: Tokenizer,
    text: ModelInput,
    interventions: Sequence[InterventionLike] = (),
    *,
    source: ModelInput | None = None,
    masked_positions: Sequence[int] = (),
    keep: Sequence[str] | None = None,
    hook: LiveHook | None = None,
    runs: Mapping[str, Trace] = MappingProxyType({}),
) -> Trace:
    """The trace of one forward pass over a text, a processed image or a processed sound, with edits.

    An encoder-decoder reads `source`, one of these, with its encoder and `text` (which may be empty) with its decoder;
    one that labels whole texts reads the source with both if the text is empty. `masked_positions` get the mask token.
    `keep` lists patterns of paths to record. None records everything, or only RECOMPUTE_FROM if the query x key values
    would exceed ATTENTION_BYTES_BUDGET; these can be recomputed from it.

    `hook` is called with the path of every value and the value itself, without its batch axis; the pass continues with
    the value that it returns or changes in place. An edit `decoder.2.residual[5]=from:B[3]` takes the value from the
    trace B of `runs`. Edits may use the names of TransformerLens, `blocks.1.attn.hook_pattern[3]=set:0`, with its order
    of axes. Raises TextError, ImageError, SoundError or EditError for an invalid text, image, sound or edit.
    """
    request = RunRequest.encode(model, tokenizer, text, interventions, source, masked_positions, keep, hook, runs)
    return request.run(model)[0]


def run_texts(
    model: Transformer, tokenizer: Tokenizer, texts: Sequence[str], interventions: Sequence[InterventionLike] = ()
) -> list[Trace]:
    """A trace of each text, with the same edits. Raises like `run`."""
    return [run(model, tokenizer, text, interventions) for text in texts]


def attention_bytes(
    config: Config, target: Encoded, source: Encoded | None, arrays: int = len(QUERY_KEY_HOOK_POINTS)
) -> int:
    """The bytes of `arrays` query x key values in every layer and head, in 32 bits."""
    source_length, length = len(source.ids) if source else 0, len(target.ids)
    cells = config.heads * config.layers * length * (length + source_length)
    encoder_cells = config.for_stack("encoder").heads * config.num_layers("encoder") * source_length**2 if source else 0
    return 4 * arrays * (cells + encoder_cells)


def encode_input(model: Transformer, tokenizer: Tokenizer, text: ModelInput) -> Encoded:
    """The text, image or sound as the predicting stack reads it.

    Raises TextError if a text is empty or too long or the model reads no text, ImageError or SoundError if it reads no
    images or sounds.
    """
    if isinstance(text, SIGNALS) or not model.config.reads_text:
        return _encode_signal(model, tokenizer, text, of_source=False)
    _check_text("text", text, may_be_empty=model.config.has_cross_attention)
    _check_beginning("text", text, model, tokenizer.target_tokenizer)
    if not model.config.has_cross_attention:
        return tokenizer.encode(text)
    start = tokenizer.from_ids((model.config.start_token_id,), "")
    if task_of(model.config).whole_text:  # its decoder reads the encoder's text, shifted by one position
        return _concatenate(start, _without_last_token(tokenizer.encode(text)))
    target = tokenizer.target_tokenizer.encode(text, add_special_tokens=False)
    if {*start.ids, *target.ids[:1]} <= set(
        tokenizer.languages.values()
    ) and target.ids:  # mBART starts with a language
        return target
    if model.config.prompt_token_ids and not set(target.ids[:1]) & tokenizer.special_ids:
        start = _concatenate(start, tokenizer.from_ids(model.config.prompt_token_ids, ""))
    return _concatenate(start, target)


def candidates(trace: Trace, tokenizer: Tokenizer, position: int = -1, count: int = 5) -> tuple[Candidate, ...]:
    """The most probable tokens (or labels, if the model predicts labels) at a position, best first."""
    probabilities = trace.probabilities(position)
    best = np.argsort(-probabilities, kind="stable")[:count]
    config = trace.config
    in_words = partial(label_text, config) if task_of(config).predicts_labels else tokenizer.stripped_token_text
    return tuple(Candidate(in_words(int(each)), int(each), float(probabilities[each])) for each in best)


def prediction_positions(model: Transformer, tokenizer: Tokenizer, encoded: Encoded) -> tuple[int, ...]:
    """The positions of the shown predictions (`Task.prediction_positions`)."""
    return task_of(model.config).prediction_positions(encoded.ids, tokenizer.mask_id)


def native_edits(config: Config, edits: Sequence[InterventionLike]) -> tuple[InterventionLike, ...]:
    """Edits with TransformerLens names replaced by paths. Raises EditError for an unknown name."""
    return tuple(native_edit(config, edit) if isinstance(edit, str) else edit for edit in _edit_list(edits))


def parse_interventions(edits: Sequence[InterventionLike]) -> tuple[Intervention, ...]:
    """Edits given as text or already parsed. Raises EditError or UnknownNameError for an invalid edit."""
    return tuple(map(_parse_intervention, _edit_list(edits)))


def _edit_list(edits: Sequence[InterventionLike]) -> Sequence[InterventionLike]:
    """The edits as a sequence. Raises EditError if they are one text in place of a list."""
    if isinstance(edits, str):
        raise EditError(f"{shortened(edits)!r} is one text; give a list of edits.")
    return edits


def _parse_intervention(edit: object) -> Intervention:
    if isinstance(edit, Intervention):
        return edit
    if is_patch(edit):
        raise EditError(f"{edit!r} is a patch, which needs a whole run; generation takes none.")
    if isinstance(edit, str):
        return Intervention.parse(edit)
    raise EditError(
        f"A {type(edit).__name__} is not an edit: an edit is a text such as decoder.1.self.weights[3]=set:0. Pass a "
        "function of a value's path and the value as hook=function."
    )


def _encode_signal(model: Transformer, tokenizer: Tokenizer, given: ModelInput, of_source: bool) -> Encoded:
    """An image's patches, after the tokens of the only stack, or a sound's frames.

    Raises TextError, ImageError or SoundError if the model reads another kind of input there.
    """
    config = model.config
    if not isinstance(given, SIGNALS):
        raise TextError(_WANTED[config.modalities[-1]])
    is_image = isinstance(given, ProcessedImage)
    kind, error = ("image", ImageError) if is_image else ("sound", SoundError)
    if kind not in config.modalities:
        read = " and ".join(f"{each}s" for each in config.modalities)
        raise error(f"This model reads {read}, not {kind}s.")
    if config.has_cross_attention != of_source:
        raise error(f"This model's decoder reads a text; give its encoder the {kind}, as the source.")
    if isinstance(given, ProcessedSound):
        return encode_sound(given, config.sound)
    first = () if of_source else tuple(range(config.image.first_tokens))
    return encode_image(given, config.image, tokenizer.from_ids(first, ""))


def _check_text(what: str, text: object, may_be_empty: bool = False) -> None:
    if not isinstance(text, str):
        raise TextError(f"The {what} is a {type(text).__name__}; one text is read at a time, as a str.")
    if not may_be_empty and not text.strip():
        raise TextError("The text is empty; type a sentence.")
    if len(text) > MAX_CHARACTERS:
        raise TextError(f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read. Shorten it.")


def _check_beginning(what: str, text: str, model: Transformer, tokenizer: Tokenizer) -> None:
    """Raise TextError if the beginning of a text has far more tokens than fit, before all of it is tokenized.

    Beginnings are tokenized, each twice as long as the one before. A limit on characters would not work: a tokenizer
    may drop characters, or turn thousands into one token. The last tokens of a beginning do not count, and a quarter
    more than fit is allowed, because a few tokens may change when the text continues.
    """
    limit = model.config.context_length
    size = max(BEGINNING_CHARACTERS, CHARACTERS_PER_TOKEN * limit)
    while size < len(text):
        end = size - max(tokenizer.longest_token, WORD_CHARACTERS)
        count = sum(last <= end for _, last in tokenizer.encode(text[:size], add_special_tokens=False).offsets)
        if count > limit + limit // 4:
            raise TextError(f"The {what} has more than {count} tokens; this model reads at most {limit}. Shorten it.")
        size *= 2


def encode_source(model: Transformer, tokenizer: Tokenizer, source: ModelInput | None) -> Encoded | None:
    """The source as the encoder reads it: a text, the patches of an image or the frames of a sound.

    None for a model of one stack, for which `source` must be None. Raises TextError, ImageError or SoundError for any
    other source.
    """
    if not model.config.has_cross_attention:
        if source is not None:
            raise TextError("This model has one stack and reads one text; it takes no source.")
        return None
    if isinstance(source, SIGNALS) or not model.config.reads_source_text:
        return _encode_signal(model, tokenizer, source or "", of_source=True)
    source = "" if source is None else source
    _check_text("source", source)
    _check_beginning("source", source, model, tokenizer)
    encoded = tokenizer.encode(source)
    if len(encoded.ids) > model.config.context_length:
        raise TextError(
            f"The source has {len(encoded.ids)} tokens; this model reads at most "
            f"{model.config.context_length}. Shorten it."
        )
    return encoded


def apply_mask_tokens(encoded: Encoded, positions: Sequence[int], tokenizer: Tokenizer) -> Encoded:
    """The text with mask tokens at some positions. Raises TextError, ImageError or EditError if that is impossible."""
    if not positions:
        return encoded
    if encoded.signal is not None:
        raise ImageError("Patches and frames cannot be masked: there is no mask token for them.")
    if tokenizer.mask_id is None:
        raise TextError("This model has no mask token, so no word of the text can be masked.")
    ids = list(encoded.ids)
    for position in positions:
        if not 0 <= position < len(ids):
            raise EditError(f"There is no token {position} to mask: the text has {len(ids)}, counted from 0.")
        ids[position] = tokenizer.mask_id
    return tokenizer.from_ids(ids, encoded.text, encoded.offsets)


def _without_last_token(encoded: Encoded) -> Encoded:
    """An encoded text without its last token; its `text` field is unchanged."""
    ids, tokens, pieces = encoded.ids[:-1], encoded.tokens[:-1], encoded.token_texts[:-1]
    return Encoded(encoded.text, ids, tokens, pieces, encoded.offsets[:-1], encoded.special_mask[:-1])


def _concatenate(first: Encoded, second: Encoded) -> Encoded:
    """Two encoded texts in a row; the `text` field is the second's."""
    return Encoded(
        second.text,
        first.ids + second.ids,
        first.tokens + second.tokens,
        first.token_texts + second.token_texts,
        first.offsets + second.offsets,
        first.special_mask + second.special_mask,
    )


def token_tensor(encoded: Encoded, model: Transformer) -> Tensor:
    """The token ids as a batch of one on the model's device. Raises TextError for ids outside its vocabulary."""
    ids, size = encoded.input_ids, model.config.vocabulary_size
    if not ids and encoded.signal is None:
        raise TextError(
            "This text has no tokens: the model's tokenizer drops all of it. Type a text like those that the model was "
            "trained on."
        )
    if max(ids, default=0) >= size:
        raise TextError(f"The tokenizer gave the token id {max(ids)}, but the model knows {size} tokens.")
    return torch.tensor([ids], dtype=torch.long, device=model.device)


def encode_memory(model: Transformer, source: Encoded | None, hook: Hook = no_hook) -> Tensor | None:
    """The encoder's output for a source, [1 key d_model]; None without a source."""
    if source is None:
        return None
    return model.encode(token_tensor(source, model), hook=hook, signal=signal_tensor(source, model))


def signal_tensor(encoded: Encoded, model: Transformer) -> Tensor | None:
    """The pixels of an image or the signal of a sound, as a batch of one on the model's device; None for a text."""
    return None if encoded.signal is None else torch.tensor(encoded.signal, device=model.device)[None]
