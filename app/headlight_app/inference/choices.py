"""The replaceable parts of a model, with their choices from the registries."""

from __future__ import annotations

import msgspec

from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.masks import MASKS, mask_arguments, mask_titles
from headlight.nn.output_heads import POOLINGS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.registry import titles
from headlight_app.contract.parts import MaskArgument, PartChoices, VariantChoices


def variant_choices() -> dict[str, tuple[str, dict[str, str]]]:
    """By field of Variant: the part's title, and the title of each choice."""
    return {
        "masks": ("Mask", mask_titles()),
        "positional_encoding": ("Positional encoding", titles(POSITIONAL_ENCODINGS)),
        "attention_function": ("Attention function", titles(ATTENTION_FUNCTIONS)),
        "scale": ("Scale 1/√d", {"on": "divided by √d", "off": "not divided"}),
        "pooling": ("Pooling", {name: pooling.title for name, pooling in POOLINGS.items()}),
    }


def mask_argument_rows() -> dict[str, MaskArgument]:
    """The arguments (after the colon) of the masks that take one, by mask name."""
    rows = mask_arguments().items()
    return {name: msgspec.convert(argument, MaskArgument, from_attributes=True) for name, argument in rows}


def replaceable_parts() -> VariantChoices:
    """The same for the browser."""
    return VariantChoices(
        parts={field: PartChoices(title=title, names=names) for field, (title, names) in variant_choices().items()},
        unlisted_masks={name: row.title for name, row in MASKS.items() if not row.selectable},
        mask_arguments=mask_argument_rows(),
    )
