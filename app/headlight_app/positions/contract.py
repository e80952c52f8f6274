"""Requests of the Positions page: the arrays of a positional encoding, and measurements of trained models."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from headlight_app.contract.arrays import ArraysAnswer
from headlight_app.contract.question import Index, Question
from headlight_app.contract.request import Answer, Lane, PageRequest, QuestionRequest
from headlight_app.contract.state import Label

MAX_LENGTH = 4096  # positions: an array has a number for each pair of them
LONG_PROFILE = 2048  # positions up to which that takes moments


class PositionProfileAnswer(ArraysAnswer, frozen=True, kw_only=True):
    """The arrays that an encoding has, with its formula and its code; `missing` says what was never learned."""

    title: str
    description: str
    formula: str
    code: str
    missing: str
    writes_pdf: bool


class PositionProfileRequest(QuestionRequest[PositionProfileAnswer], frozen=True, kw_only=True):
    """The positional encoding of a stack, by default the last one, at the positions 0 to `length` - 1.

    `layer` is for models whose layers encode positions each in their own way.
    """

    route: ClassVar[str] = "position_profile"

    length: Annotated[int, Meta(ge=1, le=MAX_LENGTH, description=f"a number of positions from 1 to {MAX_LENGTH:,}")]
    stack: Label = ""
    layer: Index | None = None

    def wanted_lane(self) -> Lane:
        """So many positions are long work."""
        return Lane.LONG if self.length > LONG_PROFILE else QuestionRequest.wanted_lane(self)


class MeasuredLoss(Struct, frozen=True, kw_only=True):
    """Bits per token, over the texts that were measured."""

    mean: float
    standard_error: float


class LossRow(Struct, frozen=True, kw_only=True):
    """A model as it was measured: its loss at each length, None where that is undefined, and with shuffled words.

    `title` is that of its encoding.
    """

    question: Question
    title: str
    losses: tuple[MeasuredLoss | None, ...]
    shuffled: MeasuredLoss


class LossTable(Struct, frozen=True, kw_only=True):
    """The losses of models of one architecture that differ in their encoding alone.

    Each is of `target_count` tokens; `seed_spread` is how far other seeds move each column. `command` measured them.
    """

    architecture: str
    lengths: tuple[int, ...]
    rows: tuple[LossRow, ...]
    target_count: int
    seed_spread: tuple[float, ...]
    command: str


class PositionLossesAnswer(Answer, frozen=True, kw_only=True):
    """A table for each architecture."""

    tables: tuple[LossTable, ...]


class PositionLossesRequest(PageRequest[PositionLossesAnswer], frozen=True, kw_only=True):
    """Measurements of models that differ in their positional encoding alone."""

    route: ClassVar[str] = "position_losses"
    is_http: ClassVar[bool] = False
