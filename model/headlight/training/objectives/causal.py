"""Next-token prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch

from headlight.array_types import Int, Shaped
from headlight.data.corpus import TokenizedText
from headlight.errors import DataError
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import CAUSAL_SPECIAL_TOKENS
from headlight.training.objectives.batch import Batch
from headlight.training.objectives.texts import sampling_probabilities


class CausalLanguageModeling:
    """Next-token prediction at every position."""

    config_values: ClassVar[dict[str, Any]] = {
        "architecture": "decoder",
        "output_head": "language-model",
        "masks": ("causal",),
    }
    tokenizer_kind: ClassVar[str] = "bpe"
    special_tokens: ClassVar[tuple[str, ...]] = CAUSAL_SPECIAL_TOKENS
    separates_documents: ClassVar[bool] = True

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[TokenizedText], options: dict[str, float]) -> None:
        if tokenizer.start_id is None:
            raise DataError("The causal objective needs a token that begins a text, such as <|endoftext|>.")
        self.start_id, self.texts, self.text_probabilities = tokenizer.start_id, texts, sampling_probabilities(texts)
        self.line_start_probability = options.get("line_start_probability", 0.0)

    def batch(self, generator: np.random.Generator, rows: int, context: int, schedule_factor: float = 1.0) -> Batch:
        """Windows from anywhere in the texts.

        With the probability `line_start_probability` a window begins with the start token and a line, as the texts do
        that people type.
        """
        which = generator.choice(len(self.texts), size=rows, p=self.text_probabilities)
        where, from_line_start = generator.random(rows), generator.random(rows) < self.line_start_probability
        windows = np.empty((rows, context + 1), dtype=np.int64)
        for row, (text, position, at_line_start) in enumerate(zip(which, where, from_line_start, strict=True)):
            windows[row] = self._window(self.texts[text], float(position), bool(at_line_start), context + 1)
        return _next_token_batch(windows)

    def _window(
        self, text: TokenizedText, position: float, at_line_start: bool, size: int
    ) -> Shaped[np.ndarray, " size"]:
        last = len(text.ids) - size  # the last start of a window that fits
        if last < 0:
            raise DataError(
                f"The text {text.name} has {len(text.ids)} tokens; a window takes {size}. "
                "Use a longer text or a shorter context."
            )
        if not at_line_start:
            at = int(position * (last + 1))
            return text.ids[at : at + size]
        fitting = max(1, int(np.searchsorted(text.line_starts, last, side="right")))
        at = int(text.line_starts[int(position * fitting)])
        window = np.concatenate(([self.start_id], text.ids[at : at + size - 1]))
        return window if len(window) == size else text.ids[last:]

    def validation_batch(self, text: TokenizedText, rows: int, context: int) -> Batch:
        """Adjacent windows, or evenly spaced ones of a text that has more than `rows`; a short text is one row."""
        size = min(context, len(text.ids) - 1) + 1
        fitting = max(1, (len(text.ids) - 1) // context)
        at = np.unique(np.linspace(0, fitting - 1, min(rows, fitting)).round().astype(np.int64)) * context
        return _next_token_batch(text.ids[at[:, None] + np.arange(size)].astype(np.int64))


def _next_token_batch(windows: Int[np.ndarray, "row size"]) -> Batch:
    tensor = torch.from_numpy(windows)
    return Batch(tensor[:, :-1].contiguous(), tensor[:, 1:].contiguous())


class UnmaskedLanguageModeling(CausalLanguageModeling):
    """Next-token prediction by a model that sees the next token: it learns to copy it, and nothing else."""

    config_values: ClassVar[dict[str, Any]] = {**CausalLanguageModeling.config_values, "masks": ()}
