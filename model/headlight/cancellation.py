"""Stopping a computation from outside: its caller says when the result is no longer wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_IS_CANCELLED: ContextVar[Callable[[], bool] | None] = ContextVar("is_cancelled", default=None)


class Cancelled(BaseException):
    """The computation is no longer wanted. A BaseException, so that no handler takes it for a failure of the model."""


@contextmanager
def cancellable(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Within the block `check_cancelled` raises as soon as `is_cancelled` says so."""
    token = _IS_CANCELLED.set(is_cancelled)
    try:
        yield
    finally:
        _IS_CANCELLED.reset(token)


def check_cancelled() -> None:
    """Raise Cancelled if the result is no longer wanted; called between the steps of long work."""
    is_cancelled = _IS_CANCELLED.get()
    if is_cancelled is not None and is_cancelled():
        raise Cancelled
