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
from model.evaluation.masked_accuracy import Questions
from model.evaluation.sides import TwoSided
from model.nn.transformer import Transformer, require_top
from model.text.tokenizer import Tokenizer
from model.tracing.run import asked, candidates, encode, run

MASK = "[MASK]"
TOP = 5


@dataclass(frozen=True)
class Sentence:
    """A sentence with a gap, and the words that a person would accept in it."""

    text: str
    accepted: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What a model put into a gap: its first guesses, and the place of the first accepted one (None: none is)."""

    sentence: Sentence
    said: tuple[str, ...]
    place: int | None


@dataclass(frozen=True)
class Result:
    """All answers to one file; `by` names a counting model that gave them, where it was not the model itself."""

    name: str
    answers: tuple[Answer, ...]
    by: str = ""

    def hits(self, top: int) -> int:
        """How many answers have an accepted word among the first `top`."""
        return sum(answer.place is not None and answer.place < top for answer in self.answers)

    def rate(self, top: int) -> float:
        """The same as a share."""
        return self.hits(top) / max(1, len(self.answers))

    @property
    def misses(self) -> tuple[Answer, ...]:
        """The answers without an accepted word."""
        return tuple(answer for answer in self.answers if answer.place is None)


def read(path: Path) -> tuple[Sentence, ...]:
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
            sentences.append(Sentence(text, tuple(words.split())))
    if not sentences:
        raise DataError(f"The fill-in test {path} holds no sentence.")
    return tuple(sentences)


def fill_in(model: Transformer, tokenizer: Tokenizer, path: Path) -> Result:
    """Asks a model every sentence of a file. Raises DataError where the file is for the other kind of model."""
    require_top(model, "language", "masked-language")
    sentences = _fitting(path, masked=model.config.top == "masked-language")
    return Result(path.stem, tuple(_answer(model, tokenizer, sentence) for sentence in sentences))


def count_in(counted: KneserNey | TwoSided, tokenizer: Tokenizer, path: Path) -> Result:
    """Asks a counting model the same: after the sentence's last tokens, or between those around the gap."""
    sentences = _fitting(path, masked=isinstance(counted, TwoSided))
    by = "two-sided 5-gram" if isinstance(counted, TwoSided) else "Kneser-Ney 5-gram"
    return Result(path.stem, tuple(_counted(counted, tokenizer, sentence) for sentence in sentences), by)


def _fitting(path: Path, masked: bool) -> tuple[Sentence, ...]:
    sentences = read(path)
    for sentence in sentences:
        if sentence.text.count(MASK) != masked:
            wanted = (
                f"one {MASK} in each sentence" if masked else f"sentences that stop before the word, without {MASK}"
            )
            raise DataError(f"{path.name}: this model needs {wanted}; it cannot be asked {sentence.text!r}.")
    return sentences


def _counted(counted: KneserNey | TwoSided, tokenizer: Tokenizer, sentence: Sentence) -> Answer:
    ids = np.array(tokenizer.encode(_asked_text(tokenizer, sentence)).ids, dtype=np.int64)
    if isinstance(counted, TwoSided):
        hidden = ids == tokenizer.mask_id
        scores = counted.scores(Questions(ids[None], np.where(hidden, 0, -1)[None]))[0]
    else:
        scores = counted.distribution(ids)
    guesses = np.argsort(-scores, kind="stable")[:TOP].tolist()
    return _placed(tokenizer, sentence, guesses)


def _placed(tokenizer: Tokenizer, sentence: Sentence, guesses: Sequence[int]) -> Answer:
    accepted = accepted_ids(tokenizer, sentence)
    hit = next((rank for rank, guess in enumerate(guesses) if guess in accepted), None)
    return Answer(sentence, tuple(map(tokenizer.readable, guesses)), hit)


def _answer(model: Transformer, tokenizer: Tokenizer, sentence: Sentence) -> Answer:
    text = _asked_text(tokenizer, sentence)
    (place,) = asked(model, tokenizer, encode(model, tokenizer, text))
    guesses = candidates(run(model, tokenizer, text, keep=("logits",)), tokenizer, place, TOP)
    return _placed(tokenizer, sentence, [guess.id for guess in guesses])


def _asked_text(tokenizer: Tokenizer, sentence: Sentence) -> str:
    """The sentence, its gap spelt as this tokenizer spells it."""
    mark = None if tokenizer.mask_id is None else tokenizer.backend.id_to_token(tokenizer.mask_id)
    return sentence.text.replace(MASK, mark or MASK)


def accepted_ids(tokenizer: Tokenizer, sentence: Sentence) -> frozenset[int]:
    """The tokens that count: of the accepted words those that are one token in the gap, or after the sentence and a
    space."""
    (asked_ids,) = tokenizer.numbers([_asked_text(tokenizer, sentence)])
    if MASK not in sentence.text:
        begun = tokenizer.numbers([f"{sentence.text} {word}" for word in sentence.accepted])
        end = len(asked_ids)
        return frozenset(ids[end] for ids in begun if ids[:-1] == asked_ids) - tokenizer.specials
    place = asked_ids.index(tokenizer.mask_id) if tokenizer.mask_id in asked_ids else -1
    filled = tokenizer.numbers([sentence.text.replace(MASK, word) for word in sentence.accepted])
    around = asked_ids[:place], asked_ids[place + 1 :]
    fitting = [ids for ids in filled if len(ids) == len(asked_ids) and (ids[:place], ids[place + 1 :]) == around]
    return frozenset(ids[place] for ids in fitting) - tokenizer.specials
