"""The exports of Explore: numbers, a self-contained HTML page, a worksheet, programs."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import msgspec

from headlight.registry import Registry
from headlight.rendering.html import WEIGHTS_QUANTITY, HtmlView, choices_json, patches_json, show_trace, sound_json
from headlight.rendering.plots import COLOUR_RANGES
from headlight.rendering.provenance import Provenance, provenance_json
from headlight_app.contract.reply import FileAnswer, Reply
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis
from headlight_app.explore.answers.arrays import displayed_array, value_array
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.explore.answers.export.worksheet import worksheet
from headlight_app.explore.answers.head_view import head_view
from headlight_app.explore.answers.heads import head_view_reply, trace_reply
from headlight_app.explore.answers.quantities import quantity_json, shown_quantity
from headlight_app.explore.contract import (
    ExportCodeRequest,
    ExportNumbersRequest,
    ExportPageRequest,
    ExportWorksheetRequest,
)
from headlight_app.export.answers.number_files import FILE_FORMATS, number_file
from headlight_app.export.contract import ProgramAnswer
from headlight_app.inference.head_selection import selected_attention, selected_heads
from headlight_app.inference.open_models import model_title
from headlight_app.inference.origin import question_provenance
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve


def answer_export_numbers(request: ExportNumbersRequest) -> Reply[FileAnswer]:
    """A file of numbers: the value at `path`, or the displayed view if `path` is empty."""
    resolved, file_format = resolve(request.question), FILE_FORMATS[request.format]
    if request.path.strip():
        array = value_array(resolved, request.path, file_format.max_values)
    else:
        array = displayed_array(resolved, request.state, file_format.max_values)
    made_from = question_provenance(resolved, array.description, array.heads, array.attention_group)
    return number_file(array, request.format, made_from)


def _view_provenance(resolved: ResolvedQuestion, state: State) -> Provenance:
    group = selected_attention(resolved.config, state.attention)
    view, colour_range = head_view(resolved, state), COLOUR_RANGES[state.colour_range]
    is_fitted = colour_range.quantile is not None and view.quantity.scale == "probability"
    rules = (*view.rules, colour_range.description) if is_fitted else view.rules
    return question_provenance(resolved, "; ".join(rules), selected_heads(state, group), group.name)


def answer_export_page(request: ExportPageRequest) -> Reply[FileAnswer]:
    """All heads and the displayed view with its exact numbers, as one HTML file that works offline."""
    resolved, state = resolve(request.question), request.state
    question, traced = resolved.question, resolved.trace
    reply = trace_reply(resolved, state.query)
    meta, numbers = msgspec.to_builtins(reply.answer), reply.numbers
    if any(path.endswith(".weights") for path in traced.values):  # not kept for a long text, which has the overview
        document = show_trace(resolved.shown_trace)
        groups = [
            shown | {"shows": known["shows"], "metrics": known["metrics"] or shown["metrics"]}
            for shown, known in zip(document.meta["attention_groups"], meta["attention_groups"], strict=True)
        ]
        meta, numbers = meta | {"attention_groups": groups}, document.numbers
    view = head_view_reply(head_view(resolved, state), with_heads=True).encode()
    quantity = shown_quantity(resolved, state)
    extra = {
        "quantities": [WEIGHTS_QUANTITY, *([quantity_json(quantity)] if quantity != "weights" else [])],
        **choices_json(traced.config.modalities),
        "patches": patches_json(traced, with_image=True),
        "sound": sound_json(traced),
        "state": msgspec.to_builtins(state) | {"text": question.text, "source": question.source},
        "saved_views": {f"view {request.view_key}": base64.b64encode(view).decode("ascii")},
        **provenance_json(_view_provenance(resolved, state)),
    }
    html_view = HtmlView(f"Headlight: {model_title(question.model)}", meta | extra, numbers)
    return Reply(FileAnswer(name="headlight.html", type="text/html"), html_view.document().encode("utf-8"))


def answer_export_worksheet(request: ExportWorksheetRequest) -> Reply[FileAnswer]:
    """The view as a printable page for a class, with matching questions and their answers."""
    html = worksheet(resolve(request.question), request)
    name = "headlight-worksheet.html"
    return Reply(FileAnswer(name=name, type="text/html"), html.encode("utf-8", "replace"))


@dataclass(frozen=True)
class CodeExport:
    """The view as a Python program and as shell commands; the chosen one of `tasks` adds what it computes."""

    tasks: Registry[Analysis]

    def answer(self, request: ExportCodeRequest) -> Reply[ProgramAnswer]:
        """The program and the commands of the request's view."""
        view = (resolve(request.question), request.state, self.tasks)
        return Reply(ProgramAnswer(python=python_code(*view), shell=shell_code(*view)))
