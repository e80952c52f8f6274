"""Makes ready for several threads what msgspec learns of a struct when it is first read."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


def prepare_types() -> None:
    """Have msgspec learn every struct that is known by now, in this thread alone.

    A thread that decodes a struct while another one is still learning its fields reads them from address 0, and the
    whole process ends (msgspec 0.22; two visitors of a server that has just started are enough).
    """
    for kind in _structs(msgspec.Struct):
        msgspec.json.Decoder(kind)


def _structs(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("headlight"):
            yield kind
        yield from _structs(kind)
