"""Counting models that guess a hidden token: from nothing, and from the two tokens on either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.array_types import Float, Int
from model.data.corpus import TokenizedText
from model.errors import DataError
from model.evaluation.masked_accuracy import SEED, MaskedBatch, typed_sequences
from model.evaluation.tables import DiscountTable, Indices, discount_table

# What is looked at, as distances from the hidden token, shortest first. What a context leaves over goes to the mean of
# those that stand behind it.
BACKOFF: dict[tuple[int, ...], tuple[tuple[int, ...], ...]] = {
    (): (),
    (-1,): ((),),
    (1,): ((),),
    (-2, -1): ((-1,),),
    (1, 2): ((1,),),
    (-1, 1): ((-2, -1), (1, 2)),
    (-2, -1, 1): ((-1, 1),),
    (-1, 1, 2): ((-1, 1),),
    (-2, -1, 1, 2): ((-2, -1, 1), (-1, 1, 2)),
}
FULL_CONTEXT = (-2, -1, 1, 2)
TokenStream = Int[np.ndarray, " stream"]  # sequences one after the other, edges between them


@dataclass(frozen=True)
class Unigram:
    """Always the same guess: the most frequent tokens."""

    probabilities: Float[np.ndarray, " token"]

    def token_scores(self, questions: MaskedBatch) -> Float[np.ndarray, "asked token"]:
        """How frequent each token is."""
        return np.broadcast_to(self.probabilities, (questions.target_count, len(self.probabilities)))


@dataclass(frozen=True)
class TwoSidedNgram:
    """A 5-gram around its middle: counts of a token between two tokens on each side, and where that was not seen,
    of shorter contexts on both sides or one. Interpolated absolute discounting (Ney et al. 1994).

    `contexts` holds for each kind of context those that were seen, packed into one number, sorted. Tokens are numbered
    below `size`; `size` is the edge of a sequence; a hidden neighbour is `size` + 1, which no count has seen.
    """

    size: int
    contexts: dict[tuple[int, ...], np.ndarray]
    tables: dict[tuple[int, ...], DiscountTable]

    def token_scores(self, questions: MaskedBatch) -> Float[np.ndarray, "asked token"]:
        """How likely each token is at each hidden place."""
        stream, places = _batch_stream(questions, self.size)
        found = {offsets: self._find_contexts(stream, places, offsets) for offsets in BACKOFF}
        rows = [
            self._probabilities({offsets: int(found[offsets][row]) for offsets in BACKOFF})
            for row in range(len(places))
        ]
        return np.stack(rows).astype(np.float32)

    @property
    def unigram(self) -> Unigram:
        """The same counts without any context."""
        return Unigram(
            self._probabilities({offsets: 0 if offsets == () else -1 for offsets in BACKOFF}).astype(np.float32)
        )

    def _find_contexts(self, stream: TokenStream, places: Indices, offsets: tuple[int, ...]) -> Indices:
        """Which known context stands around each place; -1 for one that was never seen."""
        known, wanted = self.contexts[offsets], pack_context(stream, places, offsets, self.size)
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[at] == wanted, at, -1)

    def _probabilities(self, found: dict[tuple[int, ...], int]) -> Float[np.ndarray, " token"]:
        """Every token's probability, given which context of each kind was found."""
        likely: dict[tuple[int, ...], np.ndarray] = {}
        for offsets, shorter in BACKOFF.items():
            means = [likely[each] for each in shorter] or [np.full(self.size, 1.0 / self.size)]
            likely[offsets] = np.mean(means, axis=0) if len(means) > 1 else means[0]
            if found[offsets] >= 0:
                tokens, shares = self.tables[offsets].row(found[offsets])
                likely[offsets] = self.tables[offsets].backoff_weights[found[offsets]] * likely[offsets]
                likely[offsets][tokens] += shares
        return likely[FULL_CONTEXT]

    def save(self, folder: Path) -> None:
        """Writes the tables into a folder."""
        for number, offsets in enumerate(BACKOFF):
            np.save(folder / f"{number}.contexts.npy", self.contexts[offsets])
            self.tables[offsets].save(folder / str(number))

    @classmethod
    def load(cls, folder: Path, size: int) -> TwoSidedNgram:
        """Reads what `save` wrote."""
        contexts = {offsets: np.load(folder / f"{number}.contexts.npy") for number, offsets in enumerate(BACKOFF)}
        tables = {offsets: DiscountTable.load(folder / str(number), size + 2) for number, offsets in enumerate(BACKOFF)}
        return cls(size, contexts, tables)


def pack_context(stream: TokenStream, places: Indices, offsets: tuple[int, ...], size: int) -> Indices:
    """The tokens at some distances from each place, as one number."""
    number = np.zeros(len(places), dtype=np.int64)
    for offset in offsets:
        number = number * (size + 2) + stream[places + offset]
    return number


def _batch_stream(questions: MaskedBatch, size: int) -> tuple[TokenStream, Indices]:
    """The questions' rows one after the other, edges between them, and where the hidden tokens are."""
    hidden = questions.targets >= 0
    tokens = np.where(hidden, size + 1, questions.ids)
    last = (questions.ids >= 0).sum(1, keepdims=True) - 1
    at = np.arange(tokens.shape[1])[None, :]
    tokens = np.where((at == 0) | (at >= last), size, tokens)
    rows = np.pad(tokens, ((0, 0), (1, 1)), constant_values=size)
    return rows.ravel(), np.flatnonzero(np.pad(hidden, ((0, 0), (1, 1))))


def count_two_sided(texts: Sequence[TokenizedText], size: int) -> TwoSidedNgram:
    """The model of texts, cut into sequences like those it will be asked about; a text counts as its weight says."""
    if size + 2 > 55_000:
        raise DataError(f"The two-sided 5-gram packs four tokens into one number; {size} kinds of token are too many.")
    edge = np.full(2, size)
    pieces, masses = [edge], [np.zeros(2)]
    for text in texts:
        for tokens in typed_sequences(text, np.random.default_rng(SEED)):
            pieces += [tokens, edge]
            masses += [np.full(len(tokens), text.epochs), np.zeros(2)]
    stream, mass = np.concatenate(pieces), np.concatenate(masses)
    places = np.flatnonzero(mass)
    made = {offsets: _count_contexts(stream, places, mass[places], offsets, size) for offsets in BACKOFF}
    return TwoSidedNgram(size, {of: one for of, (one, _) in made.items()}, {of: one for of, (_, one) in made.items()})


def _count_contexts(
    stream: TokenStream, places: Indices, mass: Float[np.ndarray, " n"], offsets: tuple[int, ...], size: int
) -> tuple[Int[np.ndarray, " context"], DiscountTable]:
    """The contexts of one kind, and the table of the tokens seen in each."""
    radix = size + 2
    contexts, of = np.unique(pack_context(stream, places, offsets, size), return_inverse=True)
    keys, entry = np.unique(of * radix + stream[places], return_inverse=True)
    seen, total = np.bincount(entry), np.bincount(entry, mass)
    return contexts, discount_table(radix, len(contexts), keys, seen, total)
