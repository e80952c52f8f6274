"""The predictions of both sides as views, over all answers that either can predict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from headlight.analysis.run_comparison import TokenPairs, jensen_shannon_distance
from headlight.array_types import Float
from headlight.config.output import ProblemTypeName
from headlight.problem_types import PROBLEM_TYPES, problem_type_name
from headlight.rendering.predictions import answer_place
from headlight.tasks import label_text, task_of
from headlight.text.tokenizer import Tokenizer
from headlight.views.kinds import BarsView, NumberTable, TableView, View
from headlight.views.rows import Row, row
from headlight.views.words import digits, numbered, percent, quoted, visible
from headlight_app.compare.answers.side import SIDE_NAMES, Side
from headlight_app.compare.contract import PositionPair
from headlight_app.inference.attention_payload import probabilities

Sides = tuple[Side, Side]
Numbers = Float[np.ndarray, "side answer"]  # NaN if a side has no such answer

MAX_CANDIDATES = 8  # candidates of each side
DIGITS = 4  # of a score beside a probability
MISSING = "cannot"
MEANINGS = {
    "single-label": "probabilities",
    "multi-label": "probabilities, each label by itself",
    "regression": "scores",
}


def predicted_positions(sides: Sides, query: int, alignment: TokenPairs) -> tuple[PositionPair, ...]:
    """The corresponding positions of both predictions; none if a side predicts nothing. `query` is a position in A."""
    if not all(task_of(side.trace.config).predicts for side in sides):
        return ()
    left, right = sides
    positions = left.prediction_positions(query)
    partner = dict(alignment).get(positions[0], -1)
    return tuple(zip(positions, right.prediction_positions(partner), strict=False))


def prediction_rows(sides: Sides, positions: Sequence[PositionPair]) -> tuple[Row, ...]:
    """A row for each pair of positions, or a sentence if there is none."""
    if not positions:
        return (row(title="No prediction", text="At least one of the two models ends without a head."),)
    several = len(positions) > 1
    return tuple(
        _prediction_row(sides, pair, "Predictions" + f" at position {pair[0]}" * several) for pair in positions
    )


def _prediction_row(sides: Sides, positions: PositionPair, saved_as: str) -> Row:
    names, both = _over_both_vocabularies(sides, positions)
    titles = dict.fromkeys(task_of(side.trace.config).prediction_title for side in sides)
    facts = [f"{name}: {_place(side, at)}" for name, side, at in zip(SIDE_NAMES, sides, positions, strict=True)]
    if all(problem_type_name(side.trace.config) == "single-label" for side in sides):  # answers exclude each other
        facts.append(f"Jensen–Shannon distance {float(jensen_shannon_distance(*np.nan_to_num(both))):.3f}")
    ranked = _likeliest(both)
    drawn = _drawn(sides, tuple(names[index] for index in ranked), both[:, ranked], saved_as)
    return row(drawn, title=" / ".join(titles), text=" · ".join(facts))


def _place(side: Side, position: int) -> str:
    words, token = answer_place(side.trace, position)
    return words if token is None else f"{words}{quoted(token)} (position {position})"


def _likeliest(both: Numbers) -> list[int]:
    """The answers with the largest numbers of each side, the largest of both first."""
    compared = np.where(np.isnan(both), -np.inf, both)
    top = {int(index) for line in compared for index in np.argsort(-line, kind="stable")[:MAX_CANDIDATES]}
    return sorted(top, key=lambda index: (-compared[:, index].max(), index))


def _drawn(sides: Sides, names: tuple[str, ...], both: Numbers, saved_as: str) -> View:
    """The numbers as bars, or as a table if a score of one side cannot be measured against the other's probability."""
    kinds = [problem_type_name(side.trace.config) for side in sides]
    are_probabilities = [PROBLEM_TYPES[kind].is_probability for kind in kinds]
    labels, note = tuple(map(visible, names)), _meaning(*kinds)
    tables = {saved_as: NumberTable({"token": numbered(names), "side": SIDE_NAMES}, both.T)}
    if len(set(are_probabilities)) > 1:
        cells = (map(_written, line, [share] * len(line)) for line, share in zip(both, are_probabilities, strict=True))
        return TableView(("answer", *SIDE_NAMES), tuple(zip(labels, *cells, strict=True)), note=note, tables=tables)
    return BarsView(
        labels=labels,
        series=dict(zip(SIDE_NAMES, both, strict=True)),
        compared=SIDE_NAMES[0],
        high=1.0 if are_probabilities[0] else None,
        digits=None,
        as_percent=are_probabilities[0],
        missing=MISSING,
        note=note,
        tables=tables,
    )


def _meaning(left: ProblemTypeName, right: ProblemTypeName) -> str:
    """What the numbers of A and of B mean."""
    if left == right == "single-label":
        return "Probabilities over everything that either can predict."
    if left == right:
        return f"{MEANINGS[left].capitalize()}."
    return " · ".join(f"{name}: {MEANINGS[kind]}" for name, kind in zip(SIDE_NAMES, (left, right), strict=True))


def _written(number: float, is_probability: bool) -> str:
    if np.isnan(number):
        return MISSING
    return percent(number) if is_probability else digits(number, DIGITS)


def _over_both_vocabularies(sides: Sides, positions: PositionPair) -> tuple[tuple[str, ...], Numbers]:
    """The union of both sides' answers, and their numbers."""
    left, right = sides
    one, other = (probabilities(side.resolved, at) for side, at in zip(sides, positions, strict=True))
    left_names = _answer_names(left, len(one))
    if left.tokenizer is right.tokenizer and len(one) == len(other):
        return left_names, np.stack((one, other)).astype(np.float64)
    names, left_index, right_index = _merge_vocabularies(left_names, _answer_names(right, len(other)))
    rows = [
        np.where(np.bincount(index, minlength=len(names)) > 0, np.bincount(index, row, len(names)), np.nan)
        for index, row in ((left_index, one), (right_index, other))
    ]
    return names, np.stack(rows)


def _answer_names(side: Side, count: int) -> tuple[str, ...]:
    """The text of each token or label that a side can predict."""
    config = side.trace.config
    if task_of(config).predicts_tokens:
        return _vocabulary_texts(side.tokenizer, count)
    return tuple(label_text(config, index) for index in range(count))


@lru_cache(maxsize=8)
def _vocabulary_texts(tokenizer: Tokenizer, count: int) -> tuple[str, ...]:
    return tuple(map(tokenizer.token_text, range(count)))


@lru_cache(maxsize=4)
def _merge_vocabularies(
    left_names: tuple[str, ...], right_names: tuple[str, ...]
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """The union of two vocabularies of stripped tokens, and the index in it of each token of both."""
    texts = [name.strip() or name for name in (*left_names, *right_names)]
    names = tuple(dict.fromkeys(texts))
    index_of = {name: number for number, name in enumerate(names)}
    index = np.array([index_of[text] for text in texts])
    return names, index[: len(left_names)], index[len(left_names) :]
