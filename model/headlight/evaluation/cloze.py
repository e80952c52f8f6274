"""A cloze test: everyday sentences, and whether a word that people expect is among the model's first guesses.

A file has one sentence per line, ` | `, and the accepted words. For a next-token model the sentence stops before the
word; for a masked-language model it contains one [MASK]. Lines that begin with # are comments. Only words that are one
token count: of a longer one the model would predict a part, which may begin another word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headlight.errors import DataError
from headlight.nn.transformer import Transformer
from headlight.tasks import require_token_task, task_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.run import candidates, encode_input, prediction_positions, run

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
    """The sentences of a file. Raises DataError that names the first malformed line."""
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
    """The answer that these token ids are, best first; only the first five are kept."""
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
