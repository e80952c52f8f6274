"""The rules of a checkpoint's generation config: when a text ends, and which tokens may follow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headlight.array_types import Float
from headlight.config import Config, GenerationConfig
from headlight.errors import TextError
from headlight.text.tokenizer import Tokenizer


def end_tokens(config: Config, tokenizer: Tokenizer) -> tuple[int, ...]:
    """The tokens that end a text: the checkpoint's, or else the tokenizer's end token, if it has one."""
    if config.generation.end_token_ids or tokenizer.end_id is None:
        return config.generation.end_token_ids
    return (tokenizer.end_id,)


def follow_rules(
    rules: GenerationConfig, logits: Float[np.ndarray, " token"], ids: Sequence[int], prompt_length: int
) -> Float[np.ndarray, " token"]:
    """The logits of the token after `ids`, of which the first `prompt_length` were given; -inf for one not allowed.

    The order is that of `generate` in transformers: repetition penalty, repeated n-grams, suppressed tokens. Raises
    TextError if no token is allowed.
    """
    if rules == GenerationConfig(end_token_ids=rules.end_token_ids):
        return logits
    changed = logits.astype(np.float64)
    known = np.unique(np.asarray(ids, dtype=np.int64))
    penalty = rules.repetition_penalty
    changed[known] = np.where(changed[known] < 0, changed[known] * penalty, changed[known] / penalty)
    changed[_repeating(ids, rules.no_repeat_ngram_size)] = -np.inf
    changed[list(rules.suppressed_token_ids)] = -np.inf
    is_forced = rules.forced_first_token_id is not None and prompt_length == 1
    if len(ids) == prompt_length + is_forced:  # the first token that is not forced
        changed[list(rules.first_suppressed_token_ids)] = -np.inf
    if is_forced and len(ids) == 1:
        changed = np.where(np.arange(len(changed)) == rules.forced_first_token_id, 0.0, -np.inf)
    if not np.isfinite(changed).any():
        raise TextError("The checkpoint's generation config allows no token here; the text cannot be continued.")
    return changed


def _repeating(ids: Sequence[int], size: int) -> list[int]:
    """The tokens that would end an n-gram of this size that occurs already."""
    if size == 0 or len(ids) + 1 < size:
        return []
    last = tuple(ids[len(ids) - size + 1 :])
    return [ids[at + size - 1] for at in range(len(ids) - size + 1) if tuple(ids[at : at + size - 1]) == last]
