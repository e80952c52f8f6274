"""Answers for the sidebar."""

from __future__ import annotations

from headlight_app.contract.reply import Reply
from headlight_app.frame.contract import FrameAnswer, FrameRequest
from headlight_app.inference.choices import replaceable_parts
from headlight_app.inference.open_models import available_devices


def answer_frame(request: FrameRequest) -> Reply[FrameAnswer]:
    """The sidebar's choices for all models: the replaceable parts, and the devices."""
    return Reply(FrameAnswer(variants=replaceable_parts(), devices=available_devices()))
