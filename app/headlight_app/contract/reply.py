"""The format of replies: a JSON header, then binary numbers, compact enough for one reply per keystroke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from headlight_app.contract.request import Answer, Request

A_co = TypeVar("A_co", bound=Answer, covariant=True)
A = TypeVar("A", bound=Answer)


class Refusal(Answer, frozen=True, kw_only=True):
    """An error sentence instead of an answer."""

    error: str


class Replaced(Answer, frozen=True, kw_only=True):
    """A newer question has replaced this one."""

    superseded: bool = True


class FileAnswer(Answer, frozen=True, kw_only=True):
    """A file's name and media type; its bytes follow as the binary part."""

    name: str
    type: str


class ImageAnswer(Answer, frozen=True, kw_only=True):
    """The name of an uploaded picture or recording, for later requests."""

    name: str


class WaitingAnswer(Answer, frozen=True, kw_only=True):
    """A sentence on why this visitor's question is still waiting; empty if it is not."""

    sentence: str


@dataclass(frozen=True, eq=False)
class Reply(Generic[A_co]):
    """An answer and its binary numbers."""

    answer: A_co
    numbers: bytes = b""

    def encode(self) -> bytes:
        """Four bytes with the JSON's length, the JSON, padding to a multiple of four, and the numbers."""
        text = msgspec.json.encode(self.answer, enc_hook=_number)
        header = len(text).to_bytes(4, "little") + text
        return header + bytes(-len(header) % 4) + self.numbers


def decode_reply(kind: type[A], encoded: bytes) -> Reply[A]:
    """The inverse of `Reply.encode` for an answer of this type."""
    end = 4 + int.from_bytes(encoded[:4], "little")
    return Reply(msgspec.json.decode(encoded[4:end], type=kind), encoded[end + -end % 4 :])


def answer_type(request: type[Request[A]]) -> type[A]:
    """The answer type of a request type."""
    base: Any = request.__orig_bases__[0]  # type: ignore[attr-defined]  # the base Request[Answer]
    found: type[A] = base.__args__[0]
    return found


def _number(value: Any) -> Any:
    """A NumPy scalar as a Python number."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a value of an answer")
