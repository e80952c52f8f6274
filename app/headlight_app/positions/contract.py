"""Requests of the Positions page: the arrays of a positional encoding, and measurements of trained models."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from headlight_app.contract.arrays import ArraysAnswer
from headlight_app.contract.question import Index, Question
from headlight_app.contract.request import Answer, Lane, PageRequest, QuestionRequest
from headlight_app.contract.state import Label

MAX_LENGTH = 1024  # positions; some arrays have a number for each pair, and the page asks for 256
LONG_PROFILE = 512  # maximum number of positions for a quick answer


class PositionProfileAnswer(ArraysAnswer, frozen=True, kw_only=True):
    """The arrays of an encoding, with its formula and code; `missing` says which weights were never trained."""

    title: str
    description: str
    formula: str
    code: str
    missing: str


class PositionProfileRequest(QuestionRequest[PositionProfileAnswer], frozen=True, kw_only=True):
    """The positional encoding of a stack, by default the last one, at the positions 0 to `length` - 1.

    `layer` is for models whose layers encode positions differently.
    """

    route: ClassVar[str] = "position_profile"

    length: Annotated[int, Meta(ge=1, le=MAX_LENGTH, description=f"a number of positions from 1 to {MAX_LENGTH:,}")]
    stack: Label = ""
    layer: Index | None = None

    def wanted_lane(self) -> Lane:
        """A profile of many positions runs in the long lane."""
        return Lane.LONG if self.length > LONG_PROFILE else QuestionRequest.wanted_lane(self)


class MeasuredLoss(Struct, frozen=True, kw_only=True):
    """Bits per token, over the measured texts."""

    mean: float
    standard_error: float


class LossRow(Struct, frozen=True, kw_only=True):
    """A measured model: its loss at each length, None if undefined, and with shuffled words.

    `title` is its encoding's title.
    """

    question: Question
    title: str
    losses: tuple[MeasuredLoss | None, ...]
    shuffled: MeasuredLoss


class LossTable(Struct, frozen=True, kw_only=True):
    """The losses of models of one architecture that differ only in their encoding.

    Each is over `target_count` tokens; `seed_spread` is how far other seeds move each column: the widest range.
    `command` measures them.
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
    """Measurements of models that differ only in their positional encoding."""

    route: ClassVar[str] = "position_losses"
    is_http: ClassVar[bool] = False
