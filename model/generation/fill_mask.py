"""Filling masks: one mask token after the other is replaced by a sampled token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from model.errors import TextError
from model.generation.generate import GenerationStep, RowRecordingHook, _display_text
from model.generation.sampling import SamplingConfig
from model.nn.sites import hook_point_of
from model.nn.transformer import Transformer
from model.text.tokenizer import Encoded, Tokenizer
from model.tracing.interventions import InterventionHook
from model.tracing.run import (
    InterventionLike,
    RecordingHook,
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
    """A text with tokens put in the place of some of its masks, and where there still are masks."""
    if model.config.output_head != "masked-language-model":
        raise TextError("This model fills no masks: it has no head for them.")
    encoded, filled = apply_mask_tokens(encode_input(model, tokenizer, text), masked_positions, tokenizer), filled or {}
    mask_positions = [position for position, token in enumerate(encoded.ids) if token == tokenizer.mask_id]
    if set(filled) - set(mask_positions):
        raise TextError(
            f"Token {min(set(filled) - set(mask_positions))} is not masked, so nothing can be filled in there."
        )
    _display_text(model, tokenizer, tuple(filled.values()))
    ids = [filled.get(place, token) for place, token in enumerate(encoded.ids)]
    return tokenizer.from_ids(ids, encoded.text, encoded.offsets), tuple(
        place for place in mask_positions if place not in filled
    )


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
    """One step of filling masks, for the one whose likeliest token is most certain (Chang et al. 2022, section 3.2).

    `filled` are the tokens put in earlier steps, by position. With `asking` the step keeps of pairs of tokens only the
    row of that mask. Raises TextError where nothing is left to fill.
    """
    encoded, remaining = remaining_masks(model, tokenizer, text, masked_positions, filled)
    if not remaining:
        raise TextError("No token is masked any more, so there is nothing to fill in.")
    edits = InterventionHook(parse_interventions(interventions))
    record = (
        RowRecordingHook(edits, keep, model.config.stacks[-1], remaining)
        if prediction_row_only
        else RecordingHook(edits, keep)
    )
    with torch.inference_mode():
        rows = model(token_tensor(encoded, model), hook=record)[0, list(remaining)].float().cpu()
    edits.require_all_applied()
    surest = int(rows.softmax(-1).amax(-1).argmax())
    chosen = sampling.sample(rows[surest].numpy(), len(filled or {})).chosen
    edit_texts, arrays = tuple(map(str, edits.interventions)), record.arrays()
    if prediction_row_only:
        arrays = {
            path: value[:, [surest]] if "query" in hook_point_of(path).axes else value for path, value in arrays.items()
        }
    return GenerationStep(
        model.config, encoded, None, arrays, edit_texts, position=remaining[surest], chosen_token=chosen
    )
