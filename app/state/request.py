"""What a request asks: JSON values from outside, checked field by field."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from app.state.state import Question, State
from model.errors import TextError


def parse_question(body: dict[str, Any]) -> Question:
    """The question in a request. Raises TextError for a field that is missing or of another kind."""
    choices: dict[str, Any] = {}
    for field in fields(Question):
        if field.name not in body:
            continue
        given = body[field.name]
        item_type = {"edits": str, "masked_positions": int}.get(field.name)
        if item_type is None and isinstance(given, str):
            choices[field.name] = given
        elif item_type and isinstance(given, list) and all(type(item) is item_type for item in given):
            choices[field.name] = tuple(given)
        else:
            raise TextError(f"The question's {field.name!r} is not of the right kind.")
    if not {"model", "text"} <= choices.keys():
        raise TextError("A question needs a model and a text.")
    return Question(**choices)


def parse_state(body: dict[str, Any]) -> State:
    """What a request says about how to look; what makes no sense counts as not said, as in an address."""
    given = {name: tuple(item) if isinstance(item, list) else item for name, item in body.items()}
    return State().change(**given)


def integer_or_zero(value: Any) -> int:
    """A whole number as it is, anything else as 0."""
    return value if type(value) is int else 0
