"""Baselines of a masked-language model: token frequencies, and a 5-gram of the two tokens on either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from headlight.array_types import Float, Int
from headlight.data.corpus import TokenizedText
from headlight.errors import DataError
from headlight.evaluation.language_modeling import SEED, MaskedBatch, typed_sequences
from tests.bench.ngrams.tables import DiscountTable, Indices, discount_table

# Contexts as offsets from the masked token, shortest first, each with the contexts that it backs off to (their mean).
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
TokenStream = Int[np.ndarray, " stream"]  # sequences one after the other, with edge tokens between them


@dataclass(frozen=True)
class Unigram:
    """Token frequencies, whatever the context."""

    probabilities: Float[np.ndarray, " token"]

    def token_scores(self, batch: MaskedBatch) -> Float[np.ndarray, "target token"]:
        """Each token's frequency, for every masked position."""
        return np.broadcast_to(self.probabilities, (batch.target_count, len(self.probabilities)))


@dataclass(frozen=True)
class TwoSidedNgram:
    """Counts of a token between two tokens on each side, backing off to shorter contexts on both sides or one.

    Interpolated absolute discounting (Ney et al. 1994). `contexts` has, for each kind of context, the ones that were
    seen, packed into one number each, sorted. Token ids are below `size`; `size` is the edge of a sequence; a masked
    neighbour is `size` + 1, which no count has seen.
    """

    title: ClassVar[str] = "two-sided 5-gram"
    size: int
    contexts: dict[tuple[int, ...], np.ndarray]
    tables: dict[tuple[int, ...], DiscountTable]

    def token_scores(self, batch: MaskedBatch) -> Float[np.ndarray, "target token"]:
        """The probability of every token at each masked position."""
        stream, positions = _batch_stream(batch, self.size)
        found = {offsets: self._find_contexts(stream, positions, offsets) for offsets in BACKOFF}
        rows = [
            self._probabilities({offsets: int(found[offsets][row]) for offsets in BACKOFF})
            for row in range(len(positions))
        ]
        return np.stack(rows).astype(np.float32)

    @property
    def unigram(self) -> Unigram:
        """The same counts without any context."""
        return Unigram(
            self._probabilities({offsets: 0 if offsets == () else -1 for offsets in BACKOFF}).astype(np.float32)
        )

    def _find_contexts(self, stream: TokenStream, positions: Indices, offsets: tuple[int, ...]) -> Indices:
        """The index of the context around each position; -1 if it was never seen."""
        known, wanted = self.contexts[offsets], pack_context(stream, positions, offsets, self.size)
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[at] == wanted, at, -1)

    def _probabilities(self, found: dict[tuple[int, ...], int]) -> Float[np.ndarray, " token"]:
        """Every token's probability, given the index of the context of each kind."""
        probability: dict[tuple[int, ...], np.ndarray] = {}
        for offsets, shorter in BACKOFF.items():
            means = [probability[each] for each in shorter] or [np.full(self.size, 1.0 / self.size)]
            probability[offsets] = np.mean(means, axis=0) if len(means) > 1 else means[0]
            if found[offsets] >= 0:
                tokens, seen = self.tables[offsets].row(found[offsets])
                probability[offsets] = self.tables[offsets].backoff_weights[found[offsets]] * probability[offsets]
                probability[offsets][tokens] += seen
        return probability[FULL_CONTEXT]

    def save(self, folder: Path) -> None:
        """Write the tables into a folder."""
        for number, offsets in enumerate(BACKOFF):
            np.save(folder / f"{number}.contexts.npy", self.contexts[offsets])
            self.tables[offsets].save(folder / str(number))

    @classmethod
    def load(cls, folder: Path, size: int) -> TwoSidedNgram:
        """Read the files written by `save`."""
        contexts = {offsets: np.load(folder / f"{number}.contexts.npy") for number, offsets in enumerate(BACKOFF)}
        tables = {offsets: DiscountTable.load(folder / str(number), size + 2) for number, offsets in enumerate(BACKOFF)}
        return cls(size, contexts, tables)


def pack_context(stream: TokenStream, positions: Indices, offsets: tuple[int, ...], size: int) -> Indices:
    """The tokens at some offsets from each position, as one number."""
    number = np.zeros(len(positions), dtype=np.int64)
    for offset in offsets:
        number = number * (size + 2) + stream[positions + offset]
    return number


def _batch_stream(batch: MaskedBatch, size: int) -> tuple[TokenStream, Indices]:
    """The rows of a batch one after the other with edges between them, and the masked positions."""
    masked = batch.targets >= 0
    tokens = np.where(masked, size + 1, batch.ids)
    last = (batch.ids >= 0).sum(1, keepdims=True) - 1
    at = np.arange(tokens.shape[1])[None, :]
    tokens = np.where((at == 0) | (at >= last), size, tokens)
    rows = np.pad(tokens, ((0, 0), (1, 1)), constant_values=size)
    return rows.ravel(), np.flatnonzero(np.pad(masked, ((0, 0), (1, 1))))


def count_two_sided(texts: Sequence[TokenizedText], size: int) -> TwoSidedNgram:
    """The model of some texts, cut into sequences like the ones to be predicted; a text counts `epochs` times."""
    if size + 2 > 55_000:
        raise DataError(f"The two-sided 5-gram packs four token ids into one number; {size} tokens are too many.")
    edge = np.full(2, size)
    pieces, piece_weights = [edge], [np.zeros(2)]
    for text in texts:
        for tokens in typed_sequences(text, np.random.default_rng(SEED)):
            pieces += [tokens, edge]
            piece_weights += [np.full(len(tokens), text.epochs), np.zeros(2)]
    stream, weights = np.concatenate(pieces), np.concatenate(piece_weights)
    positions = np.flatnonzero(weights)
    counted = {offsets: _count_contexts(stream, positions, weights[positions], offsets, size) for offsets in BACKOFF}
    contexts = {offsets: seen for offsets, (seen, _) in counted.items()}
    return TwoSidedNgram(size, contexts, {offsets: table for offsets, (_, table) in counted.items()})


def _count_contexts(
    stream: TokenStream, positions: Indices, weights: Float[np.ndarray, " n"], offsets: tuple[int, ...], size: int
) -> tuple[Int[np.ndarray, " context"], DiscountTable]:
    """The contexts of one kind, and the table of the tokens seen in each."""
    radix = size + 2
    contexts, context = np.unique(pack_context(stream, positions, offsets, size), return_inverse=True)
    keys, entry = np.unique(context * radix + stream[positions], return_inverse=True)
    counts, total_weights = np.bincount(entry), np.bincount(entry, weights)
    return contexts, discount_table(radix, len(contexts), keys, counts, total_weights)
