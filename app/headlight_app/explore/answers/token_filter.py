"""The tokens that a view shows, and those it joins to words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headlight.analysis.attention_maps import renormalize_rows
from headlight.errors import EditError
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.text.word_groups import TokenGroups, aggregate_by_group, group_texts, sentence_numbers, word_groups
from headlight_app.contract.state import HeadChoice
from headlight_app.explore.answers.quantities import Quantity
from headlight_app.inference.head_selection import describe_zoom, zoom_ranges

HIDDEN_TOKEN_TITLES = {"special": "special tokens", "first": "first token"}


@dataclass(frozen=True, eq=False)
class Axis:
    """The rows or columns of a view: their labels, and the tokens that each covers."""

    labels: tuple[str, ...]
    tokens: TokenGroups


class TokenFilter:
    """Which tokens a view shows and how they are grouped, for queries (0) and keys (1)."""

    def __init__(
        self,
        choice: HeadChoice,
        quantity: Quantity,
        tokenizers: tuple[Tokenizer, Tokenizer],
        queries: Encoded,
        keys: Encoded,
    ) -> None:
        self.choice, self.quantity, self.texts = choice, quantity, (queries, keys)
        self.segments = self._segments(tokenizers[0])
        self.zoom = zoom_ranges(choice, queries, keys)
        self.kept_positions = tuple(self._kept_positions(side, tokenizers[side]) for side in (0, 1))
        if not all(self.kept_positions):
            raise EditError("All tokens of this text are hidden. Show the hidden tokens again.")
        self.by_word = choice.unit == "words" and quantity.additive
        self.groups = tuple(self._token_groups(side) for side in (0, 1))

    @property
    def hides_keys(self) -> bool:
        """Whether keys are left out."""
        return len(self.kept_positions[1]) < len(self.texts[1].ids)

    def apply(self, values: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and allowed cells, [head query key], converted to [head row column]."""
        values = values[:, self.kept_positions[0]][..., self.kept_positions[1]].astype(np.float32)
        allowed = allowed[:, self.kept_positions[0]][..., self.kept_positions[1]]
        if self.renormalizes:
            values = renormalize_rows(values)
        if not self.by_word:
            return values, allowed
        queries, keys = (self._groups_among_kept(side) for side in (0, 1))
        return aggregate_by_group(values, queries, keys), aggregate_by_group(
            allowed.astype(np.float32), queries, keys
        ) > 0

    def join_queries(self, values: np.ndarray) -> np.ndarray:
        """Numbers whose keys are already joined to words, [head query column], converted to [head row column]."""
        columns = tuple((column,) for column in range(values.shape[-1]))
        return aggregate_by_group(values[:, self.kept_positions[0]], self._groups_among_kept(0), columns)

    @property
    def renormalizes(self) -> bool:
        """Whether rows are renormalised to sum to one; differences and lengths are not."""
        return bool(self.choice.renormalize) and self.quantity.scale == "probability" and self.hides_keys

    def axis(self, side: int) -> Axis:
        """Labels and tokens of the rows (0) or columns (1)."""
        return Axis(group_texts(self.texts[side], self.groups[side]), self.groups[side])

    def _kept_positions(self, side: int, tokenizer: Tokenizer) -> list[int]:
        text, hide = self.texts[side], self.choice.hide.split("+")
        special_ids = tokenizer.special_ids - {tokenizer.mask_id, tokenizer.unknown_id}
        sentence_of = sentence_numbers(text, tokenizer.end_id)
        return [
            position
            for position, token in enumerate(text.ids)
            if position in self.zoom[side]
            and not ("special" in hide and token in special_ids and text.signal is None)
            and not ("first" in hide and position == 0)
            and (not self.segments or sentence_of[position] == "ab".index(self.segments[side]))
        ]

    def _segments(self, tokenizer: Tokenizer) -> tuple[str, ...]:
        """The chosen query and key sentences ("a" or "b"); empty unless the text is a pair."""
        queries, keys = self.texts
        has_segments = queries is keys and max(sentence_numbers(queries, tokenizer.end_id)) > 0
        return tuple(self.choice.segments.split("-")) if self.choice.segments and has_segments else ()

    def _token_groups(self, side: int) -> TokenGroups:
        kept_positions = set(self.kept_positions[side])
        if not self.by_word:
            return tuple((position,) for position in self.kept_positions[side])
        remaining = (
            tuple(place for place in group if place in kept_positions) for group in word_groups(self.texts[side])
        )
        return tuple(group for group in remaining if group)

    def _groups_among_kept(self, side: int) -> TokenGroups:
        """The groups as indices among the kept tokens."""
        index_of = {position: index for index, position in enumerate(self.kept_positions[side])}
        return tuple(tuple(index_of[place] for place in group) for group in self.groups[side])

    def rules(self) -> tuple[str, ...]:
        """The hidden and joined tokens in words, in the order in which the filters apply."""
        rules = [*describe_zoom(*self.zoom, [len(text.ids) for text in self.texts])]
        if self.segments:
            rules.append(f"only {self.segments[0].upper()} → {self.segments[1].upper()}")
        hide = self.choice.hide.split("+")
        if names := [title for name, title in HIDDEN_TOKEN_TITLES.items() if name in hide]:
            row_sum = "rows renormalised" if self.renormalizes else "rows not renormalised"
            is_probability = self.quantity.scale == "probability"
            rules.append(f"{' and '.join(names)} hidden" + (f", {row_sum}" if is_probability else ""))
        if self.by_word:
            sum_of = "length of the vectors' sum" if self.quantity.join_keys else "sum"
            rules.append(f"words: {sum_of} over keys, mean over queries")
        return tuple(rules)
