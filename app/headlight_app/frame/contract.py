"""Requests of the sidebar: the replaceable parts of a model, and the devices."""

from __future__ import annotations

from typing import ClassVar

from headlight_app.contract.parts import VariantChoices
from headlight_app.contract.request import Answer, PageRequest


class FrameAnswer(Answer, frozen=True, kw_only=True):
    """What can be replaced in a model, and the devices of the workers."""

    variants: VariantChoices
    devices: tuple[str, ...]


class FrameRequest(PageRequest[FrameAnswer], frozen=True, kw_only=True):
    """The sidebar's choices for all models."""

    route: ClassVar[str] = "frame"
    is_http: ClassVar[bool] = False
