"""The input of the first layer: a vector for each token, and the positional encoding of its position."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from headlight.array_types import Float
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding, Positions, Rope
from headlight.tracing.recording import to_numpy
from headlight_app.contract.reply import Reply
from headlight_app.explore.contract import InputVectorsAnswer, InputVectorsRequest
from headlight_app.inference.arrays import pack_arrays
from headlight_app.inference.resolved_question import resolve

MAX_TOKENS = 64  # the last tokens of a text
MAX_CHANNELS = 1_024
Places = Literal["added", "rotated", "scores", ""]


def answer_input_vectors(request: InputVectorsRequest) -> Reply[InputVectorsAnswer]:
    """The embeddings of the last tokens (of a sound, before the silence) as computed, and their positions."""
    resolved = resolve(request.question)
    stack = request.stack if request.stack in resolved.config.stacks else resolved.config.stacks[-1]
    embedding = resolved.value(f"{stack}.embedding")
    end = resolved.trace.text_of_stack(stack).read_count
    first = max(end - MAX_TOKENS, 0)
    encoding = resolved.model.stack(stack).positional_encoding
    added = resolved.value(f"{stack}.position_embedding")
    places, positions = _positions(encoding, torch.arange(len(embedding), device=resolved.model.device), added)
    shapes, numbers = pack_arrays(
        {"embedding": embedding[first:end, :MAX_CHANNELS], "positions": positions[first:end, :MAX_CHANNELS]}
    )
    title = POSITIONAL_ENCODINGS[resolved.config.for_stack(stack).positional_encoding].title
    return Reply(InputVectorsAnswer(shapes=shapes, first=first, title=title, places=places), numbers)


@torch.inference_mode()
def _positions(
    encoding: PositionalEncoding, ids: Positions, added: np.ndarray
) -> tuple[Places, Float[np.ndarray, "pos width"]]:
    """The values of a positional encoding for each position, and where they enter."""
    if added.any():
        return "added", added
    if isinstance(encoding, Rope):
        return "rotated", to_numpy(encoding.angles(ids).sin())
    if encoding.adds_to_scores and not encoding.has_content_bias:
        return "scores", to_numpy(encoding.bias(ids, ids)[0])
    return "", np.zeros((len(ids), 0), np.float32)
