"""What a request asks: a question and a state from JSON values of unknown origin."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from app.state.state import Question, State
from model.errors import TextError
from model.validation import from_plain


def parse_question(body: dict[str, Any]) -> Question:
    """The question in a request, which may say more. Raises TextError for a field that is missing or mistyped."""
    values = {field.name: body[field.name] for field in fields(Question) if field.name in body}
    return from_plain(Question, values, "question", TextError)


def parse_state(body: dict[str, Any]) -> State:
    """The state in a request; a value that makes no sense counts as absent, as in a URL."""
    given = {name: tuple(item) if isinstance(item, list) else item for name, item in body.items()}
    return State().change(**given)


def integer_or_zero(value: Any) -> int:
    """A whole number as it is, anything else as 0."""
    return value if type(value) is int else 0
