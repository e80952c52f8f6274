"""Why a head looks at a token: who wrote the query and the key of a weight, and what each pair adds to its score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from headlight.analysis.ledger import KEEP, Cell, Ledger, cell_ledger
from headlight.analysis.moved_values import KEEP as MOVED_KEEP
from headlight.analysis.moved_values import MovedValues, moved_values
from headlight.analysis.residual_stream import Component
from headlight.array_types import Float
from headlight.attention_groups import AttentionGroup
from headlight.errors import counted
from headlight.views.kinds import ChangesView, MatrixView, NumberTable, Pick
from headlight.views.rows import row
from headlight.views.words import percent, quoted, three_digits
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.parts import opening_pick, part_name, part_of
from headlight_app.explore.answers.analyses.row import Analysis, Program, Views
from headlight_app.inference.head_selection import encoded_text, selected_attention, selected_heads
from headlight_app.inference.resolved_question import ResolvedQuestion

LISTED = 5  # pairs
SIDE = 5  # writers of each side in the matrix; the others are together
LITTLE = 0.01  # a weight below which a query hardly looks at a key
HELP = "Rows wrote the query, columns the key; orange adds to the score. Click a head to see why it looks there."


def ledger(resolved: ResolvedQuestion, state: State) -> Views:
    """The ledger of the clicked weight of the chosen head, if one is. Raises EditError for one that does not exist."""
    if not _is_clicked(state):
        return ()
    group = selected_attention(resolved.config, state.attention)
    cell = Cell(group.path(state.layer), state.head, state.pinned[0], state.key)
    found = cell_ledger(resolved.model, resolved.trace_of(*KEEP), cell)
    moved = moved_values(resolved.model, resolved.trace_of(*MOVED_KEEP), cell.path)
    return (
        row(
            _pairs(resolved, found),
            _matrix(resolved, found),
            title=_title(resolved, group, cell, float(moved.weights[cell.head, cell.query, cell.key])),
            text=f"{carried_words(moved, cell)} The score {three_digits(found.score)} of {cell} is a sum over who "
            "wrote the query and who wrote the key.",
        ),
    )


def _title(resolved: ResolvedQuestion, group: AttentionGroup, cell: Cell, weight: float) -> str:
    query, key = (
        encoded_text(resolved.trace, side).token_texts[token]
        for side, token in ((group.queries, cell.query), (group.keys, cell.key))
    )
    return f"Why {quoted(query)} {'hardly looks' if weight < LITTLE else 'looks'} at {quoted(key)}"


def carried_words(moved: MovedValues, cell: Cell) -> str:
    """What the weight carries of its head's output."""
    place = cell.head, cell.query, cell.key
    weight, length, along = (float(each[place]) for each in (moved.weights, moved.length, moved.direction))
    carries = f"The weight {three_digits(weight)} carries {percent(length)} of the head's output by length"
    if np.isnan(along):
        return f"{carries}; along its direction there is no share, because the head's values cancel."
    return f"{carries}, {percent(along)} along its direction."


def _pairs(resolved: ResolvedQuestion, found: Ledger) -> ChangesView:
    """The pairs that matter most to the score; a click opens the key's writer, or else the query's."""
    parts, width, cell = found.parts.astype(float).ravel(), len(found.key_writers), found.cell
    order = [int(place) for place in np.argsort(-np.abs(parts), kind="stable")[:LISTED]]
    pairs = [(found.query_writers[place // width], found.key_writers[place % width]) for place in order]
    others = [name.replace("_", " ") for name, value in found.terms.items() if name != "rounding" and value]
    left = len(parts) - len(order)
    rest = (
        ((", ".join([*([counted(left, "other pair")] if left else []), *others]), found.score - parts[order].sum()),)
        if left or others
        else ()
    )
    named = (" × ".join(part_name(part_of(path)) for path in pair) for pair in pairs)
    return ChangesView(
        "The largest pairs",
        (*zip(named, parts[order], strict=True), *rest),
        end=("The score", found.score),
        picks=tuple(own_cell(resolved, key, cell.key) or own_cell(resolved, query, cell.query) for query, key in pairs),
        tables={},
    )


def _matrix(resolved: ResolvedQuestion, found: Ledger) -> MatrixView:
    """The largest writers of each side, the others in one more line."""
    parts = found.parts.astype(float)
    rows, columns = (largest_lines(np.abs(parts).sum(axis)) for axis in (1, 0))
    row_names, row_picks = _side(resolved, found.query_writers, rows, found.cell.query)
    column_names, column_picks = _side(resolved, found.key_writers, columns, found.cell.key)
    writers = {"query writer": tuple(found.query_writers), "key writer": tuple(found.key_writers)}
    return MatrixView(
        "Who wrote the query and the key",
        np.array([[parts[np.ix_(line, column)].sum() for column in columns] for line in rows]),
        rows=row_names,
        columns=column_names,
        row_axis="query",
        column_axis="key",
        digits=None,
        titles=tuple(tuple(f"{line} × {column}" for column in column_names) for line in row_names),
        row_picks=row_picks,
        column_picks=column_picks,
        note=HELP,
        tables={"Ledger of the weight": NumberTable(writers, parts)},
    )


def largest_lines(sizes: Float[np.ndarray, " writer"]) -> list[list[int]]:
    """The places of the largest writers, each by itself, and those of all others together."""
    order = [int(place) for place in np.argsort(-sizes, kind="stable")]
    return [*([place] for place in order[:SIDE]), *([order[SIDE:]] if len(order) > SIDE else [])]


def _side(
    resolved: ResolvedQuestion, writers: Sequence[str], lines: Sequence[list[int]], token: int
) -> tuple[tuple[str, ...], tuple[Pick, ...]]:
    """The names of the lines of one side, and what a click on each chooses; those of the rest choose nothing."""
    paths = [writers[line[0]] for line in lines[:SIDE]]
    rest = len(lines) > SIDE
    names = (*(short_name(part_of(path)) for path in paths), *(("rest",) if rest else ()))
    return names, (*(own_cell(resolved, path, token) for path in paths), *(({},) if rest else ()))


def short_name(part: Component) -> str:
    """The name of a writer at the edge of the matrix."""
    if part.head >= 0:
        return f"L{part.layer} H{part.head}"
    layer = f"L{part.layer} " if part.layer >= 0 else ""
    names = {"feed_forward": "FF", "layer_embedding": "LE", "embedding": "token", "positions": "pos", "bias": "bias"}
    return f"{layer}{names.get(part.kind, part.kind.replace('_', ' '))}"


def own_cell(resolved: ResolvedQuestion, path: str, token: int) -> Pick:
    """The choice that opens a writer: a head at the key that a token most attends to, or a feed-forward's neurons."""
    part, stack = part_of(path), path.partition(".")[0]
    pick = opening_pick(part, stack)
    weights = resolved.trace.values.get(f"{stack}.{part.layer}.{part.kind}.weights")
    if part.head < 0 or weights is None or token >= weights.shape[1]:
        return pick
    return {**pick, "pinned": (token,), "key": int(weights[part.head, token].argmax())}


def programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
    """The same ledger in Python, and as a command."""
    if not _is_clicked(state):
        return
    group = selected_attention(resolved.config, state.attention)
    layer, head = selected_heads(state, group)[0]
    cell = f"{group.path(layer)}[{head},{state.pinned[0]},{state.key}]"
    lines = ("", "from headlight import cell_ledger", f'print(cell_ledger(model, trace, "{cell}").pairs()[:5])')
    yield Program(lines, ("ledger", f"--cell={cell}"))


def _is_clicked(state: State) -> bool:
    return len(state.pinned) == 1 and state.key >= 0 and len(state.heads) < 2


LEDGER = Analysis(
    "Why a head looks at a token",
    reads=("attention", "layer", "head", "pinned", "key"),
    compute=ledger,
    programs=programs,
)
