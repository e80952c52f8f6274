"""Losses on texts longer than the training texts of a model (Press et al. 2022), and on texts with shuffled words.

The targets are the last tokens of a window, half of the trained length. A longer window ends at the same token and
starts earlier, so that all lengths have the same targets, and only the context differs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from headlight.array_types import Int, Shaped
from headlight.checkpoints import Checkpoint
from headlight.config import Config
from headlight.data.corpus import TokenizedText
from headlight.errors import DataError
from headlight.nn.transformer import Transformer, with_context_length
from headlight.paths import assets_dir
from headlight.tasks import task_of
from headlight.text.tokenizer import Tokenizer
from headlight.training.objectives.batch import IGNORE_INDEX, Batch
from headlight.training.train_step import logits_and_targets
from headlight.validation import from_plain

FACTORS = (1, 2, 4)  # of the trained length
MASK_RATE, SEED = 0.15, 15
WINDOWS_PER_BATCH = 16
Row = tuple[Int[np.ndarray, " pos"], Int[np.ndarray, " pos"]]  # the model's input, and the targets


@dataclass(frozen=True)
class Loss:
    """Cross-entropy in nats per target token, and its standard error over windows."""

    mean: float
    standard_error: float


@dataclass(frozen=True)
class ModelLosses:
    """The losses of one model at each of FACTORS times its trained length, and at that length with shuffled words.

    None at lengths for which it has no positions. `target_count` is the number of targets of each loss.
    """

    name: str
    positional_encoding: str
    target_count: int
    losses: tuple[Loss | None, ...]
    shuffled: Loss


@dataclass(frozen=True)
class Extrapolation:
    """The losses of models that differ only in their positional encoding, and the command that measured them.

    `repeats` are models with an encoding that occurs in `models`, trained with other seeds.
    """

    command: str
    lengths: tuple[int, ...]
    models: tuple[ModelLosses, ...]
    repeats: tuple[ModelLosses, ...] = ()

    @property
    def seed_spread(self) -> tuple[float, ...]:
        """The widest range of each loss between seeds, over all repeated encodings; the shuffled loss last."""
        ranges = []
        for encoding in {one.positional_encoding for one in self.repeats}:
            same = [_means(one) for one in (*self.models, *self.repeats) if one.positional_encoding == encoding]
            ranges.append(np.ptp(same, axis=0))
        return tuple(np.nanmax(ranges, axis=0).tolist()) if ranges else ()


def _means(measured: ModelLosses) -> list[float]:
    return [np.nan if loss is None else loss.mean for loss in (*measured.losses, measured.shuffled)]


def read_extrapolation(path: Path) -> Extrapolation:
    """The contents of a file from `headlight extrapolate --out`. Raises DataError for other files."""
    return from_plain(Extrapolation, json.loads(path.read_text(encoding="utf-8")), "table", DataError)


def shipped_extrapolations() -> dict[str, Extrapolation]:
    """The measurements of the shipped models, by architecture."""
    paths = sorted((assets_dir() / "positions").glob("*.json"))
    return {path.stem: read_extrapolation(path) for path in paths}


def extrapolation(command: str, config: Config, measured: Sequence[ModelLosses]) -> Extrapolation:
    """The losses of models whose configs differ only in the positional encoding; see Extrapolation."""
    first = {one.positional_encoding: one for one in reversed(measured)}
    models = tuple(one for one in measured if one is first[one.positional_encoding])
    repeats = tuple(one for one in measured if one is not first[one.positional_encoding])
    return Extrapolation(command, tuple(factor * config.context_length for factor in FACTORS), models, repeats)


def measure_losses(name: str, checkpoint: Checkpoint, texts: Sequence[TokenizedText], windows: int) -> ModelLosses:
    """The losses of a model over at most `windows` windows of each text.

    Raises DataError for a text without a document as long as the longest window.
    """
    model, trained = checkpoint.model, checkpoint.model.config.context_length
    cutter = _WindowCutter(checkpoint.tokenizer, trained, task_of(model.config).continues_text)
    ends = [cutter.ends(text, windows) for text in texts]

    def measured(length: int, *, shuffled: bool = False) -> tuple[Loss | None, int]:
        longer = with_context_length(model, length)
        if longer.new_parameters:
            return None, 0  # a learned table ends at the trained length
        rows = [
            cutter.row(text.ids, int(end), length, shuffled=shuffled)
            for text, found in zip(texts, ends, strict=True)
            for end in found
        ]
        return _mean_loss(longer, rows)

    losses, counts = zip(*(measured(factor * trained) for factor in FACTORS), strict=True)
    shuffled, _ = measured(trained, shuffled=True)
    assert shuffled is not None
    return ModelLosses(name, model.config.positional_encoding, counts[0], losses, shuffled)


class _WindowCutter:
    """Cuts windows of all lengths that end at the same token and have the same targets."""

    def __init__(self, tokenizer: Tokenizer, trained: int, causal: bool) -> None:
        texts = [tokenizer.token_text(number) for number in range(tokenizer.vocabulary_size)]
        self.ids = tokenizer.start_id, tokenizer.end_id, tokenizer.mask_id
        if not causal and None in self.ids:
            raise DataError("Losses of masked tokens need the tokens [CLS], [SEP] and [MASK] in the vocabulary.")
        self.causal = causal
        self.longest, self.target_span = FACTORS[-1] * trained, trained // 2
        marks_spaces = any(text[:1] == " " for text in texts)  # else each token counts as a word
        self.begins_within_word = np.array([marks_spaces and text[:1].isalnum() for text in texts])
        self.ends_within_word = np.array([text[-1:].isalnum() for text in texts])
        self.maskable = np.array([bool(text.strip()) for text in texts])
        self.maskable[list(tokenizer.special_ids)] = False

    def ends(self, text: TokenizedText, windows: int) -> Int[np.ndarray, " window"]:
        """The ends of windows that lie within a document, and whose targets do not overlap."""
        stops = np.append(text.document_starts[1:], len(text.ids))
        spans = zip(text.document_starts + self.longest + 1, stops + 1, strict=True)
        found = np.concatenate([np.arange(first, stop, self.target_span) for first, stop in spans])
        if not len(found):
            raise DataError(
                f"The text {text.name} has no document of {self.longest + 1} tokens, which the longest window takes."
            )
        chosen: np.ndarray = found[np.linspace(0, len(found) - 1, min(windows, len(found))).round().astype(int)]
        return chosen

    def row(self, ids: Shaped[np.ndarray, " token"], end: int, length: int, *, shuffled: bool) -> Row:
        """The model's input for a window of `length` tokens, and the targets."""
        return (self._causal_row if self.causal else self._masked_row)(ids, end, length, shuffled)

    def _causal_row(self, ids: np.ndarray, end: int, length: int, shuffled: bool) -> Row:
        tokens = ids[end - length - 1 : end].astype(np.int64)
        tokens = tokens[self._shuffled_words(tokens, end)] if shuffled else tokens
        is_target = np.arange(length) >= length - self.target_span
        return tokens[:-1], np.where(is_target, tokens[1:], IGNORE_INDEX)

    def _masked_row(self, ids: np.ndarray, end: int, length: int, shuffled: bool) -> Row:
        """The row of a masked-language model; shuffling keeps masked tokens masked, and targets targets."""
        size = length - 2  # without [CLS] and [SEP]
        tokens = ids[end - size : end].astype(np.int64)
        chance = np.random.default_rng((SEED, end)).random(self.longest)[-size:]
        masked = (chance < MASK_RATE) & self.maskable[tokens]
        is_target = masked & (np.arange(size) >= size - self.target_span)
        order = self._shuffled_words(tokens, end) if shuffled else np.arange(size)
        start_id, end_id, mask_id = np.array(self.ids, np.int64)
        read = np.where(masked, mask_id, tokens)[order]
        targets = np.where(is_target, tokens, IGNORE_INDEX)[order]
        return np.concatenate(([start_id], read, [end_id])), np.pad(targets, 1, constant_values=IGNORE_INDEX)

    def _shuffled_words(self, tokens: np.ndarray, end: int) -> Int[np.ndarray, " token"]:
        """A permutation of the tokens that shuffles words; the tokens of a word stay together."""
        continues = self.begins_within_word[tokens[1:]] & self.ends_within_word[tokens[:-1]]
        words = np.split(np.arange(len(tokens)), 1 + np.flatnonzero(~continues))
        order = np.random.default_rng((SEED, end, 1)).permutation(len(words))
        return np.concatenate([words[word] for word in order])


@torch.inference_mode()
def _mean_loss(model: Transformer, rows: Sequence[Row]) -> tuple[Loss, int]:
    """The loss over the targets of all rows, and their number."""
    ids, targets = (torch.from_numpy(np.stack(part)) for part in zip(*rows, strict=True))
    losses = []
    for batch in Batch(ids, targets).split(WINDOWS_PER_BATCH):
        logits, wanted = logits_and_targets(model, batch.to(model.device))
        each = functional.cross_entropy(logits.float(), wanted, reduction="none").double().cpu().numpy()
        losses.append(np.bincount(batch.target_rows.numpy(), each, minlength=len(batch.ids)))
    sums, counts = np.concatenate(losses), (targets != IGNORE_INDEX).sum(1).numpy()
    total = max(1, int(counts.sum()))
    mean = sums.sum() / total
    return Loss(float(mean), float(np.sqrt(((sums - mean * counts) ** 2).sum()) / total)), total
