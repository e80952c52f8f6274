"""The picture of the chosen heads: numbers with names for rows and columns, and every rule by which they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.explore.quantities import KINDS, Asked, Kind
from app.services.attention_payload import predictions
from app.services.head_selection import _chosen, chosen_grid, chosen_heads, parse_head, text_of, window
from app.services.traces import loaded, trace
from app.state.state import Question, State
from model.analysis.qk_projection import JointMap, joint_map
from model.analysis.row_selection import largest, renormalised
from model.attention_groups import Grid
from model.errors import EditError
from model.text.tokenizer import Encoded, Tokenizer
from model.text.word_groups import Groups, by_group, pieces, sentences, words

MOST = 1 << 24  # cells of all collected heads together: 64 MB
HIDDEN = {"special": "special tokens", "first": "first token"}
FORBIDDEN, SHOWN, LEFT_OUT = 0, 1, 2  # what becomes of a cell


@dataclass(frozen=True, eq=False)
class Axis:
    """The rows or columns of a picture: what each reads, and which tokens it stands for."""

    names: tuple[str, ...]
    tokens: Groups


@dataclass(frozen=True, eq=False)
class View:
    """A picture of the chosen heads put together, [row column], and of `each` by itself, [head row column].

    `states` says of each cell whether it is forbidden, shown, or left out as too small. `said` are the rules, in words.
    """

    rows: Axis
    columns: Axis
    numbers: np.ndarray
    states: np.ndarray
    each: np.ndarray
    kind: Kind
    said: tuple[str, ...]

    @property
    def limits(self) -> tuple[float, float]:
        """The numbers at the two ends of the colours."""
        if self.kind.scale == "share":
            return 0.0, 1.0
        seen = self.numbers[self.states == SHOWN]
        if not seen.size:
            return (-1.0, 1.0) if self.kind.signed else (0.0, 1.0)
        if self.kind.signed:
            reach = float(np.abs(seen).max()) or 1.0
            return -reach, reach
        return (0.0 if self.kind.scale == "root" else float(seen.min())), float(seen.max())


def view(question: Question, state: State) -> View:
    """What `state` asks to see of its heads. Raises HeadlightError where that cannot be; its text is for the reader."""
    grid, kind = chosen_grid(question, state), KINDS[state.view]
    heads = chosen_heads(state, grid)
    asked, target = asked_of(question, state, grid)
    layers = {layer: kind.of(asked, layer) for layer, _ in heads}
    cells = len(heads) * layers[heads[0][0]][0][0].size
    if cells > MOST:
        raise EditError(f"{len(heads)} heads of so long a text are too much for one picture. Collect fewer.")
    numbers = np.stack([layers[layer][0][min(head, len(layers[layer][0]) - 1)] for layer, head in heads])
    allowed = np.stack([layers[layer][1][min(head, len(layers[layer][1]) - 1)] for layer, head in heads])
    texts = (text_of(question, grid.queries), text_of(question, grid.keys))
    cut = Cut(state, kind, loaded(question.model, question.device).tokenizer, *texts)
    numbers, allowed = cut.apply(np.where(allowed, numbers, 0), allowed)
    together, either = _together(numbers, state.rule), allowed.any(0)
    kept = np.where(_kept(together, state, kind), SHOWN, LEFT_OUT)
    states = np.where(either, kept, FORBIDDEN).astype(np.uint8)
    each = np.where(allowed & _kept(numbers, state, kind), numbers, np.nan)
    said = _said(state, kind, grid, heads, target, cut)
    return View(cut.axis(0), cut.axis(1), np.where(either, together, np.nan), states, each, kind, said)


def points(question: Question, state: State) -> JointMap:
    """Queries and keys of the chosen head in one plane."""
    grid = chosen_grid(question, state)
    layer, head = _chosen(state, grid)
    path = f"{grid.stack}.{layer}.{grid.kind}"
    held = trace(question, (f"{path}.rotated_q", f"{path}.rotated_k"))
    return joint_map(held, path, head)


def asked_of(question: Question, state: State, grid: Grid) -> tuple[Asked, str]:
    """What the kinds need to know, and what the gradient is of, in words."""
    layer, head = chosen_heads(state, grid)[0]
    versus = parse_head(state.versus, grid) or (layer, (head + 1) % grid.heads)
    if state.view != "gradient":
        return Asked(question, grid, state.other, versus), ""
    predicted = predictions(question, state.query)
    if not predicted:
        raise EditError("This model ends without a head: there is no prediction whose gradient could be taken.")
    at = next((one for one in predicted if one.position == state.query), predicted[0])
    best = max(at.candidates, key=lambda candidate: candidate.after)
    token = best.id if state.target < 0 else state.target
    known = {candidate.id: candidate.piece for candidate in at.candidates}
    name = known.get(token) or loaded(question.model, question.device).tokenizer.piece(token)
    return Asked(
        question, grid, state.other, versus, at.position, token
    ), f"log p of “{name.strip()}” {at.before}“{at.piece.strip()}”"


def _together(each: np.ndarray, rule: str) -> np.ndarray:
    """Several heads as one picture, by a rule that the page states."""
    if len(each) == 1 or rule == "mean":
        return np.asarray(each.mean(0))
    return np.asarray(np.take_along_axis(each, np.abs(each).argmax(0)[None], 0)[0])


def _kept(values: np.ndarray, state: State, kind: Kind) -> np.ndarray:
    """The cells that are large enough to be shown."""
    if state.mass == 100 or not kind.additive:
        return np.ones(values.shape, dtype=bool)
    return largest(values, state.mass / 100)


class Cut:
    """Which tokens a picture shows, and how they are put together, for queries (0) and keys (1)."""

    def __init__(self, state: State, kind: Kind, tokenizer: Tokenizer, queries: Encoded, keys: Encoded) -> None:
        self.state, self.kind, self.texts = state, kind, (queries, keys)
        self.pair = self._pair(tokenizer)
        self.window = window(state, len(queries.ids), len(keys.ids))
        self.kept = tuple(self._kept(side, tokenizer) for side in (0, 1))
        if not all(self.kept):
            raise EditError("Everything is hidden: this text has no other token. Show the hidden ones again.")
        self.by_word = state.unit == "words" and kind.additive
        self.groups = tuple(self._groups(side) for side in (0, 1))

    @property
    def hidden(self) -> bool:
        """Whether keys are left out."""
        return len(self.kept[1]) < len(self.texts[1].ids)

    def apply(self, numbers: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and allowed cells, [head query key], as [head row column]."""
        numbers = numbers[:, self.kept[0]][..., self.kept[1]].astype(np.float32)
        allowed = allowed[:, self.kept[0]][..., self.kept[1]]
        if self.renormalises:
            numbers = renormalised(numbers)
        if not self.by_word:
            return numbers, allowed
        queries, keys = (self._inside(side) for side in (0, 1))
        return by_group(numbers, queries, keys), by_group(allowed.astype(np.float32), queries, keys) > 0

    @property
    def renormalises(self) -> bool:
        """Whether rows are made to sum to one again; differences and lengths have no such sum."""
        return self.state.rest == "renormalised" and self.kind.scale == "share" and self.hidden

    def axis(self, side: int) -> Axis:
        """Names and tokens of the rows (0) or columns (1)."""
        return Axis(pieces(self.texts[side], self.groups[side]), self.groups[side])

    def _kept(self, side: int, tokenizer: Tokenizer) -> list[int]:
        text, hide = self.texts[side], self.state.hide.split("+")
        marks = tokenizer.specials - {tokenizer.mask_id, tokenizer.unknown_id}
        numbers = sentences(text, tokenizer.end_id)
        return [
            place
            for place, token in enumerate(text.ids)
            if place in self.window[side]
            and not ("special" in hide and token in marks)
            and not ("first" in hide and place == 0)
            and (not self.pair or numbers[place] == "ab".index(self.pair[side]))
        ]

    def _pair(self, tokenizer: Tokenizer) -> tuple[str, ...]:
        """Which sentence asks and which is looked at, where the text is a pair."""
        queries, keys = self.texts
        both = queries is keys and max(sentences(queries, tokenizer.end_id)) > 0
        return tuple(self.state.pair.split("-")) if self.state.pair and both else ()

    def _groups(self, side: int) -> Groups:
        kept = set(self.kept[side])
        if not self.by_word:
            return tuple((place,) for place in self.kept[side])
        left = (tuple(place for place in group if place in kept) for group in words(self.texts[side]))
        return tuple(group for group in left if group)

    def _inside(self, side: int) -> Groups:
        """The groups, counted among the kept tokens."""
        where = {place: number for number, place in enumerate(self.kept[side])}
        return tuple(tuple(where[place] for place in group) for group in self.groups[side])


def _said(
    state: State, kind: Kind, grid: Grid, heads: Sequence[tuple[int, int]], target: str, cut: Cut
) -> tuple[str, ...]:
    """Every rule by which the picture was made, in the order in which they apply."""
    told = [kind.about]
    if state.view == "head":
        layer, head = parse_head(state.versus, grid) or (heads[0][0], (heads[0][1] + 1) % grid.heads)
        told[0] += f" layer {layer}, head {head}"
    if target:
        told[0] += f" of {target}"
    if cut.pair:
        told.append(f"only {cut.pair[0].upper()} → {cut.pair[1].upper()}")
    if names := [HIDDEN[name] for name in HIDDEN if name in state.hide.split("+")]:
        rows = "rows renormalised" if cut.renormalises else "rows not renormalised"
        told.append(f"{' and '.join(names)} hidden" + (f", {rows}" if kind.scale == "share" else ""))
    if cut.by_word:
        told.append("words: sum over keys, mean over queries")
    if len(heads) > 1 and state.view != "rollout":
        told.append(f"{'mean' if state.rule == 'mean' else 'largest'} of {len(heads)} heads")
    if state.mass < 100 and kind.additive:
        told.append(f"the largest of each row that make {state.mass} %")
    return tuple(told)
