"""A model as the worker of a live page reads it: packed JSON of all that is known about it, and its packed weights."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

from headlight.checkpoints import Checkpoint
from headlight.errors import CheckpointError
from headlight.live.plan import plan_of, require_readable
from headlight.live.tokenizer.file import tokenizer_file
from headlight.live.weights import Precision
from headlight_app.live.facts import model_facts


@dataclass(frozen=True)
class ModelFile:
    """Both parts packed, and the positional encodings that the page can compute."""

    model: bytes
    weights: bytes
    encodings: tuple[str, ...]


def model_file(checkpoint: Checkpoint, name: str, precision: Precision) -> ModelFile:
    """The parts of a model. Raises HeadlightError, with the reason, for one that cannot become a live page."""
    require_readable(checkpoint.model)
    try:
        tokenizer = tokenizer_file(checkpoint.tokenizer)
    except CheckpointError as error:
        raise CheckpointError(f"{name} cannot become a live page. {error}") from error
    made = plan_of(checkpoint.model)
    plan, weights = made.files(precision)
    known = {"plan": plan, "tokenizer": tokenizer, "facts": model_facts(checkpoint, name)}
    encoded = json.dumps(known, separators=(",", ":")).encode()
    return ModelFile(packed(encoded), packed(weights), tuple(made.hidden))


def packed(content: bytes) -> bytes:
    """Bytes deflated, as `inflate` in ui/frontend/wire.ts reads them."""
    return zlib.compress(content, 9)
