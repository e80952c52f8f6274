"""What a request asks: a question and a state from JSON values of unknown origin."""

from __future__ import annotations

from typing import Any, TypeVar, get_type_hints

from app.state.state import Question, State
from model.errors import TextError
from model.validation import from_plain

Request = TypeVar("Request")


def parse_request(kind: type[Request], body: dict[str, Any], name: str) -> Request:
    """A dataclass from the fields of a request that it knows. Raises TextError for one that is missing or mistyped."""
    values = {field: body[field] for field in get_type_hints(kind) if field in body}
    return from_plain(kind, values, name, TextError)


def parse_question(body: dict[str, Any]) -> Question:
    """The question in a request. Raises TextError for a field that is missing or mistyped."""
    return parse_request(Question, body, "question")


def parse_state(body: dict[str, Any]) -> State:
    """The state in a request; a value that makes no sense counts as absent, as in a URL."""
    return State().change(**body)


def integer_or_zero(value: Any) -> int:
    """A whole number as it is, anything else as 0."""
    return value if type(value) is int else 0
