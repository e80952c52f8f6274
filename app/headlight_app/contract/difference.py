"""The difference of side B of a comparison from side A: only changed fields are set."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from headlight_app.contract.question import MAX_POSITION, Edits, Flag, Name, Positions, Text, one_of
from headlight_app.contract.state import Label

HeadNumber = Annotated[int, Meta(ge=0, le=MAX_POSITION, description="a number, counted from 0")]


class VariantDifference(Struct, frozen=True, forbid_unknown_fields=True):
    """The parts of a Variant that were chosen for B; an empty part is B's model as trained."""

    masks: Text | UnsetType = UNSET
    positional_encoding: Name | UnsetType = UNSET
    attention_function: Name | UnsetType = UNSET
    scale: Annotated[str, one_of(("", "on", "off"))] | UnsetType = UNSET
    pooling: Name | UnsetType = UNSET


class Difference(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The choices for side B; unset fields are as in side A.

    Without an `alignment` the server chooses how tokens are matched. If `layer` and `head` are set, B shows another
    head than A. `head_chosen` is "1" once a head was chosen; until then the head that differs most is shown.
    """

    model: Name | UnsetType = UNSET
    text: Text | UnsetType = UNSET
    source: Text | UnsetType = UNSET
    variant: VariantDifference = VariantDifference()
    edits: Edits | UnsetType = UNSET
    masked_positions: Positions | UnsetType = UNSET
    alignment: Label | UnsetType = UNSET
    layer: HeadNumber | UnsetType = UNSET
    head: HeadNumber | UnsetType = UNSET
    head_chosen: Flag | UnsetType = UNSET
