"""The likelihood of a text under a next-token model: bits per token, bits per byte.

Every token of the text but the first is counted, also the `<|endoftext|>` between two documents. Bytes are those of the
documents as UTF-8, with the line ends inside a document, without the separators and without what the tokenizer drops:
separators cost bits but add no bytes. Bits per byte compare between tokenizers that lose nothing; a tokenizer that
lower-cases, or has unknown words, leaves less to predict.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from headlight.array_types import Int
from headlight.data.corpus import TokenizedText
from headlight.errors import DataError
from headlight.nn.transformer import Transformer
from headlight.training.loss import cross_entropy, logits_and_targets
from headlight.training.objectives.batch import IGNORE_INDEX, Batch

WINDOWS_PER_BATCH = 16


@dataclass(frozen=True)
class TextLikelihood:
    """The negative log-likelihood (nats) of `token_count` tokens, in a text of `byte_count` bytes."""

    negative_log_likelihood: float
    token_count: int
    byte_count: int

    @property
    def bits_per_token(self) -> float:
        """Bits per token."""
        return self.negative_log_likelihood / math.log(2) / max(1, self.token_count)

    @property
    def bits_per_byte(self) -> float:
        """Bits per UTF-8 byte of the text: comparable between tokenizers that lose nothing of it."""
        return self.negative_log_likelihood / math.log(2) / max(1, self.byte_count)


@torch.inference_mode()
def text_likelihood(model: Transformer, text: TokenizedText) -> TextLikelihood:
    """Every token but the first, each predicted from at least half a context of tokens, as far as there are any.

    Windows of a whole context overlap by half; only the later half of each is counted, and all of the first.
    """
    if len(text.ids) < 2:
        raise DataError(f"The text {text.name} has {len(text.ids)} tokens; at least 2 are needed.")
    negative_log_likelihood = sum(
        cross_entropy(*logits_and_targets(model, batch.to(model.device))).item()
        for batch in sliding_windows(text.ids.astype(np.int64), model.config.context_length)
    )
    return TextLikelihood(negative_log_likelihood, len(text.ids) - 1, text.byte_count)


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
