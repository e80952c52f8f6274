"""Every text of every request that components send, taken from the contracts."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import msgspec

from headlight.errors import HeadlightError
from headlight_app.contract.request import Request
from headlight_app.engine.requests import decode_request
from headlight_app.server.routes import http_requests
from tests.app.worker.hostile_requests import content_of
from tests.app.worker.test_hostile_requests import Extreme

MARK = "a name"
SCREEN = {
    "chapter": "training",
    "screen": "shifted-targets",
    "inputs": {"model": "induction", "text": "a", "sound": ""},
}
SCREEN |= {"model_inputs": ["model"], "file_inputs": ["sound"]}
Names = Callable[[Request[Any]], tuple[str, ...]]  # of the models or of the pictures of a request
Where = tuple[str | int, ...]  # keys and indices that lead to a text
Found = tuple[type[Request[Any]], Any, Where]


def with_text(text: str, where: Where, fields: Any) -> Any:
    """A copy of the JSON of a request with another text at one place."""
    copied = holder = deepcopy(fields)
    for step in where[:-1]:
        holder = holder[step]
    holder[where[-1]] = text
    return copied


def texts() -> Iterator[Found]:
    """Each request with all of its fields, as JSON, and each text in it."""
    for kind in http_requests():
        fields = SCREEN if "inputs" in kind.__struct_fields__ else _valid_fields(kind)
        for where in _texts_in(fields):
            yield kind, fields, where


def naming(names: Names) -> list[Found]:
    """Those texts that name a model, or those that name a picture or recording."""
    return [found for found in texts() if MARK in _names_in(names, *found)]


def _valid_fields(kind: type[Request[Any]]) -> Any:
    """All fields at their smallest values, or at their largest where the smallest are not allowed."""
    least, greatest = (json.loads(content_of(kind, Extreme(end))) for end in (0, 1))
    return least if _decoded(kind, least) else greatest


def _decoded(kind: type[Request[Any]], fields: Any) -> Request[Any] | None:
    try:
        request: Request[Any] = decode_request(msgspec.json.Decoder(kind), json.dumps(fields).encode())
        return request
    except HeadlightError:  # a value is not allowed there
        return None


def _names_in(names: Names, kind: type[Request[Any]], fields: Any, where: Where) -> tuple[str, ...]:
    request = _decoded(kind, with_text(MARK, where, fields))
    return names(request) if request else ()


def _texts_in(value: Any, where: Where = ()) -> Iterator[Where]:
    if isinstance(value, str):
        yield where
    elif isinstance(value, dict | list):
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts_in(part, (*where, step))
