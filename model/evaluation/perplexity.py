"""How well a next-token model expects a text: nats per token, bits per byte.

What is counted: every token of the text but its very first, so also the `<|endoftext|>` between two documents, which
says that one has ended. Bytes are those of the documents as UTF-8, with the line ends inside a document, without the
separators and without what the tokenizer drops: separators cost bits and give no bytes. Between tokenizers the bits
compare as far as these lose nothing; one that folds capitals, or does not know every word, has less to expect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from model.array_types import Float, Int
from model.data.corpus import TokenizedText
from model.errors import DataError
from model.nn.transformer import Transformer
from model.training.loss import cross_entropy, logits_and_targets
from model.training.objectives import IGNORE_INDEX, Batch

WINDOWS_PER_BATCH = 16  # windows at once


@dataclass(frozen=True)
class TextLikelihood:
    """How much a text surprised a model: `nats` in all, over `tokens` asked tokens, in a text of `bytes` bytes."""

    negative_log_likelihood: float
    token_count: int
    byte_count: int

    @property
    def nats_per_token(self) -> float:
        """Nats per token."""
        return self.negative_log_likelihood / max(1, self.token_count)

    @property
    def bits_per_byte(self) -> float:
        """Bits per UTF-8 byte of the text: comparable between tokenizers that lose nothing of it."""
        return self.negative_log_likelihood / math.log(2) / max(1, self.byte_count)


@torch.inference_mode()
def text_likelihood(model: Transformer, text: TokenizedText) -> TextLikelihood:
    """Every token but the first, each predicted from at least half a context of tokens before it (if there are).

    Windows of a whole context overlap by half; of each only the later half is counted, of the first one all.
    """
    if len(text.ids) < 2:
        raise DataError(f"The text {text.name} has {len(text.ids)} tokens; at least 2 are needed.")
    nats = sum(
        cross_entropy(*logits_and_targets(model, batch.to(model.device))).item()
        for batch in sliding_windows(text.ids.astype(np.int64), model.config.context_length)
    )
    return TextLikelihood(nats, len(text.ids) - 1, text.byte_count)


def sliding_windows(ids: Int[np.ndarray, " token"], context: int, rows: int = WINDOWS_PER_BATCH) -> Iterator[Batch]:
    """Batches of overlapping windows; each token but the first is a target once."""
    context = min(context, len(ids) - 1)
    last_start = len(ids) - 1 - context  # where the last window begins: flush with the end
    starts = np.append(np.arange(0, last_start, max(1, context // 2)), last_start)
    counted_until = np.append(0, starts[:-1] + context)  # targets up to here were counted before
    for at in range(0, len(starts), rows):
        where = starts[at : at + rows, None] + np.arange(context + 1)
        window = ids[where]
        targets = np.where(where[:, 1:] > counted_until[at : at + rows, None], window[:, 1:], IGNORE_INDEX)
        yield Batch(torch.from_numpy(window[:, :-1].copy()), torch.from_numpy(targets))


def likelihood_from_probabilities(probabilities: Float[np.ndarray, " token"], text: TokenizedText) -> TextLikelihood:
    """The same for a model that gives each token's probability in turn; the first one is not counted here either."""
    return TextLikelihood(float(-np.log(probabilities[1:]).sum()), len(text.ids) - 1, text.byte_count)
