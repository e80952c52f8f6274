"""Live edits: any Python function of a run's values, and patches, which insert values of another run.

    decoder.2.residual[5]=from:B[3]         token 5 of layer 2's input is token 3 of the run B
    decoder.1.self.weighted_values[3]=from:B    head 3 outputs what it did in the run B

A trace keeps its live edits, so that they are applied again when a value is recomputed from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.errors import EditError
from headlight.nn.hooks import hook_point_of

LiveHook = Callable[[str, Tensor], "Tensor | None"]
_PATCH_PATTERN = re.compile(r"([a-z_0-9.]+)(?:\[([0-9:, ]*)\])?=from:(\w+)(?:\[([0-9:, ]*)\])?")
_PATCH_HINT = "A patch has the form PATH[INDEX]=from:RUN[INDEX], as in decoder.2.residual[5]=from:B[3]."


@dataclass(frozen=True)
class LiveEdit:
    """A function of a path and its value, with the axes of a trace: it returns a new value, or changes it in place.

    `path` is the only path whose value it changes; empty if it may change several.
    """

    name: str
    hook: LiveHook
    path: str = ""

    def apply(self, path: str, value: Tensor) -> Tensor:
        """The edited batch; the same object if nothing changed. Raises EditError if the shape changes."""
        copies = [row.clone() for row in value]
        rows = [row if (given := self.hook(path, row)) is None else given for row in copies]
        for row, original in zip(rows, value, strict=True):
            if not isinstance(row, Tensor) or row.shape != original.shape:
                shape = tuple(row.shape) if isinstance(row, Tensor) else type(row).__name__
                raise EditError(
                    f"{self.name} gives {shape} for {path}; it must have the shape {tuple(original.shape)}."
                )
        edited = torch.stack([row.to(value) for row in rows])
        return value if torch.equal(edited, value) else edited


def is_patch(edit: object) -> bool:
    """Whether an edit takes its values from another run."""
    return isinstance(edit, str) and "=from:" in edit


def patched_paths(edits: Sequence[object]) -> tuple[str, ...]:
    """The paths whose values patches take from another run, which has to record them."""
    matches = [_PATCH_PATTERN.fullmatch(str(edit).strip()) for edit in edits if is_patch(edit)]
    return tuple(sorted({match[1] for match in matches if match}))


def parse_patch(text: str, runs: Mapping[str, Mapping[str, np.ndarray]]) -> LiveEdit:
    """A patch from its text form; `runs` are the values of other runs by name. Raises EditError if it is invalid."""
    match = _PATCH_PATTERN.fullmatch(text.strip())
    if not match:
        raise EditError(f"{text!r} is not a patch. {_PATCH_HINT}")
    path, index, run, source_index = match.groups()
    hook_point_of(path)
    if run not in runs:
        known = f"the runs given are {', '.join(runs)}" if runs else "give it as runs={...}"
        raise EditError(f"{text!r} takes values from a run {run!r}; {known}.")
    if path not in runs[run]:
        raise EditError(f"The run {run!r} holds no {path!r}, which {text!r} needs.")
    target, whole = _slices(index, text), runs[run][path]
    source = torch.from_numpy(np.array(_cut(whole, _slices(source_index or index, text), text, run)))

    def patch(name: str, value: Tensor) -> Tensor | None:
        if name != path:
            return None
        place = _cut(value, target, text, "this run")
        if place.shape != source.shape:
            shapes = " x ".join(map(str, source.shape)), " x ".join(map(str, place.shape))
            raise EditError(f"{text!r} takes {shapes[0]} numbers from {run}, but replaces {shapes[1]}.")
        place[...] = source.to(value)
        return value

    return LiveEdit(text, patch, path)


def _slices(index: str | None, text: str) -> tuple[slice, ...]:
    parts = index.split(",") if index else []
    found = []
    for part in parts:
        first, colon, end = (word.strip() for word in part.partition(":"))
        if not colon and not first:
            raise EditError(f"{text!r} has an empty index. {_PATCH_HINT}")
        found.append(slice(int(first or 0), int(end) if end else None) if colon else slice(int(first), int(first) + 1))
    return tuple(found)


def _cut(value: Tensor | np.ndarray, slices: tuple[slice, ...], text: str, owner: str) -> Tensor | np.ndarray:
    """A part of a value. Raises EditError if it has no such part."""
    if len(slices) > value.ndim:
        raise EditError(f"{text!r} counts along {len(slices)} axes; the value has {value.ndim}.")
    for axis, part in enumerate(slices):
        if max(part.start + 1, part.stop or 0) > value.shape[axis]:
            raise EditError(
                f"{text!r} asks for index {part.start}, but {owner} has {value.shape[axis]}, counted from 0."
            )
    return value[slices]
