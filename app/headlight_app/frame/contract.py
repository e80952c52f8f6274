"""Requests of the sidebar: the replaceable parts of a model, and the devices."""

from __future__ import annotations

from typing import ClassVar

from headlight_app.contract.parts import MaskArgument, PartChoices
from headlight_app.contract.request import Answer, PageRequest


class FrameAnswer(Answer, frozen=True, kw_only=True):
    """The parts by field of Variant, the masks that only a link can select, and the devices of the workers."""

    choices: dict[str, PartChoices]
    unlisted_masks: dict[str, str]
    mask_arguments: dict[str, MaskArgument]
    devices: tuple[str, ...]


class FrameRequest(PageRequest[FrameAnswer], frozen=True, kw_only=True):
    """The sidebar's choices for all models."""

    route: ClassVar[str] = "frame"
    is_http: ClassVar[bool] = False
