"""Text generation: generate() continues a text token by token; each step is a Trace.

A TextGenerator's step depends only on its arguments, so that generation can continue from any earlier step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from secrets import randbelow

import numpy as np
import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.errors import TextError
from headlight.generation.rules import end_tokens, follow_rules
from headlight.generation.step import GenerationStep, SamplingConfig, StepRecorder
from headlight.nn.attention import CROSS, KeyValues, KVCache, truncate_key_values
from headlight.nn.masks import extend_mask
from headlight.nn.transformer import Transformer, variant
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.tracing.continuation import encodes_alike, looks_ahead
from headlight.tracing.inputs import (
    ModelInput,
    apply_mask_tokens,
    encode_input,
    encode_memory,
    encode_source,
    segment_tensor,
    token_tensor,
)
from headlight.tracing.interventions import (
    Intervention,
    InterventionHook,
    InterventionLike,
    native_edits,
    parse_interventions,
)
from headlight.tracing.trace import Trace


@dataclass(frozen=True)
class CacheSize:
    """The size of one attention's key/value cache: key/value heads, tokens, and `element_size` bytes per number."""

    path: str
    key_value_heads: int
    tokens: int
    key_dim: int
    value_dim: int
    element_size: int

    @property
    def bytes(self) -> int:
        """The size of keys and values together, in bytes."""
        return prod((self.key_value_heads, self.tokens, self.key_dim + self.value_dim, self.element_size))


@dataclass(frozen=True, eq=False)
class Prefix:
    """An immutable key/value cache: token ids, keys and values by the path of their attention, and the encoder output.

    Reading more tokens creates a new one, so that several continuations can share it. `encoded_length` is the text
    length for which the keys were position-encoded: rotary frequencies may depend on it (`Rope.same_for_lengths`).
    """

    ids: tuple[int, ...]
    key_values: KeyValues
    encoded_length: int
    memory: Tensor | None = None

    def truncate(self, length: int) -> Prefix:
        """The cache of the first `length` tokens; valid only if no token attends to a later one."""
        return replace(self, ids=self.ids[:length], key_values=truncate_key_values(self.key_values, length))

    def cache_sizes(self) -> tuple[CacheSize, ...]:
        """The cache size of each layer's self-attention."""
        return tuple(
            CacheSize(path, k.shape[1], k.shape[2], k.shape[3], v.shape[3], k.element_size())
            for path, (k, v) in self.key_values.items()
            if not path.endswith(CROSS)
        )

    @property
    def bytes(self) -> int:
        """The size of all keys and values, including those of the source, in bytes."""
        return sum(tensor.nbytes for pair in self.key_values.values() for tensor in pair)


@dataclass(frozen=True)
class TextGenerator:
    """A model, a prompt and settings for generation: edits, sampling, and patterns of the paths that each step records.

    With `prediction_row_only` a step records only the predicting row of query x key values, that of the last token.
    """

    model: Transformer
    tokenizer: Tokenizer
    text: Encoded
    source: Encoded | None
    edits: tuple[Intervention, ...]
    sampling: SamplingConfig
    keep: tuple[str, ...] | None = None
    prediction_row_only: bool = False

    @classmethod
    def from_text(
        cls,
        model: Transformer,
        tokenizer: Tokenizer,
        text: ModelInput,
        interventions: Sequence[InterventionLike] = (),
        *,
        source: ModelInput | None = None,
        sampling: SamplingConfig = SamplingConfig(),
        keep: Sequence[str] | None = None,
        prediction_row_only: bool = False,
    ) -> TextGenerator:
        """A generator that starts with `text`. Raises TextError for a text or a model that cannot be continued."""
        if not task_of(model.config).continues_text:
            raise TextError("This model does not continue a text: it has no next-token head.")
        encoded, source_encoded = encode_input(model, tokenizer, text), encode_source(model, tokenizer, source)
        edits = parse_interventions(native_edits(model.config, interventions))
        patterns = None if keep is None else tuple(keep)
        return cls(model, tokenizer, encoded, source_encoded, edits, sampling, patterns, prediction_row_only)

    @property
    def can_cache(self) -> bool:
        """Whether keys and values of earlier tokens stay valid: none attends to a later one, no edit mixes tokens."""
        return not looks_ahead(self.model.config, self.edits)

    def encoded_with(self, generated: Sequence[int] = ()) -> Encoded:
        """The prompt with the tokens generated so far."""
        if not generated:
            return self.text
        added_text = text_of_tokens(self.model, self.tokenizer, generated)
        described = self.tokenizer.from_ids((*self.text.ids, *generated), self.text.text + added_text)
        return replace(
            described,
            token_texts=self.text.token_texts + described.token_texts[len(self.text.token_texts) :],
            roles=(*self.text.roles, *(("assistant",) * len(generated))) if self.text.roles else (),
            chat=self.text.chat,
        )

    @torch.inference_mode()
    def step(self, generated: Sequence[int] = (), prefix: Prefix | None = None) -> tuple[GenerationStep, Prefix]:
        """The step after the tokens `generated`, and the resulting key/value cache.

        With a prefix of the text only the tokens after it are read, or all tokens if keys and values do not stay valid
        (`can_cache`, `_can_continue`). A custom mask is extended with the text (`extend_mask`).
        """
        text = self.encoded_with(generated)
        model = with_extended_masks(self.model, len(self.text.ids), len(text.ids))
        reusable = prefix if prefix is not None and self._can_continue(prefix, len(text.ids)) else None
        cache = KVCache(len(reusable.ids), dict(reusable.key_values)) if reusable else KVCache()
        rows = (-1,) if self.prediction_row_only else None
        recorder = StepRecorder(model.config, self.edits, self.keep, rows, cache.length)
        memory = prefix.memory if prefix else None
        memory = encode_memory(model, self.source, recorder) if memory is None else memory
        ids = token_tensor(text, model)[:, cache.length :]
        hidden = model.encode_hidden(ids, memory=memory, hook=recorder, cache=cache if self.can_cache else None)
        logits = model.logits(hidden, hook=recorder)
        assert logits is not None  # `from_text` refuses models without a language head
        if prefix is None:
            recorder.edits.require_all_applied()
        length = len(text.ids)
        step = recorder.sample(text, self.source, logits[0, -1:], (length,), self.sampling, len(generated), self.follow)
        return step, Prefix(text.ids, cache.key_values, length, memory)

    def _can_continue(self, prefix: Prefix, length: int) -> bool:
        """Whether a prefix's keys and values equal those of a text of `length` tokens that is read at once."""
        return self.can_cache and encodes_alike(self.model, prefix.encoded_length, length)

    def is_finished(self, step: GenerationStep) -> bool:
        """Whether generation ends after a step: it chose an end token, or the context is full."""
        return step.chosen_token in self.end_tokens or step.position >= self.model.config.context_length

    @property
    def end_tokens(self) -> tuple[int, ...]:
        """The tokens that end the text."""
        return end_tokens(self.model.config, self.tokenizer)

    def follow(self, logits: Float[np.ndarray, " token"], ids: Sequence[int]) -> Float[np.ndarray, " token"]:
        """The logits of the token after `ids` by the checkpoint's rules; -inf for one not allowed."""
        return follow_rules(self.model.config.generation, logits, ids, len(self.text.ids))


def generate(
    model: Transformer,
    tokenizer: Tokenizer,
    text: ModelInput,
    interventions: Sequence[InterventionLike] = (),
    *,
    source: ModelInput | None = None,
    steps: int = 32,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    keep: Sequence[str] | None = None,
) -> Iterator[GenerationStep]:
    """Continue a text by up to `steps` sampled tokens; stops at an end token or when the context is full.

    The rules of the checkpoint's generation config are followed (`headlight.generation.rules`).
    `source` is the input of an encoder-decoder's encoder, a text or an image; `temperature`, `top_k`, `top_p` and
    `seed` are those of SamplingConfig (a random seed if None); `keep` lists patterns of paths that each step records.
    With a key/value cache a step reads one token, as long as earlier keys and values stay valid. Raises TextError,
    ImageError or EditError.
    """
    sampling = SamplingConfig(temperature, top_k, top_p, randbelow(2**63) if seed is None else seed)
    generator = TextGenerator.from_text(
        model, tokenizer, text, interventions, source=source, sampling=sampling, keep=keep
    )
    generated: tuple[int, ...] = ()
    prefix: Prefix | None = None
    for _ in range(steps):
        step, prefix = generator.step(generated, prefix)
        yield step
        if generator.is_finished(step):
            return
        generated = (*generated, step.chosen_token)


def text_of_tokens(model: Transformer, tokenizer: Tokenizer, token_ids: Sequence[int]) -> str:
    """The text of tokens. Raises TextError for an id outside the model's vocabulary."""
    for token_id in token_ids:
        if not 0 <= token_id < model.config.vocabulary_size:
            last = model.config.vocabulary_size - 1
            raise TextError(f"There is no token {token_id}: the vocabulary has the ids 0 to {last}.")
    return tokenizer.join_tokens(token_ids)


def with_extended_masks(model: Transformer, prompt_length: int, length: int) -> Transformer:
    """The model with its custom masks extended from the prompt's length to the text's."""
    masks = tuple(extend_mask(mask, prompt_length, length) for mask in model.config.masks)
    return model if masks == model.config.masks else variant(model, masks=masks)


def remaining_masks(
    model: Transformer,
    tokenizer: Tokenizer,
    text: ModelInput,
    masked_positions: Sequence[int] = (),
    filled: Mapping[int, int] | None = None,
) -> tuple[Encoded, tuple[int, ...]]:
    """A text with some masks `filled` (tokens by position), and the positions of the remaining masks."""
    if not task_of(model.config).fills_masks:
        raise TextError("This model has no masked-language head, so it cannot fill masks.")
    encoded, filled = apply_mask_tokens(encode_input(model, tokenizer, text), masked_positions, tokenizer), filled or {}
    mask_positions = [position for position, token in enumerate(encoded.ids) if token == tokenizer.mask_id]
    if set(filled) - set(mask_positions):
        raise TextError(
            f"Token {min(set(filled) - set(mask_positions))} is not masked, so nothing can be filled in there."
        )
    text_of_tokens(model, tokenizer, tuple(filled.values()))
    ids = [filled.get(position, token) for position, token in enumerate(encoded.ids)]
    return tokenizer.with_ids(encoded, ids), tuple(position for position in mask_positions if position not in filled)


@torch.inference_mode()
def fill_mask(
    model: Transformer,
    tokenizer: Tokenizer,
    text: ModelInput,
    interventions: Sequence[InterventionLike] = (),
    *,
    masked_positions: Sequence[int] = (),
    filled: Mapping[int, int] | None = None,
    sampling: SamplingConfig = SamplingConfig(),
    keep: Sequence[str] | None = None,
    prediction_row_only: bool = False,
) -> GenerationStep:
    """Fill one mask: the one whose most probable token has the highest probability (Chang et al. 2022, section 3.2).

    `filled` are the tokens of earlier steps, by position. With `prediction_row_only` the step records only that mask's
    row of query x key values. Raises TextError if no mask is left, or the model cannot fill masks.
    """
    encoded, remaining = remaining_masks(model, tokenizer, text, masked_positions, filled)
    if not remaining:
        raise TextError("No masked token is left to fill.")
    rows = remaining if prediction_row_only else None
    edits = parse_interventions(native_edits(model.config, interventions))
    recorder = StepRecorder(model.config, edits, keep, rows)
    logits = model(token_tensor(encoded, model), segment_ids=segment_tensor(encoded, model), hook=recorder)
    recorder.edits.require_all_applied()
    return recorder.sample(encoded, None, logits[0, list(remaining)], remaining, sampling, len(filled or {}))


LENGTH_PENALTY = 0.6  # as in Vaswani et al. 2017, section 6.1


@dataclass(frozen=True)
class Hypothesis:
    """A continuation: its tokens, the log probability of each, and whether it is complete."""

    tokens: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    is_finished: bool = False

    @property
    def log_probability(self) -> float:
        """The log probability of all tokens together."""
        return sum(self.log_probabilities)

    def score(self, length_penalty: float) -> float:
        """The log probability / ((5 + length) / 6)^penalty, so that long texts can win (Wu et al. 2016, eq. 14)."""
        return self.log_probability / math.pow((5 + len(self.tokens)) / 6, length_penalty)

    def extend(self, token: int, log_probability: float, is_finished: bool) -> Hypothesis:
        """The continuation with one more token."""
        return Hypothesis((*self.tokens, token), (*self.log_probabilities, log_probability), is_finished)


def transcript(trace: Trace, tokenizer: Tokenizer) -> str:
    """The text of the likeliest token per frame, without repetitions and blanks (CTC; Graves et al. 2006)."""
    likeliest = trace["logits"].argmax(-1).tolist()
    blank = trace.config.output_head_config.pad_token_id
    return tokenizer.decode([token for token, _ in groupby(likeliest) if token != blank]).strip()


def beam_search(
    model: Transformer,
    tokenizer: Tokenizer,
    text: ModelInput,
    interventions: Sequence[InterventionLike] = (),
    *,
    source: ModelInput | None = None,
    beams: int = 4,
    steps: int = 32,
    length_penalty: float = LENGTH_PENALTY,
) -> Iterator[tuple[Hypothesis, ...]]:
    """The beams after each step, sorted by score: at most `beams`, including finished ones.

    A step extends each unfinished beam by every token, and keeps the best of these and of the finished ones. The search
    ends after `steps`, when all beams are finished, or when the context is full; with one beam it is greedy decoding.
    The checkpoint's rules (`headlight.generation.rules`) change log probabilities, as in transformers. Raises TextError
    for a model that generates no text, for a number of beams below 1, and if the rules allow no token.
    """
    if beams < 1:
        raise TextError(f"There are {beams} beams; a search needs at least one.")
    generator = TextGenerator.from_text(model, tokenizer, text, interventions, source=source)
    hook = InterventionHook(generator.edits)
    memory = _encode_source(generator, hook)  # once for all beams
    kept: tuple[Hypothesis, ...] = (Hypothesis(),)
    ends = generator.end_tokens
    for step in range(min(steps, model.config.context_length - len(generator.text.ids) + 1)):
        unfinished = [beam for beam in kept if not beam.is_finished]
        if not unfinished:
            return
        best = _next_log_probabilities(generator, hook, unfinished, memory).topk(min(beams, tokenizer.vocabulary_size))
        if step == 0:
            hook.require_all_applied()
        candidates = [beam for beam in kept if beam.is_finished]
        for beam, values, tokens in zip(unfinished, best.values.tolist(), best.indices.tolist(), strict=True):
            for value, token in zip(values, tokens, strict=True):
                if value > -math.inf:
                    candidates.append(beam.extend(token, value, token in ends))
        kept = tuple(sorted(candidates, key=lambda each: each.score(length_penalty), reverse=True)[:beams])
        yield kept


@torch.inference_mode()
def _encode_source(generator: TextGenerator, hook: InterventionHook) -> Float[Tensor, "1 source memory_dim"] | None:
    return encode_memory(generator.model, generator.source, hook)


@torch.inference_mode()
def _next_log_probabilities(
    generator: TextGenerator, hook: InterventionHook, beams: Sequence[Hypothesis], memory: Tensor | None
) -> Float[Tensor, "beam token"]:
    """The log probability of each next token for each beam, by the checkpoint's rules.

    All beams have the same length, so they form one batch.
    """
    prompt = generator.text.ids
    model = with_extended_masks(generator.model, len(prompt), len(prompt) + len(beams[0].tokens))
    ids = torch.tensor([(*prompt, *beam.tokens) for beam in beams], device=model.device)
    memories = None if memory is None else memory.expand(len(beams), -1, -1)
    logits = model.logits(model.encode_hidden(ids, memory=memories, hook=hook), hook=hook)
    assert logits is not None  # `from_text` refuses models without a language head
    rows = logits[:, -1].float().log_softmax(-1).cpu().numpy()
    followed = [generator.follow(row, (*prompt, *beam.tokens)) for row, beam in zip(rows, beams, strict=True)]
    return torch.from_numpy(np.stack(followed))
