"""Requests from flat test fields: each field goes to the part of the request that defines it."""

import json
from typing import Any

import msgspec
from starlette.testclient import TestClient

from headlight_app.contract.question import Question, Variant
from headlight_app.contract.request import Request
from headlight_app.contract.state import State
from headlight_app.engine.job import EngineRequest
from headlight_app.engine.requests import decode_request
from headlight_app.worker.serve import answer
from headlight_app.worker.table import ANALYSIS, ANSWERS

PARTS: dict[str, type[msgspec.Struct]] = {"question": Question, "choice": State, "state": State}


def body(route: str, **fields: Any) -> dict[str, Any]:
    """The JSON of a request: a field that the request itself lacks is its question's, its choice's or its state's."""
    known = set(ANSWERS[route][0].__struct_fields__)
    found: dict[str, Any] = {part: {} for part in PARTS if part in known}
    for name, value in fields.items():
        holder = next((part for part, kind in PARTS.items() if part in known and name in kind.__struct_fields__), "")
        if name in known or not (holder or name in Variant.__struct_fields__):
            found[name] = value
        elif name in Variant.__struct_fields__:
            found["question"].setdefault("variant", {})[name] = value
        else:
            found[holder][name] = value
    return found


def make_request(route: str, **fields: Any) -> Request[Any]:
    """`body` as a request object."""
    return msgspec.convert(body(route, **fields), ANSWERS[route][0])


def make_question(model: str, text: str = "", **fields: Any) -> Question:
    """A question; the fields may include those of its variant."""
    variant = {name: fields.pop(name) for name in Variant.__struct_fields__ if name in fields}
    return Question(model=model, text=text, variant=Variant(**variant), **fields)


def unpack(encoded: bytes) -> tuple[dict[str, Any], bytes]:
    """The JSON header and the numbers of a reply, decoded as the browser does."""
    end = 4 + int.from_bytes(encoded[:4], "little")
    return json.loads(encoded[4:end]), encoded[end + -end % 4 :]


def ask_worker(route: str, **fields: Any) -> tuple[dict[str, Any], bytes]:
    """A worker's answer. Raises HeadlightError with the message of the server or of the worker."""
    content = json.dumps(body(route, **fields)).encode()  # as JavaScript sends it
    decode_request(msgspec.json.Decoder(ANSWERS[route][0]), content)
    return unpack(answer(EngineRequest(route, content)))


def ask_views(analysis: str, **fields: Any) -> list[dict[str, Any]]:
    """The views of an analysis at once and after seconds, as a page gets them to save their numbers."""
    row = ANALYSIS.row(analysis)
    routes = {"analysis": row.compute, "long_analysis": row.compute_long}
    answers = (ask_worker(route, analysis=analysis, with_tables=True, **fields) for route in routes if routes[route])
    return [view for meta, _ in answers for view in _views_of(meta)]


def ask_steps(analysis: str, **fields: Any) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The views of an analysis after its last step, by their kinds, and the answer of each step."""
    answers: list[dict[str, Any]] = [{"progress": "", "done": 0}]
    while answers[-1]["done"] < 1:
        meta, _ = ask_worker(
            "analysis_step", analysis=analysis, progress=answers[-1]["progress"], with_tables=True, **fields
        )
        answers.append(meta)
    return {view["kind"]: view for view in _views_of(answers[-1])}, answers[1:]


def ask_page(page: str, **fields: Any) -> list[dict[str, Any]]:
    """The views of a page of views, as it gets them to save their numbers."""
    meta, _ = ask_worker("views", page=page, **{"with_tables": True} | fields)
    return _views_of(meta)


def _views_of(meta: dict[str, Any]) -> list[dict[str, Any]]:
    return [view for row in meta["rows"] for view in row["views"]]


def ask_route(client: TestClient, route: str = "trace", **fields: Any) -> tuple[dict[str, Any], bytes]:
    """The server's answer to a component."""
    headers = {"Content-Type": "application/json"}
    content = json.dumps(body(route, **fields))  # as JavaScript sends it
    reply = client.post(f"/api/{route}", content=content, headers=headers)
    assert reply.status_code == 200
    return unpack(reply.content)
