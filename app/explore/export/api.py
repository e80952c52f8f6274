"""What can be taken away from the page: links, numbers, one file that draws itself, figures, programs."""

from __future__ import annotations

import base64
from dataclasses import asdict, fields
from typing import Any
from urllib.parse import urlencode

from app.explore.api import pack_head_view
from app.explore.export.code import python_code, shell_code
from app.explore.export.data import displayed_array, neuron_array, value_array
from app.explore.export.worksheet import WorksheetParts, worksheet
from app.explore.head_view import head_view
from app.explore.quantities import quantity_json
from app.state.request import parse_question, parse_request, parse_state
from app.state.state import State
from app.ui.wire_format import pack
from app.worker.attention_payload import build_payload
from app.worker.export.number_files import FILE_FORMATS
from app.worker.export.origin import question_provenance
from app.worker.head_selection import selected_attention, selected_heads
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.errors import TextError
from model.rendering.html import WEIGHTS_QUANTITY, HtmlView, choices_json, patches_json
from model.rendering.plots import COLOUR_RANGES
from model.rendering.provenance import Provenance, provenance_json

MAX_VIEW_KEY_LENGTH = 20_000  # characters by which a saved page finds its picture again


def handle_link(body: dict[str, Any]) -> bytes:
    """The address of a state, as parameters, and the names of what is too long to stand in one."""
    state = parse_state(body)
    query = state.to_query()
    changed = [field.name for field in fields(State) if getattr(state, field.name) != field.default]
    return pack({"query": urlencode(query), "omitted": [name for name in changed if name not in query]})


def handle_export_numbers(body: dict[str, Any]) -> bytes:
    """Numbers as a file: of the value at `path`, or, without one, of the picture itself."""
    resolved, path, file_format = (
        resolve(parse_question(body)),
        body.get("path", ""),
        FILE_FORMATS[str(body.get("format", ""))],
    )
    if not isinstance(path, str):
        raise TextError("A path is a text, as in decoder.1.self.weights[3].")
    array = (
        value_array(resolved, path, file_format.max_values)
        if path.strip()
        else displayed_array(resolved, parse_state(body), file_format.max_values)
    )
    made_from = question_provenance(resolved, array.description, array.heads, array.attention_group)
    return pack(
        {"name": f"{array.name}.{file_format.extension}", "type": file_format.media_type},
        file_format.write(array, made_from),
    )


def handle_export_neurons(body: dict[str, Any]) -> bytes:
    """Every neuron of a layer's feed-forward as a file: its activation, its weight towards an answer, what it adds."""
    resolved, file_format = resolve(parse_question(body)), FILE_FORMATS[str(body.get("format", ""))]
    array = neuron_array(resolved, body, file_format.max_values)
    return pack(
        {"name": f"{array.name}.{file_format.extension}", "type": file_format.media_type},
        file_format.write(array, question_provenance(resolved, array.description)),
    )


def handle_export_provenance(body: dict[str, Any]) -> bytes:
    """What a figure says of itself, as fields and in words: that of the chosen heads, or of `all_heads`."""
    resolved, state = resolve(parse_question(body)), parse_state(body)
    made_from = _heads_provenance if body.get("all_heads") is True else _view_provenance
    return pack(provenance_json(made_from(resolved, state)))


def _heads_provenance(resolved: ResolvedQuestion, state: State) -> Provenance:
    shown = f"attention weights of all heads, {COLOUR_RANGES[state.colour_range].description}; numbers of each layer"
    return question_provenance(resolved, shown, attention_group=selected_attention(resolved.config, state).name)


def _view_provenance(resolved: ResolvedQuestion, state: State) -> Provenance:
    attention_group = selected_attention(resolved.config, state)
    view, colour_range = head_view(resolved, state), COLOUR_RANGES[state.colour_range]
    is_fitted = colour_range.quantile is not None and view.quantity.scale == "probability"
    rules = (*view.rules, colour_range.description) if is_fitted else view.rules
    heads = selected_heads(state, attention_group)
    return question_provenance(resolved, "; ".join(rules), heads, attention_group.name)


def handle_export_page(body: dict[str, Any]) -> bytes:
    """All heads, and the picture on the screen with its exact numbers, as one HTML file that needs no network."""
    resolved, state, key = (
        resolve(parse_question(body)),
        parse_state(body),
        str(body.get("view_key", ""))[:MAX_VIEW_KEY_LENGTH],
    )
    question, traced = resolved.question, resolved.trace
    meta, numbers = build_payload(resolved, state.query)
    exact_groups = {}
    if any(path.endswith(".weights") for path in traced.values):  # a long text's are not kept: it has the overview
        document = traced.show()
        exact_groups, numbers = {"attention_groups": document.meta["attention_groups"]}, document.numbers
    extra = {
        "quantities": [WEIGHTS_QUANTITY, *([quantity_json(state.quantity)] if state.quantity != "weights" else [])],
        **choices_json(traced.config.modalities),
        "patches": patches_json(traced, with_image=True),
        "state": asdict(state) | {"text": question.text, "source": question.source},
        "saved_views": {
            f"view {key}": base64.b64encode(pack_head_view(head_view(resolved, state), with_heads=True)).decode("ascii")
        },
        **provenance_json(_view_provenance(resolved, state)),
    }
    html_view = HtmlView(f"Headlight: {question.model}", meta | exact_groups | extra, numbers)
    return pack({"name": "headlight.html", "type": "text/html"}, html_view.document().encode("utf-8"))


def handle_export_worksheet(body: dict[str, Any]) -> bytes:
    """The view as a page to print for a class, with questions that fit it and their answers."""
    resolved, state = resolve(parse_question(body)), parse_state(body)
    html = worksheet(resolved, state, parse_request(WorksheetParts, body, "worksheet"))
    return pack({"name": "headlight-worksheet.html", "type": "text/html"}, html.encode("utf-8", "replace"))


def handle_export_code(body: dict[str, Any]) -> bytes:
    """The view as Python and as lines for a shell."""
    resolved, state = resolve(parse_question(body)), parse_state(body)
    return pack({"python": python_code(resolved, state), "shell": shell_code(resolved, state)})
