"""What the Positions page draws: the profile of a positional encoding, with its formula and its code."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.state.request import integer_or_zero, parse_question
from app.ui.wire_format import pack, pack_arrays
from app.worker.export.pdf import writes_pdf
from app.worker.resolved_question import resolve
from app.worker.source_code import positional_encoding_section
from model.evaluation.length_extrapolation import Extrapolation, shipped_extrapolations
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.nn.variants import describe_missing_weights


def handle_profile(body: dict[str, Any]) -> bytes:
    """The arrays of a position profile, those that the encoding has; see `PositionProfile`."""
    resolved = resolve(parse_question(body))
    profile = resolved.position_profile(integer_or_zero(body.get("length")), str(body.get("stack", "")))
    section = positional_encoding_section(profile.encoding)
    names = ("embeddings", "angles", "bias", "slopes", "similarity", "buckets", "bucket_similarity")
    arrays = {name: array for name in names if (array := getattr(profile, name)) is not None}
    meta = {
        "title": POSITIONAL_ENCODINGS[profile.encoding].title,
        "description": POSITIONAL_ENCODINGS[profile.encoding].description,
        "formula": section.formula,
        "code": section.code,
        "missing": describe_missing_weights(resolved.model),
        "writes_pdf": writes_pdf(),
    }
    return pack_arrays(meta, arrays)


def handle_losses(body: dict[str, Any]) -> bytes:
    """What was measured of models that differ in their positional encoding alone; one table for each architecture."""
    return pack({"tables": [_losses_table(*each) for each in shipped_extrapolations().items()]})


def _losses_table(architecture: str, found: Extrapolation) -> dict[str, Any]:
    titles = {name: encoding.title for name, encoding in POSITIONAL_ENCODINGS.items()}
    return {
        "architecture": architecture,
        "lengths": found.lengths,
        "rows": [asdict(one) | {"title": titles[one.positional_encoding]} for one in found.models],
        "target_count": found.models[0].target_count,
        "seed_spread": found.seed_spread,
        "command": found.command,
    }


def handle_export_positions(body: dict[str, Any]) -> bytes:
    """The same for the browser, which lays out the page's figure and names the axes of its numbers."""
    return handle_profile(body)
