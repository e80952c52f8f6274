"""Handles Ctrl+C, a closed pipe, a full disk, and characters missing from the output encoding."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper

INTERRUPTED = 130  # 128 + SIGINT, as shells report it


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Within the block, Ctrl+C ends the process at once: in an import it could raise other errors, even inside C++."""
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def guarded(run: Callable[[], int]) -> int:
    """Run a command and return its exit status; failing output ends it without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal's encoding may lack characters of tokens
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
    """Discard the pending output: Python would try to write it again at exit, and print an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
