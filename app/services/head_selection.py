"""Which head a person chose, and which one is shown first."""

from __future__ import annotations

import re

from app.services.attention_payload import soon
from app.services.traces import trace
from app.state.state import Question, State
from model.analysis.head_metrics import head_metrics, plainest
from model.attention_groups import Grid, grids
from model.errors import EditError, HeadlightError
from model.text.tokenizer import Encoded

_WINDOW = re.compile(r"(\d{1,9})-(\d{1,9})/(\d{1,9})-(\d{1,9})")


def plain(question: Question, state: State) -> tuple[int, int]:
    """The head that is plainest to see in a text, to begin with; the first where that takes long or nothing answers."""
    try:
        grid, traced = chosen_grid(question, state), trace(question)
        return plainest(head_metrics(traced, grid.stack, grid.kind) if soon(traced, grid) else {})
    except (HeadlightError, RuntimeError):  # as when a device is full; whoever asks the model next says what is wrong
        return 0, 0


def chosen_grid(question: Question, state: State) -> Grid:
    """The attention that is looked at. Raises EditError where the model has none."""
    known = grids(trace(question).config)
    if not known:
        raise EditError("This model has no layers, so there is no attention to show.")
    return next((grid for grid in known if grid.name == state.attention), known[0])


def text_of(question: Question, which: str) -> Encoded:
    """The tokens that a grid calls "text" or "source"."""
    traced = trace(question)
    return traced.source if which == "source" and traced.source is not None else traced.text


def window(state: State, queries: int, keys: int) -> tuple[range, range]:
    """The queries and keys that are zoomed to; all of them where no window is chosen, or none that makes sense."""
    match = _WINDOW.fullmatch(state.window)
    if not match:
        return range(queries), range(keys)
    numbers = [int(number) for number in match.groups()]
    chosen = (range(numbers[0], min(numbers[1], queries)), range(numbers[2], min(numbers[3], keys)))
    return chosen if all(chosen) else (range(queries), range(keys))


def parse_head(name: str, grid: Grid) -> tuple[int, int] | None:
    """ "2.3" as layer 2, head 3; None where that is no head of the grid."""
    layer, _, head = name.partition(".")
    if not (layer.isdecimal() and head.isdecimal() and len(name) < 12):
        return None
    return (int(layer), int(head)) if int(layer) < grid.layers and int(head) < grid.heads else None


def chosen_heads(state: State, grid: Grid) -> list[tuple[int, int]]:
    """The collected heads, or the chosen one where none are."""
    collected = [head for name in dict.fromkeys(state.heads) if (head := parse_head(name, grid))]
    return collected or [_chosen(state, grid)]


def _chosen(state: State, grid: Grid) -> tuple[int, int]:
    """The chosen head, or the nearest one that the grid has."""
    return min(max(state.layer, 0), grid.layers - 1), min(max(state.head, 0), grid.heads - 1)
