"""Beam search: of all continuations read so far, the few most probable ones are continued, token by token."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.errors import TextError
from headlight.generation.generate import TextGenerator, with_extended_masks
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.interventions import InterventionHook
from headlight.tracing.run import InterventionLike, encode_memory
from headlight.vision.image import ProcessedImage

LENGTH_PENALTY = 0.6  # as in Vaswani et al. 2017, section 6.1


@dataclass(frozen=True)
class Hypothesis:
    """A continuation: its tokens, the log probability of each, and whether it is complete."""

    tokens: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    is_finished: bool = False

    @property
    def log_probability(self) -> float:
        """That of all its tokens together."""
        return sum(self.log_probabilities)

    def score(self, length_penalty: float) -> float:
        """The log probability over ((5 + length) / 6)^penalty, so that a long text may win (Wu et al. 2016, eq. 14)."""
        return self.log_probability / math.pow((5 + len(self.tokens)) / 6, length_penalty)

    def extend(self, token: int, log_probability: float, is_finished: bool) -> Hypothesis:
        """The continuation with one more token."""
        return Hypothesis((*self.tokens, token), (*self.log_probabilities, log_probability), is_finished)


def beam_search(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    interventions: Sequence[InterventionLike] = (),
    *,
    source: str | ProcessedImage | None = None,
    beams: int = 4,
    steps: int = 32,
    length_penalty: float = LENGTH_PENALTY,
) -> Iterator[tuple[Hypothesis, ...]]:
    """The beams after each step, the best by score first: at most `beams`, finished ones among them.

    A step extends each unfinished beam by every token, and keeps the best of these and of the finished ones. The
    search ends after `steps`, when all beams are finished, or where the context is full; with one beam it is greedy
    decoding. Raises TextError for a model that writes nothing, and for a number of beams below 1.
    """
    if beams < 1:
        raise TextError(f"There are {beams} beams; a search needs at least one.")
    generator = TextGenerator.from_text(model, tokenizer, text, interventions, source=source)
    hook = InterventionHook(generator.edits)
    memory = _encode_source(generator, hook)  # once for all beams
    kept: tuple[Hypothesis, ...] = (Hypothesis(),)
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
                candidates.append(beam.extend(token, value, token == tokenizer.end_id))
        kept = tuple(sorted(candidates, key=lambda each: each.score(length_penalty), reverse=True)[:beams])
        yield kept


@torch.inference_mode()
def _encode_source(generator: TextGenerator, hook: InterventionHook) -> Float[Tensor, "1 source d_model"] | None:
    return encode_memory(generator.model, generator.source, hook)


@torch.inference_mode()
def _next_log_probabilities(
    generator: TextGenerator, hook: InterventionHook, beams: Sequence[Hypothesis], memory: Tensor | None
) -> Float[Tensor, "beam token"]:
    """The log probability of each token after each beam; all of them have the same length, so they are one batch."""
    prompt = generator.text.ids
    model = with_extended_masks(generator.model, len(prompt), len(prompt) + len(beams[0].tokens))
    ids = torch.tensor([(*prompt, *beam.tokens) for beam in beams], device=model.device)
    memories = None if memory is None else memory.expand(len(beams), -1, -1)
    logits = model.logits(model.encode_hidden(ids, memory=memories, hook=hook), hook=hook)
    assert logits is not None  # `from_text` refuses models without a language head
    return logits[:, -1].float().log_softmax(-1)
