"""Decodes untrusted request bodies; the error names the invalid field."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

from headlight.errors import TextError
from headlight.validation import fault_sentence
from headlight_app.contract.request import Request

R = TypeVar("R", bound=Request[Any])

NO_JSON = "The question is not JSON, or a text in it has half a character (a lone surrogate)."


def decode_request(decoder: msgspec.json.Decoder[R], body: bytes) -> R:
    """The request in a body. If it is invalid, raises TextError with a sentence that names the field."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as fault:
        raise TextError(_sentence(decoder.type, str(fault), body)) from fault
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise TextError(NO_JSON) from fault


def _sentence(kind: object, fault: str, body: bytes) -> str:
    """The validation fault as a sentence, with the invalid value."""
    try:
        return fault_sentence(kind, fault, json.loads(body), "question")
    except (ValueError, RecursionError):  # the JSON may be malformed after its first fault
        return NO_JSON
