"""Makes msgspec structs safe to decode in several threads."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


def prepare_types() -> None:
    """Build the decoders of all structs defined so far, in this thread.

    If two threads decode a struct for the first time at once, one reads the fields from address 0 while the other still
    prepares them, and the process crashes (msgspec 0.22; two visitors of a just started server are enough).
    """
    for kind in _structs(msgspec.Struct):
        msgspec.json.Decoder(kind)


def _structs(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("headlight"):
            yield kind
        yield from _structs(kind)
