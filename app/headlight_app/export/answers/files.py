"""Exports of every page: provenance, links, numbers as a file, figures as PDF."""

from __future__ import annotations

from math import prod
from typing import Any
from urllib.parse import urlencode

import msgspec
import numpy as np

from headlight.errors import TextError
from headlight.rendering.html import choices_json
from headlight.rendering.provenance import Provenance, describe_provenance, join_provenance
from headlight_app.contract.parts import Catalogue
from headlight_app.contract.reply import FileAnswer, Reply
from headlight_app.contract.state import State
from headlight_app.export.answers.number_files import LabelledArray, number_file
from headlight_app.export.answers.pdf import render_pdf
from headlight_app.export.contract import (
    ExportOriginAnswer,
    ExportOriginRequest,
    ExportPdfRequest,
    ExportTableRequest,
    LinkAnswer,
    LinkRequest,
    SidesRequest,
    Table,
)
from headlight_app.inference.open_models import available_models
from headlight_app.inference.origin import question_provenance
from headlight_app.inference.resolved_question import resolve
from headlight_app.state.url import encode_generated, encode_sampling, encode_side_b, encode_state


def answer_export_origin(request: ExportOriginRequest) -> Reply[ExportOriginAnswer]:
    """The provenance of a page's figure."""
    sides, catalogue = _provenance_of_sides(request), msgspec.convert(choices_json(), Catalogue)
    answer = ExportOriginAnswer(
        provenance=dict(join_provenance(sides)),
        sides=tuple(tuple(describe_provenance(fields)) for fields in sides),
        operations=catalogue.operations,
        hook_points=catalogue.hook_points,
    )
    return Reply(answer)


def answer_link(request: LinkRequest) -> Reply[LinkAnswer]:
    """The query of a state, and the names of the parameters that a URL cannot contain."""
    state = _encoded_state(request)
    query, everything = encode_state(state), encode_state(state, omit=False)
    omitted = tuple(name for name in everything if name not in query)
    return Reply(LinkAnswer(query=urlencode(query), omitted=omitted, state=state))


def _encoded_state(request: LinkRequest) -> State:
    state = request.state
    if not any(entry.name == state.model and entry.config.reads_source_text for entry in available_models()):
        state = state.change(source=None)  # this model reads no source
    if request.side_b is not None:
        state = state.change(side_b=encode_side_b(request.side_b))
    if request.sampling is not None:
        asked = state.question("")
        generated = encode_generated(asked, request.generated)
        state = state.change(sampling=encode_sampling(request.sampling), generated=generated)
    return state


def answer_export_table(request: ExportTableRequest) -> Reply[FileAnswer]:
    """A file of numbers that a page shows, with their provenance."""
    array = _labelled_array(request.table, request.shown)
    return number_file(array, request.format, join_provenance(_provenance_of_sides(request)))


def answer_export_pdf(request: ExportPdfRequest) -> Reply[FileAnswer]:
    """A figure laid out by the browser, drawn as PDF."""
    return Reply(FileAnswer(name="headlight.pdf", type="application/pdf"), render_pdf(request.figure))


def _labelled_array(table: Table, description: str) -> LabelledArray:
    """A table as an array with labels. Raises TextError if numbers and labels do not match."""
    shape = tuple(map(len, table.labels))
    if len(shape) != len(table.axes) or 4 * prod(shape) != len(table.values):
        raise TextError("A table needs a label for each row and column, and a number for each cell.")
    values = np.frombuffer(table.values, "<f4").reshape(shape)
    return LabelledArray(table.name.replace(" ", "-"), description, table.axes, table.labels, values)


def _provenance_of_sides(request: SidesRequest[Any]) -> list[Provenance]:
    """The provenance of each run that a page shows."""
    return [
        question_provenance(resolve(side.question), request.shown, side.heads, side.attention_group)
        for side in request.sides
    ]
