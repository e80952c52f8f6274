"""How well a masked-language model finds hidden tokens: the same sequences and the same hidden tokens every time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from model.array_types import Float, Int
from model.data.corpus import Tokens
from model.errors import DataError
from model.nn.transformer import Transformer
from model.text.tokenizer import Tokenizer

RATE, SEED = 0.15, 15
LINES, LONGEST = 3, 128  # a sequence is one to three lines, cut at so many tokens
ROWS = 64  # sequences at once


@dataclass(frozen=True)
class Guesses:
    """Of `asked` hidden tokens, how many were the model's first guess, and among its first five."""

    asked: int
    top1: int
    top5: int

    @property
    def first(self) -> float:
        """The share that the first guess hits."""
        return self.top1 / max(1, self.asked)

    @property
    def five(self) -> float:
        """The share that one of five guesses hits."""
        return self.top5 / max(1, self.asked)


@dataclass(frozen=True)
class Questions:
    """Sequences with hidden tokens, padded to the longest.

    `ids` is what a model reads, and holds `mask_id` where `targets` has the hidden token, which is -1 elsewhere;
    padding is -1 in `ids`.
    """

    ids: Int[np.ndarray, "row pos"]
    targets: Int[np.ndarray, "row pos"]

    @property
    def asked(self) -> int:
        """How many tokens are hidden."""
        return int((self.targets >= 0).sum())


@runtime_checkable
class Guesser(Protocol):
    """Whatever can say how likely each token is at each hidden place."""

    def scores(self, questions: Questions) -> Float[np.ndarray, "asked token"]:
        """Higher is likelier; the order of the rows is that of the hidden places."""
        ...


def sequences(text: Tokens, generator: np.random.Generator) -> Iterator[Int[np.ndarray, " token"]]:
    """One to three lines at a time, never across the end of a document: what a person might type."""
    ends = np.append(text.lines[1:], len(text.ids))
    document = np.searchsorted(text.documents, text.lines, side="right")
    line = 0
    while line < len(text.lines):
        last = line
        for _ in range(int(generator.integers(LINES))):
            if last + 1 < len(text.lines) and document[last + 1] == document[line]:
                last += 1
        yield text.ids[text.lines[line] : ends[last]].astype(np.int64)
        line = last + 1


def questions(text: Tokens, tokenizer: Tokenizer, context: int) -> list[Questions]:
    """All sequences of a text in batches, similar lengths together; 15 % of each one's tokens, at least one, hidden.

    A hidden token shows [MASK] always. Special tokens, unknown words and line ends are never asked for.
    """
    around = _around(tokenizer)
    if around is None:
        raise DataError("Masked accuracy needs the tokens [CLS], [SEP] and [MASK] in the vocabulary.")
    generator = np.random.default_rng(SEED)
    blank = [number for number in range(tokenizer.size) if not tokenizer.readable(number)]
    special = np.array([*tokenizer.specials, *blank], np.int64)
    room = min(context, LONGEST) - 2
    asked = []
    for tokens in sequences(text, generator):
        able = np.flatnonzero(~np.isin(tokens[:room], special))
        if len(able):
            hidden = generator.choice(able, size=max(1, round(RATE * len(able))), replace=False)
            asked.append((tokens[:room], hidden))
    asked.sort(key=lambda each: len(each[0]))
    return [_padded(asked[at : at + ROWS], *around) for at in range(0, len(asked), ROWS)]


def _around(tokenizer: Tokenizer) -> tuple[int, int, int] | None:
    """[CLS], [SEP] and [MASK], where the tokenizer has all of them."""
    start, end, mask = tokenizer.start_id, tokenizer.end_id, tokenizer.mask_id
    return None if start is None or end is None or mask is None else (start, end, mask)


def _padded(asked: Sequence[tuple[np.ndarray, np.ndarray]], start: int, end: int, mask: int) -> Questions:
    longest = max(len(tokens) for tokens, _ in asked) + 2
    ids = np.full((len(asked), longest), -1, dtype=np.int64)
    targets = np.full((len(asked), longest), -1, dtype=np.int64)
    for row, (tokens, hidden) in enumerate(asked):
        ids[row, : len(tokens) + 2] = [start, *tokens, end]
        targets[row, 1 + hidden] = tokens[hidden]
        ids[row, 1 + hidden] = mask
    return Questions(ids, targets)


@dataclass(frozen=True)
class Encoder:
    """A trained model as a Guesser."""

    model: Transformer

    @torch.inference_mode()
    def scores(self, questions: Questions) -> Float[np.ndarray, "asked token"]:
        """Its logits."""
        ids = torch.from_numpy(questions.ids).to(self.model.device)
        final = self.model.hidden(ids.clamp(min=0), real=ids >= 0)
        logits = self.model.top(final[torch.from_numpy(questions.targets >= 0).to(ids.device)])
        scores: np.ndarray = logits.float().cpu().numpy()
        return scores


def guesses(guesser: Guesser, asked: Sequence[Questions]) -> Guesses:
    """How often the hidden token is the likeliest, and among the five likeliest; of equals the lower number first."""
    ranks = np.concatenate([_ranks(guesser.scores(batch), batch.targets[batch.targets >= 0]) for batch in asked])
    return Guesses(len(ranks), int((ranks < 1).sum()), int((ranks < 5).sum()))


def _ranks(scores: Float[np.ndarray, "asked token"], targets: Int[np.ndarray, " asked"]) -> Int[np.ndarray, " asked"]:
    """How many tokens come before each target."""
    own = scores[np.arange(len(targets)), targets][:, None]
    before = np.arange(scores.shape[1])[None, :] < targets[:, None]
    ranks: np.ndarray = ((scores > own) | ((scores == own) & before)).sum(1)
    return ranks
