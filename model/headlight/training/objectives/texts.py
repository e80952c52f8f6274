"""Objectives on running text: next-token prediction and masked language modeling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch

from headlight.array_types import Bool, Float, Int, Shaped
from headlight.data.corpus import TokenizedText
from headlight.errors import DataError
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import CAUSAL_SPECIAL_TOKENS, MASKED_SPECIAL_TOKENS
from headlight.training.objectives.batch import IGNORE_INDEX, Batch


def sampling_probabilities(texts: Sequence[TokenizedText]) -> Float[np.ndarray, " text"]:
    """The probability that a row comes from each text, in proportion to its tokens times its epochs."""
    tokens = np.array([len(text.ids) * text.epochs for text in texts], dtype=np.float64)
    probabilities: np.ndarray = tokens / tokens.sum()
    return probabilities


def decoder_with(output_head: str) -> dict[str, Any]:
    """The Config fields of a decoder with this output head."""
    return {"architecture": "decoder", "output_head": output_head, "masks": ("causal",)}


def encoder_with(output_head: str) -> dict[str, Any]:
    """The Config fields of an encoder with this output head."""
    return {"architecture": "encoder", "output_head": output_head, "masks": ()}


class CausalLanguageModeling:
    """Next-token prediction at every position."""

    config_values: ClassVar[dict[str, Any]] = decoder_with("language-model")
    tokenizer_kind: ClassVar[str] = "bpe"
    special_tokens: ClassVar[tuple[str, ...]] = CAUSAL_SPECIAL_TOKENS
    separates_documents: ClassVar[bool] = True

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[TokenizedText], options: dict[str, float]) -> None:
        if tokenizer.start_id is None:
            raise DataError("The causal objective needs a start token, such as <|endoftext|>.")
        self.start_id, self.texts, self.text_probabilities = tokenizer.start_id, texts, sampling_probabilities(texts)
        self.line_start_probability = options.get("line_start_probability", 0.0)

    def batch(self, generator: np.random.Generator, rows: int, context: int, schedule_factor: float = 1.0) -> Batch:
        """Windows from anywhere in the texts.

        With the probability `line_start_probability` a window begins with the start token and a line, as typed texts
        do.
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
    """Next-token prediction by a model that sees the next token: it only learns to copy it."""

    config_values: ClassVar[dict[str, Any]] = {**CausalLanguageModeling.config_values, "masks": ()}


TRAINING_REPLACEMENTS = (0.9, 0.05)  # the fractions of targets that become [MASK], and a random token
VALIDATION_REPLACEMENTS = (1.0, 0.0)


@dataclass(frozen=True)
class TokenMasker:
    """Makes some tokens targets and hides them: a fraction `first_rate` of them, `final_rate` at the run's end.

    More targets teach more per batch; fewer are closer to the later use: the rate falls with the learning rate (Ankner
    et al. 2024 lower it throughout training).

    Of the targets 90 % are replaced by [MASK], 5 % by a random token, 5 % stay. BERT's 80, 10 and 10 % (Devlin et al.
    2019) are meant for models to be fine-tuned; a model to fill masks learns more from masks (Wettig et al. 2023).
    Raises DataError for a tokenizer without [MASK].
    """

    tokenizer: Tokenizer
    first_rate: float = 0.15
    final_rate: float = 0.15

    @classmethod
    def from_options(cls, tokenizer: Tokenizer, options: Mapping[str, float]) -> TokenMasker:
        """The rates of a recipe's options; a final rate of 0 means a constant rate."""
        rate = options.get("mask_rate", cls.first_rate)
        return cls(tokenizer, rate, options.get("final_mask_rate", 0.0) or rate)

    def __post_init__(self) -> None:
        if None in (self.tokenizer.start_id, self.tokenizer.end_id, self.tokenizer.mask_id):
            raise DataError("The masked objective needs the tokens [CLS], [SEP] and [MASK] in the vocabulary.")

    @cached_property
    def ordinary_ids(self) -> Int[np.ndarray, " token"]:
        """The ids of all but the special tokens."""
        return np.array(sorted(set(range(self.tokenizer.vocabulary_size)) - self.tokenizer.special_ids))

    @cached_property
    def _is_ordinary(self) -> Bool[np.ndarray, " token"]:
        return np.isin(np.arange(self.tokenizer.vocabulary_size), self.ordinary_ids)

    def rate(self, schedule_factor: float) -> float:
        """The fraction of tokens that are targets at a value of the learning-rate schedule, from 1 down to 0."""
        return self.final_rate + (self.first_rate - self.final_rate) * schedule_factor

    def mask(
        self,
        ids: Int[np.ndarray, "row pos"],
        is_text: Bool[np.ndarray, "row pos"],
        generator: np.random.Generator,
        rate: float,
        replacements: tuple[float, float],
    ) -> tuple[Int[np.ndarray, "row pos"], Int[np.ndarray, "row pos"]]:
        """The ids with a fraction `rate` of the ordinary tokens hidden, and the hidden tokens as targets."""
        candidates = np.flatnonzero(is_text & self._is_ordinary[ids])
        count = max(1, round(rate * len(candidates)))
        if not len(candidates):
            raise DataError("The texts contain no word that could be masked.")
        chosen = generator.choice(candidates, size=min(count, len(candidates)), replace=False, shuffle=True)
        hidden, targets = ids.copy(), np.full(ids.shape, IGNORE_INDEX, dtype=np.int64)
        targets.flat[chosen] = ids.flat[chosen]
        mask_count, random_count = (round(part * len(chosen)) for part in replacements)
        hidden.flat[chosen[:mask_count]] = self.tokenizer.mask_id
        random_ids = generator.choice(self.ordinary_ids, size=random_count)
        hidden.flat[chosen[mask_count : mask_count + random_count]] = random_ids
        return hidden, targets


class MaskedLanguageModeling:
    """Masked language modeling: the targets are the tokens that a TokenMasker hid.

    A row packs several segments `[CLS] ... [SEP]`, each starting with a sentence or line; they do not attend to each
    other.
    """

    config_values: ClassVar[dict[str, Any]] = encoder_with("masked-language-model")
    tokenizer_kind: ClassVar[str] = "wordpiece"
    special_tokens: ClassVar[tuple[str, ...]] = MASKED_SPECIAL_TOKENS
    separates_documents: ClassVar[bool] = False
    min_segment_length: ClassVar[int] = 8  # tokens; a smaller rest of a row is padding

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[TokenizedText], options: dict[str, float]) -> None:
        self.masker = TokenMasker.from_options(tokenizer, options)
        self.start_id, self.end_id = (
            int(number) for number in (tokenizer.start_id, tokenizer.end_id) if number is not None
        )
        self.pad_id = self.end_id if tokenizer.pad_id is None else tokenizer.pad_id
        self.sentence_tokens = _sentence_tokens(tokenizer)
        self.without_space = _ids_without_space(tokenizer)
        self.texts, self.text_probabilities = texts, sampling_probabilities(texts)
        self.segment_starts = [_segment_starts(text, *self.sentence_tokens) for text in texts]

    def batch(self, generator: np.random.Generator, rows: int, context: int, schedule_factor: float = 1.0) -> Batch:
        """Sampled segments packed into rows, with newly sampled targets."""
        ids, segments = self._pack_segments(
            self.texts, self.segment_starts, self.text_probabilities, generator, rows, context
        )
        return self._masked(ids, segments, generator, self.masker.rate(schedule_factor), TRAINING_REPLACEMENTS)

    def validation_batch(self, text: TokenizedText, rows: int, context: int) -> Batch:
        """Segments and targets from a fixed seed; every target is replaced by [MASK]."""
        generator = np.random.default_rng(1)
        rows = max(1, min(rows, len(text.ids) // context))
        starts = [_segment_starts(text, *self.sentence_tokens)]
        ids, segments = self._pack_segments([text], starts, np.ones(1), generator, rows, context)
        return self._masked(ids, segments, generator, self.masker.first_rate, VALIDATION_REPLACEMENTS)

    def _pack_segments(
        self,
        texts: Sequence[TokenizedText],
        starts: Sequence[np.ndarray],
        text_probabilities: Float[np.ndarray, " text"],
        generator: np.random.Generator,
        rows: int,
        context: int,
    ) -> tuple[Int[np.ndarray, "row pos"], Int[np.ndarray, "row pos"]]:
        """Rows packed with segments, and the segment number of each position (-1 for padding)."""
        ids = np.full((rows, context), self.pad_id, dtype=np.int64)
        segments = np.full((rows, context), -1, dtype=np.int64)
        row = column = 0
        for number, (text, where, length) in enumerate(
            _sample_segments(generator, text_probabilities, self.min_segment_length, context)
        ):
            tokens = _take_sentences(texts[text], starts[text], where, length, context - column - 2)
            end = column + len(tokens) + 2
            ids[row, column], ids[row, end - 1] = self.start_id, self.end_id
            ids[row, column + 1 : end - 1] = tokens
            ids[row, column + 1] = self.without_space[tokens[0]]
            segments[row, column:end] = number
            column = end
            if context - column < self.min_segment_length:
                row, column = row + 1, 0
                if row == rows:
                    break
        return ids, segments

    def _masked(
        self,
        ids: Int[np.ndarray, "row pos"],
        segments: Int[np.ndarray, "row pos"],
        generator: np.random.Generator,
        rate: float,
        replacements: tuple[float, float],
    ) -> Batch:
        """A batch whose segments do not attend to each other."""
        hidden, targets = self.masker.mask(ids, segments >= 0, generator, rate, replacements)
        numbers = torch.from_numpy(segments)
        same_segment = numbers[:, None, :, None] == numbers[:, None, None, :]
        return Batch(torch.from_numpy(hidden), torch.from_numpy(targets), same_segment)


def _sample_segments(
    generator: np.random.Generator, text_probabilities: np.ndarray, min_segment_length: int, context: int
) -> Iterator[tuple[int, float, int]]:
    """Endless samples: the text, a place in it (0 to 1), and the number of tokens.

    Lengths are log-uniform, because people type single sentences.
    """
    while True:
        which = generator.choice(len(text_probabilities), size=256, p=text_probabilities)
        where = generator.random(256)
        longest = np.log(max(min_segment_length, context - 1))
        lengths = np.exp(generator.uniform(np.log(min_segment_length), longest, 256)).astype(np.int64)
        yield from zip(which.tolist(), where.tolist(), lengths.tolist(), strict=True)


def _sentence_tokens(tokenizer: Tokenizer) -> tuple[Bool[np.ndarray, " token"], Bool[np.ndarray, " token"]]:
    """Which tokens end a sentence, and which may begin one because they have a capital letter."""
    pieces = [tokenizer.stripped_token_text(number) for number in range(tokenizer.vocabulary_size)]
    ends = np.array([piece in (".", "!", "?") for piece in pieces])
    return ends, np.array([piece[:1].isupper() for piece in pieces])


def _ids_without_space(tokenizer: Tokenizer) -> Int[np.ndarray, " token"]:
    """For each token, the same token without a leading space, if it exists: typed texts begin without one."""
    pieces = [tokenizer.token_text(number) for number in range(tokenizer.vocabulary_size)]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    return np.array([numbers.get(piece[1:], at) if piece[:1] == " " else at for at, piece in enumerate(pieces)])


def _segment_starts(text: TokenizedText, ends: np.ndarray, capital: np.ndarray) -> Int[np.ndarray, " start"]:
    """The positions at which a segment may begin: each line and each sentence."""
    ids = np.asarray(text.ids)
    sentences = 1 + np.flatnonzero(ends[ids[:-1]] & capital[ids[1:]])
    return np.union1d(text.line_starts, sentences)


def _take_sentences(
    text: TokenizedText, starts: np.ndarray, position: float, length: int, max_length: int
) -> np.ndarray:
    """Whole sentences of at most `length` tokens, but at least one, cut at `max_length`."""
    first = int(position * len(starts))
    begin = int(starts[first])
    after = int(np.searchsorted(starts, begin + length, side="right")) - 1
    end = int(starts[after]) if after > first else int(starts[first + 1]) if first + 1 < len(starts) else len(text.ids)
    following = int(np.searchsorted(text.document_starts, begin, side="right"))
    if following < len(text.document_starts):
        end = min(end, int(text.document_starts[following]))
    return text.ids[begin : min(end, begin + max(1, max_length))]
