"""What the objectives on running text have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headlight.array_types import Float
from headlight.data.corpus import TokenizedText


def sampling_probabilities(texts: Sequence[TokenizedText]) -> Float[np.ndarray, " text"]:
    """The probability that a row comes from each text, in proportion to its tokens times its epochs."""
    tokens = np.array([len(text.ids) * text.epochs for text in texts], dtype=np.float64)
    probabilities: np.ndarray = tokens / tokens.sum()
    return probabilities
