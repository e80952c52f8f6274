"""Mask filling: one mask token after the other is replaced by a sampled token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from headlight.errors import TextError
from headlight.generation.generate import text_of_tokens
from headlight.generation.sampling import SamplingConfig
from headlight.generation.step import GenerationStep, StepRecorder
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.tracing.run import (
    InterventionLike,
    apply_mask_tokens,
    encode_input,
    parse_interventions,
    token_tensor,
)


def remaining_masks(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    masked_positions: Sequence[int] = (),
    filled: Mapping[int, int] | None = None,
) -> tuple[Encoded, tuple[int, ...]]:
    """A text with some of its masks `filled` (tokens by position), and the positions of the masks that remain."""
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
    return tokenizer.from_ids(ids, encoded.text, encoded.offsets), tuple(
        position for position in mask_positions if position not in filled
    )


@torch.inference_mode()
def fill_mask(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    interventions: Sequence[InterventionLike] = (),
    *,
    masked_positions: Sequence[int] = (),
    filled: Mapping[int, int] | None = None,
    sampling: SamplingConfig = SamplingConfig(),
    keep: Sequence[str] | None = None,
    prediction_row_only: bool = False,
) -> GenerationStep:
    """Fill one mask: the one whose most probable token is the most certain (Chang et al. 2022, section 3.2).

    `filled` are the tokens of earlier steps, by position. With `prediction_row_only` the step records only that mask's
    row of query x key values. Raises TextError where no mask is left, or the model fills none.
    """
    encoded, remaining = remaining_masks(model, tokenizer, text, masked_positions, filled)
    if not remaining:
        raise TextError("No masked token is left to fill.")
    rows = remaining if prediction_row_only else None
    recorder = StepRecorder(model.config, parse_interventions(interventions), keep, rows)
    logits = model(token_tensor(encoded, model), hook=recorder)
    recorder.edits.require_all_applied()
    return recorder.sample(encoded, None, logits[0, list(remaining)], remaining, sampling, len(filled or {}))
