"""The parts of a model that can be exchanged, with the choices for each, as the registries have them."""

from __future__ import annotations

from typing import Any

from app.ui.wire_format import pack
from app.worker.open_models import available_devices
from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.masks import MASKS, mask_arguments, mask_titles
from model.nn.output_heads import POOLINGS
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.registry import titles


def variant_choices() -> dict[str, tuple[str, dict[str, str]]]:
    """By the field of State: the part's title, and the title of each of its choices."""
    return {
        "masks": ("Mask", mask_titles()),
        "positional_encoding": ("Positional encoding", titles(POSITIONAL_ENCODINGS)),
        "attention_function": ("Attention function", titles(ATTENTION_FUNCTIONS)),
        "scale": ("Scale 1/√d", {"on": "divided by √d", "off": "not divided"}),
        "pooling": ("Pooling", {name: pooling.title for name, pooling in POOLINGS.items()}),
    }


def mask_arguments_payload() -> dict[str, dict[str, Any]]:
    """For the browser: what stands behind the colon of those masks that need it, by the mask's name."""
    return {
        name: {field: getattr(argument, field) for field in ("title", "default", "control", "limits")}
        for name, argument in mask_arguments().items()
    }


def handle_frame(body: dict[str, Any]) -> bytes:
    """What the sidebar offers whichever model is open: the parts that can be exchanged, and where to compute."""
    choices = {field: {"title": title, "names": names} for field, (title, names) in variant_choices().items()}
    unlisted = {
        name: row.title for name, row in MASKS.items() if not row.selectable
    }  # which a link may name all the same
    known = {"choices": choices, "unlisted_masks": unlisted, "mask_arguments": mask_arguments_payload()}
    return pack(known | {"devices": available_devices()})
