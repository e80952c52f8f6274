"""Measures of token prediction: bits per byte, accuracy at masked tokens, and cloze tests.

Bits count all tokens of the text except the first, including the `<|endoftext|>` between two documents. Bytes count the
documents as UTF-8, with the line breaks inside a document, without the separators and without characters that the
tokenizer drops: separators cost bits but add no bytes. Bits per byte are comparable between tokenizers that lose
nothing; a tokenizer that lower-cases, or has unknown words, leaves less to predict.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from headlight.array_types import Float, Int
from headlight.data.corpus import TokenizedText
from headlight.errors import DataError
from headlight.nn.transformer import Transformer
from headlight.tasks import require_token_task, task_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.inputs import encode_input
from headlight.tracing.predictions import candidates, prediction_positions
from headlight.tracing.run import run
from headlight.training.objectives.batch import IGNORE_INDEX, Batch
from headlight.training.train_step import cross_entropy, logits_and_targets

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
        """Bits per UTF-8 byte of the text, comparable between tokenizers that lose nothing."""
        return self.negative_log_likelihood / math.log(2) / max(1, self.byte_count)


@torch.inference_mode()
def text_likelihood(model: Transformer, text: TokenizedText) -> TextLikelihood:
    """The likelihood of all tokens but the first, each predicted from at least half a context, if there are as many.

    Windows of a whole context overlap by half; each target counts in the first window that holds it.
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
    last_start = len(ids) - 1 - context  # start of the last window, which ends with the text
    starts = np.append(np.arange(0, last_start, max(1, context // 2)), last_start)
    counted_until = np.append(0, starts[:-1] + context)  # targets up to here were counted before
    for at in range(0, len(starts), rows):
        where = starts[at : at + rows, None] + np.arange(context + 1)
        window = ids[where]
        targets = np.where(where[:, 1:] > counted_until[at : at + rows, None], window[:, 1:], IGNORE_INDEX)
        yield Batch(torch.from_numpy(window[:, :-1].copy()), torch.from_numpy(targets))


MASK_RATE, SEED = 0.15, 15
MAX_LINES, MAX_TOKENS = 3, 128  # per sequence
SEQUENCES_PER_BATCH = 64


@dataclass(frozen=True)
class TopKAccuracy:
    """Of `target_count` masked tokens, the numbers that were the likeliest candidate, and among the five likeliest."""

    target_count: int
    top1_hits: int
    top5_hits: int

    @property
    def top1(self) -> float:
        """The fraction of targets that are the likeliest candidate."""
        return self.top1_hits / max(1, self.target_count)

    @property
    def top5(self) -> float:
        """The fraction of targets among the five likeliest candidates."""
        return self.top5_hits / max(1, self.target_count)


@dataclass(frozen=True)
class MaskedBatch:
    """Sequences with masked tokens, padded to the longest.

    `ids` is the model's input, with `mask_id` at masked positions and -1 for padding; `targets` has the original token
    at masked positions and -1 elsewhere.
    """

    ids: Int[np.ndarray, "row pos"]
    targets: Int[np.ndarray, "row pos"]

    @property
    def target_count(self) -> int:
        """The number of masked tokens."""
        return int((self.targets >= 0).sum())


@runtime_checkable
class MaskedPredictor(Protocol):
    """Scores every token of the vocabulary at each masked position."""

    def token_scores(self, batch: MaskedBatch) -> Float[np.ndarray, "target token"]:
        """Scores, higher for likelier; one row per masked position, in their order."""
        ...


def typed_sequences(text: TokenizedText, generator: np.random.Generator) -> Iterator[Int[np.ndarray, " token"]]:
    """One to three lines at a time, never across the end of a document, like what people type."""
    ends = np.append(text.line_starts[1:], len(text.ids))
    document = np.searchsorted(text.document_starts, text.line_starts, side="right")
    line = 0
    while line < len(text.line_starts):
        last = line
        for _ in range(int(generator.integers(MAX_LINES))):
            if last + 1 < len(text.line_starts) and document[last + 1] == document[line]:
                last += 1
        yield text.ids[text.line_starts[line] : ends[last]].astype(np.int64)
        line = last + 1


def masked_batches(text: TokenizedText, tokenizer: Tokenizer, context: int) -> list[MaskedBatch]:
    """All sequences of a text in batches of similar length, with 15 % of each one's tokens (at least one) masked.

    A masked token is always replaced by [MASK]. Special tokens, unknown words and line ends are never masked.
    """
    special_ids = _special_ids(tokenizer)
    if special_ids is None:
        raise DataError("Masked accuracy needs the tokens [CLS], [SEP] and [MASK] in the vocabulary.")
    generator = np.random.default_rng(SEED)
    blank_ids = [number for number in range(tokenizer.vocabulary_size) if not tokenizer.stripped_token_text(number)]
    excluded_ids = np.array([*tokenizer.special_ids, *blank_ids], np.int64)
    max_tokens = min(context, MAX_TOKENS) - 2
    masked_sequences = []
    for tokens in typed_sequences(text, generator):
        candidates = np.flatnonzero(~np.isin(tokens[:max_tokens], excluded_ids))
        if len(candidates):
            masked = generator.choice(candidates, size=max(1, round(MASK_RATE * len(candidates))), replace=False)
            masked_sequences.append((tokens[:max_tokens], masked))
    masked_sequences.sort(key=lambda each: len(each[0]))
    return [
        _pad_batch(masked_sequences[at : at + SEQUENCES_PER_BATCH], *special_ids)
        for at in range(0, len(masked_sequences), SEQUENCES_PER_BATCH)
    ]


def _special_ids(tokenizer: Tokenizer) -> tuple[int, int, int] | None:
    """[CLS], [SEP] and [MASK]; None if the tokenizer lacks one of them."""
    start, end, mask = tokenizer.start_id, tokenizer.end_id, tokenizer.mask_id
    return None if start is None or end is None or mask is None else (start, end, mask)


def _pad_batch(
    masked_sequences: Sequence[tuple[np.ndarray, np.ndarray]], start: int, end: int, mask: int
) -> MaskedBatch:
    longest = max(len(tokens) for tokens, _ in masked_sequences) + 2
    ids = np.full((len(masked_sequences), longest), -1, dtype=np.int64)
    targets = np.full((len(masked_sequences), longest), -1, dtype=np.int64)
    for row, (tokens, masked) in enumerate(masked_sequences):
        ids[row, : len(tokens) + 2] = [start, *tokens, end]
        targets[row, 1 + masked] = tokens[masked]
        ids[row, 1 + masked] = mask
    return MaskedBatch(ids, targets)


@dataclass(frozen=True)
class ModelPredictor:
    """A masked-language model as a MaskedPredictor."""

    model: Transformer

    @torch.inference_mode()
    def token_scores(self, batch: MaskedBatch) -> Float[np.ndarray, "target token"]:
        """The logits at masked positions."""
        ids = torch.from_numpy(batch.ids).to(self.model.device)
        final = self.model.encode_hidden(ids.clamp(min=0), padding_mask=ids >= 0)
        logits = self.model.output_head(final[torch.from_numpy(batch.targets >= 0).to(ids.device)])
        scores: np.ndarray = logits.float().cpu().numpy()
        return scores


def top_k_accuracy(predictor: MaskedPredictor, batches: Sequence[MaskedBatch]) -> TopKAccuracy:
    """The accuracy of the likeliest token, and of the five likeliest; ties rank by token id."""
    ranks = np.concatenate(
        [_target_ranks(predictor.token_scores(batch), batch.targets[batch.targets >= 0]) for batch in batches]
    )
    return TopKAccuracy(len(ranks), int((ranks < 1).sum()), int((ranks < 5).sum()))


def _target_ranks(
    scores: Float[np.ndarray, "target token"], targets: Int[np.ndarray, " target"]
) -> Int[np.ndarray, " target"]:
    """The number of tokens ranked before each target."""
    own = scores[np.arange(len(targets)), targets][:, None]
    before = np.arange(scores.shape[1])[None, :] < targets[:, None]
    ranks: np.ndarray = ((scores > own) | ((scores == own) & before)).sum(1)
    return ranks


MASK = "[MASK]"
TOP_K = 5


@dataclass(frozen=True)
class ClozeSentence:
    """A sentence with a missing word, and the words that a person would accept."""

    text: str
    accepted: tuple[str, ...]


@dataclass(frozen=True)
class ClozeAnswer:
    """A model's first guesses for the missing word, and the index of the first accepted one (None if there is none)."""

    sentence: ClozeSentence
    guesses: tuple[str, ...]
    rank: int | None


@dataclass(frozen=True)
class ClozeResult:
    """All answers to one file."""

    name: str
    answers: tuple[ClozeAnswer, ...]

    def hits(self, k: int) -> int:
        """The number of answers with an accepted word among the first `k` guesses."""
        return sum(answer.rank is not None and answer.rank < k for answer in self.answers)

    def accuracy(self, k: int) -> float:
        """The fraction of answers with an accepted word among the first `k` guesses."""
        return self.hits(k) / max(1, len(self.answers))

    @property
    def misses(self) -> tuple[ClozeAnswer, ...]:
        """The answers without an accepted word."""
        return tuple(answer for answer in self.answers if answer.rank is None)


def read_cloze(path: Path) -> tuple[ClozeSentence, ...]:
    """The sentences of a file. Raises DataError that names the first malformed line.

    A line has a sentence, ` | `, and the accepted words. For a next-token model the sentence stops before the word; for
    a masked-language model it contains one [MASK]. Lines that start with # are comments. Only words of one token count:
    for a longer word the model would only predict a part, with which other words may start as well.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The cloze test {path} cannot be read: {error}.") from error
    sentences = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            text, bar, words = line.rpartition(" | ")
            if not bar or not words.split():
                raise DataError(f"{path}, line {number}: wanted SENTENCE | word word ..., found {line!r}.")
            sentences.append(ClozeSentence(text, tuple(words.split())))
    if not sentences:
        raise DataError(f"The cloze test {path} holds no sentence.")
    return tuple(sentences)


def cloze_sentences(path: Path, masked: bool) -> tuple[ClozeSentence, ...]:
    """The sentences of a file for one kind of model. Raises DataError if the file is for the other kind."""
    sentences = read_cloze(path)
    for sentence in sentences:
        if sentence.text.count(MASK) != masked:
            wanted = (
                f"one {MASK} in each sentence" if masked else f"sentences that stop before the word, without {MASK}"
            )
            raise DataError(f"{path.name}: this model needs {wanted}; it cannot be asked {sentence.text!r}.")
    return sentences


def run_cloze(model: Transformer, tokenizer: Tokenizer, path: Path) -> ClozeResult:
    """A model's answers to every sentence of a file. Raises DataError if the file is for the other kind of model."""
    require_token_task(model.config)
    sentences = cloze_sentences(path, masked=task_of(model.config).fills_masks)
    return ClozeResult(path.stem, tuple(_model_answer(model, tokenizer, sentence) for sentence in sentences))


def _model_answer(model: Transformer, tokenizer: Tokenizer, sentence: ClozeSentence) -> ClozeAnswer:
    text = cloze_prompt(tokenizer, sentence)
    (position,) = prediction_positions(model, tokenizer, encode_input(model, tokenizer, text))
    guesses = candidates(run(model, tokenizer, text, keep=("logits",)), tokenizer, position, TOP_K)
    return ranked_answer(tokenizer, sentence, [guess.id for guess in guesses])


def ranked_answer(tokenizer: Tokenizer, sentence: ClozeSentence, guesses: Sequence[int]) -> ClozeAnswer:
    """The answer with these token ids as guesses, best first; the first five are kept."""
    accepted, guesses = accepted_ids(tokenizer, sentence), guesses[:TOP_K]
    rank = next((index for index, guess in enumerate(guesses) if guess in accepted), None)
    return ClozeAnswer(sentence, tuple(map(tokenizer.stripped_token_text, guesses)), rank)


def cloze_prompt(tokenizer: Tokenizer, sentence: ClozeSentence) -> str:
    """The sentence with [MASK] written as this tokenizer's mask token."""
    mask_token = None if tokenizer.mask_id is None else tokenizer.backend.id_to_token(tokenizer.mask_id)
    return sentence.text.replace(MASK, mask_token or MASK)


def accepted_ids(tokenizer: Tokenizer, sentence: ClozeSentence) -> frozenset[int]:
    """The ids of the accepted words that are one token in place of [MASK], or after the sentence and a space."""
    (prompt_ids,) = tokenizer.encode_batch([cloze_prompt(tokenizer, sentence)])
    if MASK not in sentence.text:
        continued = tokenizer.encode_batch([f"{sentence.text} {word}" for word in sentence.accepted])
        end = len(prompt_ids)
        return frozenset(ids[end] for ids in continued if ids[:-1] == prompt_ids) - tokenizer.special_ids
    position = prompt_ids.index(tokenizer.mask_id) if tokenizer.mask_id in prompt_ids else -1
    filled = tokenizer.encode_batch([sentence.text.replace(MASK, word) for word in sentence.accepted])
    around = prompt_ids[:position], prompt_ids[position + 1 :]
    fitting = [ids for ids in filled if len(ids) == len(prompt_ids) and (ids[:position], ids[position + 1 :]) == around]
    return frozenset(ids[position] for ids in fitting) - tokenizer.special_ids
