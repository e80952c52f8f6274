"""What can be taken away from the page: links, numbers, one file that draws itself, figures, programs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any
from urllib.parse import urlencode

from app.explore.api import view_work
from app.explore.export.code import python_program, shell_program
from app.explore.export.data import FORMS, numbers_at, numbers_seen
from app.explore.export.pdf import drawn, figure_of
from app.explore.quantities import KINDS
from app.packing import pack
from app.services.attention_payload import answer
from app.services.traces import trace
from app.state.request import question_of, state_of
from app.state.state import State
from model.errors import TextError
from model.rendering.html import WEIGHTS, Shown, patches, told_metrics

LONGEST_KEY = 20_000  # characters by which a saved page finds its picture again


def link_work(body: dict[str, Any]) -> bytes:
    """The address of a state, as parameters, and the names of what is too long to stand in one."""
    state = state_of(body)
    query = state.to_query()
    lost = [field.name for field in fields(State) if getattr(state, field.name) != field.default]
    return pack({"query": urlencode(query), "lost": [name for name in lost if name not in query]})


def numbers_work(body: dict[str, Any]) -> bytes:
    """Numbers as a file: of the value at `path`, or, without one, of the picture itself."""
    question, path, form = question_of(body), body.get("path", ""), FORMS[str(body.get("form", ""))]
    if not isinstance(path, str):
        raise TextError("A path is a text, as in decoder.1.self.weights[3].")
    found = numbers_at(question, path, form.most) if path.strip() else numbers_seen(question, state_of(body), form.most)
    return pack({"name": f"{found.name}.{form.ending}", "type": form.media}, form.write(found))


def page_work(body: dict[str, Any]) -> bytes:
    """All heads, and the picture on the screen with its exact numbers, as one HTML file that needs no network."""
    question, state, key = question_of(body), state_of(body), str(body.get("asked", ""))[:LONGEST_KEY]
    meta, numbers = answer(question, state.query)
    traced, told = trace(question), {}
    if any(path.endswith(".weights") for path in traced.values):  # a long text's are not kept: it has the overview
        whole = traced.show()
        told, numbers = {"grids": whole.meta["grids"]}, whole.numbers
    more = {
        "kinds": [WEIGHTS, *([_kind(state.view)] if state.view != "weights" else [])],
        "metrics": told_metrics(bool(traced.config.picture.channels)),
        "patches": patches(traced.text, photo=True),
        "notes": [*meta["notes"], *([f"Changed: {', '.join(question.edits)}"] if question.edits else [])],
        "choice": asdict(state) | {"text": question.text, "source": question.source},
        "views": {f"view {key}": base64.b64encode(view_work(body | {"each": True})).decode("ascii")},
    }
    shown = Shown(f"Headlight: {question.model}", meta | told | more, numbers)
    return pack({"name": "headlight.html", "type": "text/html"}, shown.document().encode("utf-8"))


def figure_work(body: dict[str, Any]) -> bytes:
    """A figure that the browser has laid out, as PDF. Raises HeadlightError where the extra for it is missing."""
    return pack({"name": "headlight.pdf", "type": "application/pdf"}, drawn(figure_of(body)))


def program_work(body: dict[str, Any]) -> bytes:
    """The view as Python and as lines for a shell."""
    question, state = question_of(body), state_of(body)
    return pack({"python": python_program(question, state), "shell": shell_program(question, state)})


def _kind(view: str) -> dict[str, Any]:
    kind = KINDS[view]
    return {"name": view, "title": kind.title, "about": kind.about, "scale": kind.scale, "additive": kind.additive}


WORKS: Mapping[str, Callable[[dict[str, Any]], bytes]] = {
    "link": link_work,
    "numbers": numbers_work,
    "page": page_work,
    "figure": figure_work,
    "program": program_work,
}
