"""Numbers as files: the displayed view, or any value by its path, in full float32 precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.errors import EditError, UnknownNameError
from headlight.nn.hooks import AXIS_SIZES, QUERY_KEY_HOOK_POINTS, hook_point_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.interventions import Intervention, Range
from headlight.tracing.trace import Trace
from headlight.tracing.transformer_lens import native_path
from headlight_app.contract.state import HeadChoice
from headlight_app.explore.answers.head_view import SHOWN, head_view
from headlight_app.explore.answers.quantities import shown_quantity
from headlight_app.export.answers.number_files import LabelledArray, require_size
from headlight_app.inference.head_selection import selected_attention, selected_heads
from headlight_app.inference.resolved_question import ResolvedQuestion

MAX_COMPUTED = 1 << 25  # numbers computed for one value, even if the file has only a part of it: 128 MB
_TOKEN_AXES = ("pos", "query", "key")
_FULL_RANGE: Range = (0, None)


def displayed_array(resolved: ResolvedQuestion, choice: HeadChoice, max_values: int) -> LabelledArray:
    """The displayed view: rows and columns as shown, NaN in cells that are not shown."""
    view = head_view(resolved, choice)
    require_size(view.values.size, max_values)
    attention_group = selected_attention(resolved.config, choice.attention)
    heads = selected_heads(choice, attention_group)
    name = "-".join(f"layer{layer}-head{head}" for layer, head in heads[:4])
    values = np.where(view.cell_states == SHOWN, view.values, np.nan).astype(np.float32)
    labels = (_numbered_labels(view.rows.labels), _numbered_labels(view.columns.labels))
    description = "; ".join(view.rules)
    return LabelledArray(
        f"{name}-{shown_quantity(resolved, choice)}",
        description,
        ("query", "key"),
        labels,
        values,
        tuple(heads),
        attention_group.name,
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a value: the axis sizes of the whole value, and the range of each axis in the part."""

    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    ranges: tuple[range, ...]
    values: np.ndarray


def value_array(resolved: ResolvedQuestion, path: str, max_values: int) -> LabelledArray:
    """The value at a path, or a part of it: `decoder.1.self.weights[3]` is head 3 of that attention.

    TransformerLens names are accepted, too.

    Raises EditError for a path that cannot be parsed, a missing value, or a value too large for one file.
    """
    path = native_path(resolved.config, path.strip())
    name, index = _parse_path(path)
    is_paired = name.rpartition(".")[2] in QUERY_KEY_HOOK_POINTS
    part = (_read_pairs if is_paired else _read_value)(resolved, name, index, max_values)
    labels = [
        _axis_labels(axis, name, resolved.trace, size)[span.start : span.stop]
        for axis, size, span in zip(part.axes, part.sizes, part.ranges, strict=True)
    ]
    single = {place for place, (first, end) in enumerate(index) if end == first + 1}  # axes indexed by a single number
    kept = [place for place in range(len(part.axes)) if place not in single] or [len(part.axes) - 1]
    file_stem = "".join(character if character.isalnum() else "-" for character in path).strip("-")
    return LabelledArray(
        file_stem,
        path,
        tuple(part.axes[place] for place in kept),
        tuple(labels[place] for place in kept),
        part.values.reshape([part.values.shape[place] for place in kept]),
    )


def _read_pairs(resolved: ResolvedQuestion, name: str, index: Sequence[Range], max_values: int) -> _Part:
    """A part of a query-key value; only that part of a long text is computed."""
    axes = hook_point_of(name).axes
    sizes = tuple(_axis_length(axis, name, resolved.trace) for axis in axes)
    ranges = _index_ranges(name, axes, index, sizes)
    require_size(math.prod(map(len, ranges)), max_values)
    try:
        return _Part(axes, sizes, ranges, resolved.head_values(name, *ranges))
    except EditError as error:
        raise _missing_value(name) from error


def _read_value(resolved: ResolvedQuestion, name: str, index: Sequence[Range], max_values: int) -> _Part:
    """A part of any other value; the whole value is computed."""
    axes = hook_point_of(name).axes
    count = math.prod(_axis_length(axis, name, resolved.trace) for axis in axes)
    if count > MAX_COMPUTED:
        raise EditError(f"{name} has {count:,} numbers here; at most {MAX_COMPUTED:,} are computed. Shorten the text.")
    try:
        value = resolved.value(name)
    except EditError as error:
        raise _missing_value(name) from error
    axes = axes[len(axes) - value.ndim :]  # a classifier's output has no token axis
    ranges = _index_ranges(name, axes, index, value.shape)
    part = value[tuple(slice(span.start, span.stop) for span in ranges)]
    require_size(part.size, max_values)
    return _Part(axes, value.shape, ranges, part)


def _missing_value(name: str) -> EditError:
    return EditError(f"This model has no value {name}. A path is written STACK.LAYER.PART.HOOK_POINT.")


def _parse_path(path: str) -> tuple[str, tuple[Range, ...]]:
    """A path and its optional index, parsed like those of an edit."""
    try:
        intervention = Intervention.parse(f"{path}=scale:1")
    except UnknownNameError:
        raise
    except EditError as error:
        raise EditError(
            f"{path[:200]!r} is not a value. A value is written PATH or PATH[INDEX], as in decoder.1.self.weights[3]: "
            "the index counts along the value's axes, from 0."
        ) from error
    return intervention.path, intervention.index


def _axis_length(axis: str, path: str, traced: Trace) -> int:
    """The length of an axis of a value."""
    if axis in _TOKEN_AXES:
        return len(_axis_text(axis, path, traced).ids)
    return AXIS_SIZES[axis](traced.config.for_path(path))


def _axis_text(axis: str, path: str, traced: Trace) -> Encoded:
    """The text whose tokens an axis indexes."""
    counts_keys = axis == "key" or hook_point_of(path).axes[0] == "key_value_head"
    counts_source = path.startswith("encoder.") or (".cross." in path and counts_keys)
    return traced.source if counts_source and traced.source is not None else traced.text


def _axis_labels(axis: str, path: str, traced: Trace, size: int) -> tuple[str, ...]:
    pieces = _axis_text(axis, path, traced).token_texts if axis in _TOKEN_AXES else ()
    return _numbered_labels(pieces) if len(pieces) == size else tuple(map(str, range(size)))


def _numbered_labels(names: Sequence[str]) -> tuple[str, ...]:
    """Labels prefixed with their index, so that they are unique and no spreadsheet reads them as formulas."""
    return tuple(f"{index} {name}" for index, name in enumerate(names))


def _index_ranges(name: str, axes: Sequence[str], index: Sequence[Range], sizes: Sequence[int]) -> tuple[range, ...]:
    """The range that an index selects along each axis; the whole axis if the index omits it."""
    full = (*index, *[_FULL_RANGE] * (len(axes) - len(index)))
    for axis, (first, end), size in zip(axes, full, sizes, strict=True):
        if (first + 1 if end is None else end) > size:
            raise EditError(f"{name} has no {axis} {first if end is None else end - 1}; there are {size}, from 0.")
    return tuple(range(first, size if end is None else end) for (first, end), size in zip(full, sizes, strict=True))
