"""The request that a worker is answering."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from headlight_app.engine.job import EngineRequest

_NOBODY = EngineRequest("", b"")
_REQUEST: ContextVar[EngineRequest] = ContextVar("request", default=_NOBODY)


def current_request() -> EngineRequest:
    """The request being answered; outside of one, an empty request without a visitor."""
    return _REQUEST.get()


@contextmanager
def answering(request: EngineRequest) -> Iterator[None]:
    """Answer a request within the block."""
    token = _REQUEST.set(request)
    try:
        yield
    finally:
        _REQUEST.reset(token)
