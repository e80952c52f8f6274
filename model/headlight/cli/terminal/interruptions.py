"""Interruptions of a command: Ctrl+C, a closed pipe, a full disk, an output encoding without the letters."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper

INTERRUPTED = 130  # 128 + SIGINT, as shells say it


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Meanwhile Ctrl+C ends the process: an import that it stops halfway fails in another way, some within C++."""
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def guarded(run: Callable[[], int]) -> int:
    """The exit status of a command; lost output ends it without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # tokens are of any script, a terminal is not
    try:
        status = run()
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # such as `headlight models | head -1`
        _discard_output()
        return 0
    except OSError as error:
        _discard_output()
        what = f"{error.filename} cannot be used" if error.filename else "The output cannot be written"
        print(f"headlight: {what}: {error.strerror or error}.", file=sys.stderr)
        return 2


def _discard_output() -> None:
    """What is still to be written goes nowhere: Python would try once more at its end, and fail aloud."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
