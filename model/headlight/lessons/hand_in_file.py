"""Hand-ins: a learner's answers as a file, which is read without opening a model.

The digest detects files that were damaged or changed by hand. It proves nothing more: it uses no secret, so a person
who reads this code can change an answer and recompute the digest, and it does not identify the author.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from headlight.errors import DataError

FORMAT = "headlight-hand-in-1"
Tries = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=20)]


class HandIn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A learner's hand-in; `answers` has the tries for each step, including hints."""

    format: str = FORMAT
    lesson: Annotated[str, Meta(max_length=100)]
    version: Annotated[int, Meta(ge=1)]
    seed: Annotated[int, Meta(ge=0, lt=2**53)]
    model: Annotated[str, Meta(max_length=300)]
    name: Annotated[str, Meta(max_length=100)]
    answers: Annotated[tuple[Tries, ...], Meta(max_length=100)]
    digest: Annotated[str, Meta(max_length=64)] = ""

    def with_digest(self) -> HandIn:
        """The same, with the digest of all other fields."""
        fields = asdict(self) | {"digest": ""}
        text = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return msgspec.structs.replace(self, digest=sha256(text.encode()).hexdigest())

    def encode(self) -> bytes:
        """The contents of the file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1)


def read_hand_in(raw: bytes) -> HandIn:
    """A hand-in from its file. Raises DataError with a sentence if it is not one."""
    try:
        found = msgspec.json.decode(raw, type=HandIn)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        why = str(error).rstrip(".")[:160]
        raise DataError(f"This is not a hand-in of a lesson, or it was damaged: {why}.") from None
    if found.format != FORMAT:
        raise DataError(f"The format of the file is “{found.format[:40]}”; this program reads {FORMAT}.")
    return found
