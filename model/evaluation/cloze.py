"""A fill-in test: everyday sentences, and whether the word that a person expects is among the model's first guesses.

A file has one sentence a line, ` | `, and the accepted words. For a next-token model the sentence stops before the
word; for a masked model it holds one [MASK]. Lines that begin with # are notes. Only words that are one token count: of
a longer one the model would be asked for a part, which may begin another word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.errors import DataError
from model.evaluation.kneser_ney import KneserNey
from model.evaluation.masked_accuracy import MaskedBatch
from model.evaluation.sides import TwoSidedNgram
from model.nn.transformer import Transformer, require_output_head
from model.text.tokenizer import Tokenizer
from model.tracing.run import candidates, encode_input, prediction_positions, run

MASK = "[MASK]"
TOP_K = 5


@dataclass(frozen=True)
class ClozeSentence:
    """A sentence with a gap, and the words that a person would accept in it."""

    text: str
    accepted: tuple[str, ...]


@dataclass(frozen=True)
class ClozeAnswer:
    """What a model put into a gap: its first guesses, and the place of the first accepted one (None: none is)."""

    sentence: ClozeSentence
    guesses: tuple[str, ...]
    rank: int | None


@dataclass(frozen=True)
class ClozeResult:
    """All answers to one file; `by` names a counting model that gave them, where it was not the model itself."""

    name: str
    answers: tuple[ClozeAnswer, ...]
    baseline: str = ""

    def hits(self, k: int) -> int:
        """How many answers have an accepted word among the first `top`."""
        return sum(answer.rank is not None and answer.rank < k for answer in self.answers)

    def accuracy(self, k: int) -> float:
        """The same as a share."""
        return self.hits(k) / max(1, len(self.answers))

    @property
    def misses(self) -> tuple[ClozeAnswer, ...]:
        """The answers without an accepted word."""
        return tuple(answer for answer in self.answers if answer.rank is None)


def read_cloze(path: Path) -> tuple[ClozeSentence, ...]:
    """The sentences of a file. Raises DataError that names the line which is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The fill-in test {path} cannot be read: {error}.") from error
    sentences = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            text, bar, words = line.rpartition(" | ")
            if not bar or not words.split():
                raise DataError(f"{path}, line {number}: wanted SENTENCE | word word ..., found {line!r}.")
            sentences.append(ClozeSentence(text, tuple(words.split())))
    if not sentences:
        raise DataError(f"The fill-in test {path} holds no sentence.")
    return tuple(sentences)


def run_cloze(model: Transformer, tokenizer: Tokenizer, path: Path) -> ClozeResult:
    """Asks a model every sentence of a file. Raises DataError where the file is for the other kind of model."""
    require_output_head(model, "language-model", "masked-language-model")
    sentences = _sentences_for(path, masked=model.config.output_head == "masked-language-model")
    return ClozeResult(path.stem, tuple(_model_answer(model, tokenizer, sentence) for sentence in sentences))


def run_ngram_cloze(ngram: KneserNey | TwoSidedNgram, tokenizer: Tokenizer, path: Path) -> ClozeResult:
    """Asks a counting model the same: after the sentence's last tokens, or between those around the gap."""
    sentences = _sentences_for(path, masked=isinstance(ngram, TwoSidedNgram))
    baseline = "two-sided 5-gram" if isinstance(ngram, TwoSidedNgram) else "Kneser-Ney 5-gram"
    return ClozeResult(path.stem, tuple(_ngram_answer(ngram, tokenizer, sentence) for sentence in sentences), baseline)


def _sentences_for(path: Path, masked: bool) -> tuple[ClozeSentence, ...]:
    sentences = read_cloze(path)
    for sentence in sentences:
        if sentence.text.count(MASK) != masked:
            wanted = (
                f"one {MASK} in each sentence" if masked else f"sentences that stop before the word, without {MASK}"
            )
            raise DataError(f"{path.name}: this model needs {wanted}; it cannot be asked {sentence.text!r}.")
    return sentences


def _ngram_answer(ngram: KneserNey | TwoSidedNgram, tokenizer: Tokenizer, sentence: ClozeSentence) -> ClozeAnswer:
    ids = np.array(tokenizer.encode(_prompt(tokenizer, sentence)).ids, dtype=np.int64)
    if isinstance(ngram, TwoSidedNgram):
        is_masked = ids == tokenizer.mask_id
        scores = ngram.token_scores(MaskedBatch(ids[None], np.where(is_masked, 0, -1)[None]))[0]
    else:
        scores = ngram.distribution(ids)
    guesses = np.argsort(-scores, kind="stable")[:TOP_K].tolist()
    return _ranked_answer(tokenizer, sentence, guesses)


def _ranked_answer(tokenizer: Tokenizer, sentence: ClozeSentence, guesses: Sequence[int]) -> ClozeAnswer:
    accepted = accepted_ids(tokenizer, sentence)
    hit = next((rank for rank, guess in enumerate(guesses) if guess in accepted), None)
    return ClozeAnswer(sentence, tuple(map(tokenizer.stripped_token_text, guesses)), hit)


def _model_answer(model: Transformer, tokenizer: Tokenizer, sentence: ClozeSentence) -> ClozeAnswer:
    text = _prompt(tokenizer, sentence)
    (position,) = prediction_positions(model, tokenizer, encode_input(model, tokenizer, text))
    guesses = candidates(run(model, tokenizer, text, keep=("logits",)), tokenizer, position, TOP_K)
    return _ranked_answer(tokenizer, sentence, [guess.id for guess in guesses])


def _prompt(tokenizer: Tokenizer, sentence: ClozeSentence) -> str:
    """The sentence, its gap spelt as this tokenizer spells it."""
    mask_token = None if tokenizer.mask_id is None else tokenizer.backend.id_to_token(tokenizer.mask_id)
    return sentence.text.replace(MASK, mask_token or MASK)


def accepted_ids(tokenizer: Tokenizer, sentence: ClozeSentence) -> frozenset[int]:
    """The tokens that count: of the accepted words those that are one token in the gap, or after the sentence and a
    space."""
    (prompt_ids,) = tokenizer.encode_batch([_prompt(tokenizer, sentence)])
    if MASK not in sentence.text:
        continued = tokenizer.encode_batch([f"{sentence.text} {word}" for word in sentence.accepted])
        end = len(prompt_ids)
        return frozenset(ids[end] for ids in continued if ids[:-1] == prompt_ids) - tokenizer.special_ids
    position = prompt_ids.index(tokenizer.mask_id) if tokenizer.mask_id in prompt_ids else -1
    filled = tokenizer.encode_batch([sentence.text.replace(MASK, word) for word in sentence.accepted])
    around = prompt_ids[:position], prompt_ids[position + 1 :]
    fitting = [ids for ids in filled if len(ids) == len(prompt_ids) and (ids[:position], ids[position + 1 :]) == around]
    return frozenset(ids[position] for ids in fitting) - tokenizer.special_ids
