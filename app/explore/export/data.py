"""Numbers as files: the picture on the screen, or any value by its path; every digit that 32 bits hold."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from app.explore.head_view import SHOWN, view
from app.services.head_selection import chosen_grid, chosen_heads
from app.services.traces import trace, value
from app.state.state import Question, State
from model.errors import EditError, UnknownName
from model.nn.sites import SITES
from model.registry import Registry
from model.text.tokenizer import Encoded
from model.tracing.interventions import Intervention, Range
from model.tracing.trace import Trace

COMPUTED = 1 << 25  # numbers of a whole value, of which a file may then hold a part: 128 MB
_TOKENS = ("pos", "query", "key")
_ENDLESS: Range = (0, None)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers with names: `labels` say for each axis what its places are called."""

    name: str
    about: str
    axes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    values: np.ndarray


@dataclass(frozen=True)
class Form:
    """A kind of file, and for how many numbers at most it is made."""

    ending: str
    media: str
    most: int
    write: Callable[[Numbers], bytes]


def numbers_seen(question: Question, state: State, most: int) -> Numbers:
    """The picture: rows and columns as they are shown, nothing (NaN) where it shows nothing."""
    made = view(question, state)
    _require(made.numbers.size, most)
    heads = chosen_heads(state, chosen_grid(question, state))
    name = "-".join(f"layer{layer}-head{head}" for layer, head in heads[:4])
    values = np.where(made.states == SHOWN, made.numbers, np.nan).astype(np.float32)
    labels = (_numbered(made.rows.names), _numbered(made.columns.names))
    return Numbers(f"{name}-{state.view}", "; ".join(made.said), ("query", "key"), labels, values)


def numbers_at(question: Question, path: str, most: int) -> Numbers:
    """The value at a path, or a part of it: `decoder.1.self.weights[3]` is head 3 of that attention.

    Raises EditError for what cannot be read, is not there, or is too much for one file.
    """
    name, index = _read(path.strip())
    axes = SITES[name.rpartition(".")[2]].axes
    traced = trace(question)
    cells = math.prod(_length(axis, name, traced) for axis in axes)
    if cells > COMPUTED:
        raise EditError(f"{name} has {cells:,} numbers here; at most {COMPUTED:,} are computed. Shorten the text.")
    try:
        whole = value(question, name)
    except EditError as error:
        raise EditError(f"This model has no value {name}. A path reads STACK.LAYER.PART.SITE.") from error
    axes = axes[len(axes) - whole.ndim :]  # a classifier's answer is for the text, not for each token
    if axes[-1] == "key":  # a mask may be one for all heads
        whole = np.broadcast_to(whole, (_length("head", name, traced), *whole.shape[1:]))
    ranges = index + (_ENDLESS,) * (len(axes) - len(index))
    _require_inside(path.strip(), axes, ranges, whole.shape)
    part = whole[tuple(slice(first, end) for first, end in ranges)]
    _require(part.size, most)
    labels = [
        _labels(axis, name, traced, size)[first:end]
        for axis, size, (first, end) in zip(axes, whole.shape, ranges, strict=True)
    ]
    kept = [place for place, (first, end) in enumerate(ranges) if end != first + 1] or [len(axes) - 1]
    told = "".join(sign if sign.isalnum() else "-" for sign in path.strip()).strip("-")
    return Numbers(
        told,
        path.strip(),
        tuple(axes[place] for place in kept),
        tuple(labels[place] for place in kept),
        part.reshape([part.shape[place] for place in kept]),
    )


def _read(path: str) -> tuple[str, tuple[Range, ...]]:
    """A path, and the index behind it where there is one; read as an edit's is."""
    try:
        read = Intervention.parse(f"{path}=scale:1")
    except UnknownName:
        raise
    except EditError as error:
        raise EditError(
            f"{path[:200]!r} names no value. A value reads PATH or PATH[INDEX], as in decoder.1.self.weights[3]: "
            "the index counts along the value's axes, from 0."
        ) from error
    return read.path, read.index


def _length(axis: str, path: str, traced: Trace) -> int:
    """How many places an axis of a value has."""
    stack = path.partition(".")[0]
    config = traced.config.of(stack)
    if axis in _TOKENS:
        return len(_text(axis, path, traced).ids)
    sizes = {
        "head": config.heads,
        "key_value_head": config.key_value_heads,
        "channel": config.head_width,
        "value_channel": config.value_width,
        "width": config.width,
        "inner": config.inner,
        "token": config.vocabulary,
    }
    return sizes[axis]


def _text(axis: str, path: str, traced: Trace) -> Encoded:
    """The text whose tokens an axis counts."""
    site = path.rpartition(".")[2]
    looked_at = axis == "key" or SITES[site].axes[0] == "key_value_head"
    of_source = path.startswith("encoder.") or (".cross." in path and looked_at)
    return traced.source if of_source and traced.source is not None else traced.text


def _labels(axis: str, path: str, traced: Trace, size: int) -> tuple[str, ...]:
    pieces = _text(axis, path, traced).pieces if axis in _TOKENS else ()
    return _numbered(pieces) if len(pieces) == size else tuple(map(str, range(size)))


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    """Places in front keep equal names apart, and a spreadsheet from taking a token for a formula."""
    return tuple(f"{place} {name}" for place, name in enumerate(names))


def _require(size: int, most: int) -> None:
    if size > most:
        raise EditError(
            f"That is {size:,} numbers; such a file holds at most {most:,}, and NPZ {FORMS['npz'].most:,}. "
            "An index behind the path, as in decoder.1.self.weights[3], asks for less."
        )


def _require_inside(path: str, axes: Sequence[str], ranges: Sequence[Range], shape: Sequence[int]) -> None:
    for axis, (first, end), size in zip(axes, ranges, shape, strict=True):
        if (first + 1 if end is None else end) > size:
            raise EditError(f"{path} asks for {axis} {first if end is None else end - 1}; there are {size}, from 0.")


def _csv(numbers: Numbers) -> bytes:
    """One or two axes as a table, more as a line for each number."""
    words = numbers.values.astype(str)
    out = io.StringIO()
    writer = csv.writer(out)
    if words.ndim == 1:
        writer.writerow((numbers.axes[0], "value"))
        writer.writerows(zip(numbers.labels[0], words, strict=True))
    elif words.ndim == 2:
        writer.writerow((f"{numbers.axes[0]} / {numbers.axes[1]}", *numbers.labels[1]))
        writer.writerows((label, *line) for label, line in zip(numbers.labels[0], words, strict=True))
    else:
        writer.writerow((*numbers.axes, "value"))
        writer.writerows((*place, word) for place, word in zip(product(*numbers.labels), words.ravel(), strict=True))
    return out.getvalue().encode("utf-8", "replace")


def _json(numbers: Numbers) -> bytes:
    """The shortest digits that read back as the same 32 bits; null where there is no number."""
    told = {
        "about": numbers.about,
        "axes": numbers.axes,
        "labels": dict(zip(numbers.axes, numbers.labels, strict=True)),
        "values": _plain(numbers.values),
    }
    return json.dumps(told, allow_nan=False).encode("ascii")


def _plain(values: np.ndarray) -> Any:
    if values.dtype.kind != "f":
        return values.tolist()
    exact = values.astype(str).astype(np.float64).astype(object)
    exact[~np.isfinite(values)] = None
    return exact.tolist()


def _npz(numbers: Numbers) -> bytes:
    """Plain arrays: `values`, `axes`, `about`, and the names along each axis as `labels_AXIS`."""
    named = {
        f"labels_{axis}": np.array(names, np.str_) for axis, names in zip(numbers.axes, numbers.labels, strict=True)
    }
    out = io.BytesIO()
    plain = {"values": numbers.values, "axes": np.array(numbers.axes), "about": np.array(numbers.about)}
    np.savez(out, allow_pickle=False, **plain, **named)
    return out.getvalue()


FORMS: Registry[Form] = Registry(
    "form",
    {
        "csv": Form("csv", "text/csv", 1 << 20, _csv),
        "json": Form("json", "application/json", 1 << 20, _json),
        "npz": Form("npz", "application/octet-stream", 1 << 24, _npz),
    },
)
