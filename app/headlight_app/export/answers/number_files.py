"""Numbers as CSV, JSON or NPZ files with names along each axis, at full float32 precision."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from headlight.errors import EditError
from headlight.registry import Registry
from headlight.rendering.provenance import Provenance, provenance_arrays, provenance_lines
from headlight_app.contract.reply import FileAnswer, Reply

CELL_START = re.compile(r""",(?=["=+\-@\t])""")  # in a comment line, where a spreadsheet starts a formula or quotes
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")


@dataclass(frozen=True, eq=False)
class LabelledArray:
    """Numbers with names: `labels` name the positions along each axis; `heads` are the shown heads."""

    name: str
    description: str
    axes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    values: np.ndarray
    heads: tuple[tuple[int, int], ...] = ()
    attention_group: str = ""


@dataclass(frozen=True)
class FileFormat:
    """A file format, and the maximum number of values per file."""

    extension: str
    media_type: str
    max_values: int
    write: Callable[[LabelledArray, Provenance], bytes]


def number_file(array: LabelledArray, name: str, made_from: Provenance) -> Reply[FileAnswer]:
    """Numbers as a file in the format `name`."""
    file_format = FILE_FORMATS[name]
    answer = FileAnswer(name=f"{array.name}.{file_format.extension}", type=file_format.media_type)
    return Reply(answer, file_format.write(array, made_from))


def require_size(size: int, max_values: int) -> None:
    """Raise EditError if there are more than `max_values` numbers."""
    if size > max_values:
        raise EditError(
            f"That is {size:,} numbers; such a file holds at most {max_values:,}, and NPZ "
            f"{FILE_FORMATS['npz'].max_values:,}. "
            "An index after the path, as in decoder.1.self.weights[3], selects fewer."
        )


def _write_csv(array: LabelledArray, made_from: Provenance) -> bytes:
    """CSV: the provenance in comment lines, then a table for one or two axes, or a line per number for more axes.

    `pandas.read_csv(file, comment="#")` and R's `read.csv(file, comment.char = "#")` read it back: texts are quoted.
    """
    # The shortest digits that parse to the same float32.
    digits = array.values.astype(str).astype(float) if array.values.dtype.kind == "f" else array.values
    out = io.StringIO()
    for line in provenance_lines(made_from):
        out.write(CELL_START.sub(", ", line) + "\r\n")
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    labels = tuple(tuple(map(inert, names)) for names in array.labels)
    if digits.ndim == 1:
        writer.writerow((array.axes[0], "value"))
        writer.writerows(zip(labels[0], digits.tolist(), strict=True))
    elif digits.ndim == 2:
        writer.writerow((f"{array.axes[0]} / {array.axes[1]}", *labels[1]))
        writer.writerows((label, *line) for label, line in zip(labels[0], digits.tolist(), strict=True))
    else:
        writer.writerow((*array.axes, "value"))
        writer.writerows(
            (*names, number) for names, number in zip(product(*labels), digits.ravel().tolist(), strict=True)
        )
    return out.getvalue().encode("utf-8", "replace")


def inert(text: str) -> str:
    """A text that spreadsheets do not read as a formula: one that starts like a formula gets an apostrophe in front."""
    begins = len(text) > 1 and text[0] in "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"  # also the wide ones
    return f"'{text}" if begins and not NUMBER.fullmatch(text) else text


def _write_json(array: LabelledArray, made_from: Provenance) -> bytes:
    """JSON, with the shortest digits that parse to the same float32; null for non-finite values."""
    document = {
        "description": array.description,
        "provenance": made_from,
        "axes": array.axes,
        "labels": dict(zip(array.axes, array.labels, strict=True)),
        "values": _json_numbers(array.values),
    }
    return json.dumps(document, allow_nan=False).encode("ascii")


def _json_numbers(values: np.ndarray) -> Any:
    if values.dtype.kind != "f":
        return values.tolist()
    exact = values.astype(str).astype(np.float64).astype(object)
    exact[~np.isfinite(values)] = None
    return exact.tolist()


def _write_npz(array: LabelledArray, made_from: Provenance) -> bytes:
    """Plain arrays: `values`, `axes`, `description`, the names along each axis as `labels_AXIS`, and the provenance."""
    labels = {f"labels_{axis}": np.array(names, np.str_) for axis, names in zip(array.axes, array.labels, strict=True)}
    out = io.BytesIO()
    arrays = {"values": array.values, "axes": np.array(array.axes), "description": np.array(array.description)}
    np.savez(out, allow_pickle=False, **arrays, **labels, **provenance_arrays(made_from))
    return out.getvalue()


FILE_FORMATS: Registry[FileFormat] = Registry(
    "format",
    {
        "csv": FileFormat("csv", "text/csv", 1 << 20, _write_csv),
        "json": FileFormat("json", "application/json", 1 << 20, _write_json),
        "npz": FileFormat("npz", "application/octet-stream", 1 << 24, _write_npz),
    },
)
