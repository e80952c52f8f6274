"""A reply as it travels: what an answer says as JSON, and its numbers as bytes, small enough to follow every letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from headlight_app.contract.request import Answer, Request

A_co = TypeVar("A_co", bound=Answer, covariant=True)
A = TypeVar("A", bound=Answer)


class Refusal(Answer, frozen=True, kw_only=True):
    """A sentence in place of an answer."""

    error: str


class Replaced(Answer, frozen=True, kw_only=True):
    """A newer question has taken the place of this one."""

    superseded: bool = True


class FileAnswer(Answer, frozen=True, kw_only=True):
    """A file: its name and media type; the numbers are its bytes."""

    name: str
    type: str


class ImageAnswer(Answer, frozen=True, kw_only=True):
    """The name under which a picture or a recording that was sent is asked for."""

    name: str


class WaitingAnswer(Answer, frozen=True, kw_only=True):
    """Why a question of this visitor has no answer yet, as a sentence; empty where none waits for others."""

    sentence: str


@dataclass(frozen=True, eq=False)
class Reply(Generic[A_co]):
    """An answer, and the raw numbers that belong to it."""

    answer: A_co
    numbers: bytes = b""

    def encode(self) -> bytes:
        """Four bytes of length, that much JSON, filling to a multiple of four, and the numbers."""
        text = msgspec.json.encode(self.answer, enc_hook=_number)
        header = len(text).to_bytes(4, "little") + text
        return header + bytes(-len(header) % 4) + self.numbers


def decode_reply(kind: type[A], encoded: bytes) -> Reply[A]:
    """What `Reply.encode` has written of an answer of this kind."""
    end = 4 + int.from_bytes(encoded[:4], "little")
    return Reply(msgspec.json.decode(encoded[4:end], type=kind), encoded[end + -end % 4 :])


def answer_type(request: type[Request[A]]) -> type[A]:
    """The kind of answer that a kind of request has."""
    base: Any = request.__orig_bases__[0]  # type: ignore[attr-defined]  # Request[Kind], as the class says it
    found: type[A] = base.__args__[0]
    return found


def _number(value: Any) -> Any:
    """A scalar of NumPy as a number of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no value of an answer")
