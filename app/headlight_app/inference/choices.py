"""The parts of a model that can be exchanged, with the choices for each, as the registries have them."""

from __future__ import annotations

import msgspec

from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.masks import mask_arguments, mask_titles
from headlight.nn.output_heads import POOLINGS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.registry import titles
from headlight_app.contract.parts import MaskArgument


def variant_choices() -> dict[str, tuple[str, dict[str, str]]]:
    """By the field of State: the part's title, and the title of each of its choices."""
    return {
        "masks": ("Mask", mask_titles()),
        "positional_encoding": ("Positional encoding", titles(POSITIONAL_ENCODINGS)),
        "attention_function": ("Attention function", titles(ATTENTION_FUNCTIONS)),
        "scale": ("Scale 1/√d", {"on": "divided by √d", "off": "not divided"}),
        "pooling": ("Pooling", {name: pooling.title for name, pooling in POOLINGS.items()}),
    }


def mask_argument_rows() -> dict[str, MaskArgument]:
    """The arguments behind the colon of the masks that take one, by the mask's name."""
    rows = mask_arguments().items()
    return {name: msgspec.convert(argument, MaskArgument, from_attributes=True) for name, argument in rows}
