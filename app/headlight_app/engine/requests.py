"""A request from the bytes that a stranger sent, or a sentence that names the field that does not fit."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

from headlight.errors import TextError
from headlight.validation import fault_sentence
from headlight_app.contract.request import Request

R = TypeVar("R", bound=Request[Any])

NO_JSON = "The question is no JSON, or a text in it has half a character (a lone surrogate)."


def decode_request(decoder: msgspec.json.Decoder[R], body: bytes) -> R:
    """The request in a body. Raises TextError with a sentence that names the field where it does not fit."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as fault:
        raise TextError(_sentence(decoder.type, str(fault), body)) from fault
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise TextError(NO_JSON) from fault


def _sentence(kind: type, fault: str, body: bytes) -> str:
    """The fault of a body in words, with the value that it is about."""
    try:
        return fault_sentence(kind, fault, json.loads(body), "question")
    except (ValueError, RecursionError):  # a body may be broken behind its first fault
        return NO_JSON
