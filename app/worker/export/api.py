"""What every page asks in order to export what it shows: its origin, its numbers as a file, its figure as PDF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from app.state.request import parse_question, parse_request
from app.ui.wire_format import pack
from app.worker.export.number_files import FILE_FORMATS, LabelledArray
from app.worker.export.origin import question_provenance
from app.worker.export.pdf import Base64, Figure, render_pdf
from app.worker.resolved_question import resolve
from model.errors import TextError
from model.rendering.html import choices_json
from model.rendering.provenance import Provenance, describe_provenance, join_provenance

MAX_SIDES = 2
Label = Annotated[str, Meta(max_length=10_000)]


@dataclass(frozen=True)
class Side:
    """What a page says of one of its runs beside the question: which heads it shows, of which attention."""

    attention_group: Annotated[str, Meta(max_length=200)] = ""
    heads: Annotated[tuple[tuple[int, int], ...], Meta(max_length=10_000, description="pairs of layer and head")] = ()


@dataclass(frozen=True)
class Table:
    """Numbers as a page shows them: `values` are 32-bit floats in the order of `axes`; `labels` name each place."""

    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9 _-]{1,80}\Z", description="letters and digits")]
    axes: Annotated[tuple[Label, ...], Meta(min_length=1, max_length=4)]
    labels: tuple[tuple[Label, ...], ...]
    values: Base64

    def as_array(self, description: str) -> LabelledArray:
        """The same as the files have it. Raises TextError where numbers and labels do not fit."""
        shape = tuple(map(len, self.labels))
        if len(shape) != len(self.axes) or 4 * int(np.prod(shape)) != len(self.values):
            raise TextError("A table has a label for each place, and a number for each cell.")
        values = np.frombuffer(self.values, "<f4").reshape(shape)
        return LabelledArray(self.name.replace(" ", "-"), description, self.axes, self.labels, values)


def handle_export_origin(body: dict[str, Any]) -> bytes:
    """What a figure of a page says of itself: fields, the words for each side, and the rows that say edits in words."""
    sides = _sides(body)
    words = [describe_provenance(fields) for fields in sides]
    return pack({"provenance": join_provenance(sides), "sides": words, **choices_json()})


def handle_export_table(body: dict[str, Any]) -> bytes:
    """Numbers that a page shows, as a file of a format that says where they are from."""
    table = body.get("table")
    if not isinstance(table, dict):
        raise TextError("A file of numbers needs a table.")
    file_format = FILE_FORMATS[str(body.get("format", ""))]
    array = parse_request(Table, table, "table").as_array(str(body.get("shown", "")))
    name = f"{array.name}.{file_format.extension}"
    return pack({"name": name, "type": file_format.media_type}, file_format.write(array, join_provenance(_sides(body))))


def handle_export_pdf(body: dict[str, Any]) -> bytes:
    """A figure that the browser has laid out, as PDF. Raises HeadlightError where the extra for it is missing."""
    return pack({"name": "headlight.pdf", "type": "application/pdf"}, render_pdf(parse_request(Figure, body, "figure")))


def _sides(body: dict[str, Any]) -> list[Provenance]:
    """The origin of each run that a page shows; `sides` are questions, with what is shown of their answers."""
    sides, shown = body.get("sides"), str(body.get("shown", ""))
    if (
        not isinstance(sides, list)
        or not 0 < len(sides) <= MAX_SIDES
        or not all(isinstance(one, dict) for one in sides)
    ):
        raise TextError("An export names the one or two questions that its page shows.")
    found = []
    for side in sides:
        about = parse_request(Side, side, "side")
        found.append(question_provenance(resolve(parse_question(side)), shown, about.heads, about.attention_group))
    return found
