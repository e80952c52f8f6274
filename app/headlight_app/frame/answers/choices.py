"""Answers for the sidebar."""

from __future__ import annotations

from headlight.nn.masks import MASKS
from headlight_app.contract.parts import PartChoices
from headlight_app.contract.reply import Reply
from headlight_app.frame.contract import FrameAnswer, FrameRequest
from headlight_app.inference.choices import mask_argument_rows, variant_choices
from headlight_app.inference.open_models import available_devices


def answer_frame(request: FrameRequest) -> Reply[FrameAnswer]:
    """The sidebar's choices for all models: the replaceable parts, and the devices."""
    choices = {field: PartChoices(title=title, names=names) for field, (title, names) in variant_choices().items()}
    unlisted = {name: row.title for name, row in MASKS.items() if not row.selectable}
    return Reply(
        FrameAnswer(
            choices=choices,
            unlisted_masks=unlisted,
            mask_arguments=mask_argument_rows(),
            devices=available_devices(),
        )
    )
