"""Cancelling a computation: its caller decides when the result is no longer needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_IS_CANCELLED: ContextVar[Callable[[], bool] | None] = ContextVar("is_cancelled", default=None)


class Cancelled(BaseException):
    """The computation was cancelled. A BaseException, so that handlers of Exception do not treat it as a failure."""


@contextmanager
def cancellable(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Within the block, `check_cancelled` raises Cancelled once `is_cancelled()` is true."""
    token = _IS_CANCELLED.set(is_cancelled)
    try:
        yield
    finally:
        _IS_CANCELLED.reset(token)


def check_cancelled() -> None:
    """Raise Cancelled if the computation was cancelled; called between the steps of long work."""
    is_cancelled = _IS_CANCELLED.get()
    if is_cancelled is not None and is_cancelled():
        raise Cancelled
