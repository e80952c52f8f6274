"""Answers for the Positions page: the profile of a positional encoding, with its formula and its code."""

from __future__ import annotations

import math

from headlight.errors import EditError
from headlight.evaluation.length_extrapolation import Extrapolation, Loss, ModelLosses, shipped_extrapolations
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding
from headlight.nn.transformer import Transformer, describe_missing_weights
from headlight_app.contract.question import Question
from headlight_app.contract.reply import Reply
from headlight_app.inference.arrays import pack_arrays
from headlight_app.inference.resolved_question import resolve
from headlight_app.inference.source_code import positional_encoding_section
from headlight_app.positions.contract import (
    LossRow,
    LossTable,
    MeasuredLoss,
    PositionLossesAnswer,
    PositionLossesRequest,
    PositionProfileAnswer,
    PositionProfileRequest,
)

ARRAYS = ("embeddings", "angles", "bias", "slopes", "similarity", "buckets", "bucket_similarity")
MAX_BIASES = 1 << 23  # numbers in an answer; 256 positions of 128 heads, which the page asks for
NATS_PER_BIT = math.log(2)


def answer_position_profile(request: PositionProfileRequest) -> Reply[PositionProfileAnswer]:
    """The arrays that a positional encoding has; see `PositionProfile`."""
    resolved = resolve(request.question)
    _check_size(resolved.model, request)
    profile = resolved.position_profile(request.length, request.stack, request.layer)
    encoding, section = POSITIONAL_ENCODINGS[profile.encoding], positional_encoding_section(profile.encoding)
    shapes, numbers = pack_arrays({name: array for name in ARRAYS if (array := getattr(profile, name)) is not None})
    answer = PositionProfileAnswer(
        shapes=shapes,
        title=encoding.title,
        description=encoding.description,
        formula=section.formula,
        code=section.code,
        missing=describe_missing_weights(resolved.model),
    )
    return Reply(answer, numbers)


def _check_size(model: Transformer, request: PositionProfileRequest) -> None:
    """Raises EditError if the biases of all heads are too many numbers to compute and send."""
    encodings = [each for each in model.modules() if isinstance(each, PositionalEncoding)]
    longest = math.isqrt(MAX_BIASES // model.config.heads)
    if request.length > longest and any(type(each).bias is not PositionalEncoding.bias for each in encodings):
        raise EditError(
            f"{request.length:,} positions have {model.config.heads} × {request.length:,}² biases, too many for an "
            f"answer; ask for at most {longest:,} positions."
        )


def answer_position_losses(request: PositionLossesRequest) -> Reply[PositionLossesAnswer]:
    """Measurements of models that differ only in their positional encoding; one table for each architecture."""
    tables = (_loss_table(*each) for each in shipped_extrapolations().items())
    return Reply(PositionLossesAnswer(tables=tuple(tables)))


def _loss_table(architecture: str, found: Extrapolation) -> LossTable:
    return LossTable(
        architecture=architecture,
        lengths=found.lengths,
        rows=tuple(map(_loss_row, found.models)),
        target_count=found.models[0].target_count,
        seed_spread=tuple(nats / NATS_PER_BIT for nats in found.seed_spread),
        command=found.command,
    )


def _loss_row(measured: ModelLosses) -> LossRow:
    losses = tuple(None if loss is None else _in_bits(loss) for loss in measured.losses)
    title = POSITIONAL_ENCODINGS[measured.positional_encoding].title
    return LossRow(
        question=Question(model=measured.name),
        title=title,
        losses=losses,
        shuffled=_in_bits(measured.shuffled),
    )


def _in_bits(loss: Loss) -> MeasuredLoss:
    """Pages show bits; training and measurements use nats, like PyTorch."""
    return MeasuredLoss(mean=loss.mean / NATS_PER_BIT, standard_error=loss.standard_error / NATS_PER_BIT)
