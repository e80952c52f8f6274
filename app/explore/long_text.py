"""Pictures of long texts: the region that somebody looks at, exact where it is small enough, else its largest cells.

What the table of kinds makes of whole layers would take gigabytes here; one head is made again from what it read.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from app.explore.head_view import FORBIDDEN, SHOWN, Axis, View, view
from app.explore.quantities import KINDS
from app.services.head_selection import chosen_grid, chosen_heads, text_of, window
from app.services.traces import long, trace, wired
from app.state.state import Question, State
from model.errors import EditError
from model.rendering.quantize import pool
from model.text.word_groups import Groups
from model.tracing.recompute import regions

SIDE = 384  # cells; more than a picture has pixels to show
HEADS = 4  # of a long text in one picture
SITES = ("weights", "scores", "masked")  # kinds that are one head's alone, and so can be made for it alone


def picture(question: Question, state: State) -> View:
    """What `state` asks to see of its heads, of a text of any length. Raises HeadlightError where that cannot be."""
    return _region(question, state) if long(question) else view(question, state)


def _region(question: Question, state: State) -> View:
    grid, kind = chosen_grid(question, state), KINDS[state.view]
    if state.view not in SITES:
        known = ", ".join(KINDS[name].title.lower() for name in SITES)
        raise EditError(f"Of a text this long these can be shown: {known}. Shorten it for all else.")
    heads = chosen_heads(state, grid)
    if len(heads) > HEADS:
        raise EditError(f"{len(heads)} heads of so long a text are too much for one picture. Collect at most {HEADS}.")
    asking, asked = text_of(question, grid.queries), text_of(question, grid.keys)
    queries, keys = window(state, len(asking.ids), len(asked.ids))
    numbers, allowed = [], []
    for layer, head in heads:
        path = f"{grid.stack}.{layer}.{grid.kind}"
        made = regions(wired(question), trace(question), path, (state.view, "mask"), head, queries, keys)
        may = made["mask"] > 0 if state.view != "scores" else np.ones(made["mask"].shape, dtype=bool)
        # Forbidden cells are lower than all others, so that of a block they count only where it has no other.
        numbers.append(pool(np.where(may, made[state.view], np.finfo(np.float32).min), SIDE))
        allowed.append(pool(may, SIDE))
    each = np.stack(numbers)
    together = each.mean(0) if state.rule == "mean" else each.max(0)
    either = np.stack(allowed).any(0)
    rows, columns = (_axis(text.pieces, part, SIDE) for text, part in ((asking, queries), (asked, keys)))
    said = (kind.about, *_said(queries, keys, len(asking.ids), len(asked.ids)))
    if len(heads) > 1:
        said += (f"{'mean' if state.rule == 'mean' else 'largest'} of {len(heads)} heads",)
    states = np.where(either, SHOWN, FORBIDDEN).astype(np.uint8)
    shown = np.where(np.stack(allowed), each, np.nan).astype(np.float32)
    return View(rows, columns, np.where(either, together, np.nan), states, shown, kind, said)


def _axis(pieces: tuple[str, ...], part: range, side: int) -> Axis:
    """Tokens, or blocks of them where there are more than `side`; a block has the name of its first."""
    count = min(side, len(part))
    starts = [part.start + block * len(part) // count for block in range(count)] + [part.stop]
    groups: Groups = tuple(tuple(range(first, end)) for first, end in pairwise(starts))
    return Axis(tuple(pieces[group[0]] for group in groups), groups)


def _said(queries: range, keys: range, asking: int, asked: int) -> tuple[str, ...]:
    told = []
    if (len(queries), len(keys)) != (asking, asked):
        told.append(f"queries {queries.start} to {queries.stop - 1}, keys {keys.start} to {keys.stop - 1}")
    if max(len(queries), len(keys)) > SIDE:
        down, right = (-(-len(part) // SIDE) for part in (queries, keys))
        told.append(f"each cell the largest of up to {down} x {right}; zoom in for single ones")
    return tuple(told)
