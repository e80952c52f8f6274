"""The process in which chat templates run: a stranger's program cannot take this one's time and memory."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Lock, Timer
from typing import Any

from headlight.errors import TextError

MAX_SECONDS = 1.0  # of a processor, for the texts of a chat
MAX_MEGABYTES = 256
MAX_CHARACTERS = 200_000  # of a text
MEMORY_STATUS = 77  # the exit status of a process that has run out of memory
STARVED_SECONDS = 30.0  # for a reply, while other processes use the processors
_TOO_LONG = f"took longer than {MAX_SECONDS:.0f} s; it was stopped."
_ENDINGS = {
    MEMORY_STATUS: f"needs more than {MAX_MEGABYTES} MB of memory; it was stopped.",
    -getattr(signal, "SIGPROF", signal.SIGTERM): _TOO_LONG,
    -getattr(signal, "SIGKILL", signal.SIGTERM): _TOO_LONG,
}


def render_template(
    source: str, variables: Mapping[str, Any], chats: Sequence[Sequence[Mapping[str, str]]]
) -> list[str]:
    """The text that a chat template makes of each list of messages.

    Raises TextError for a template that fails, refuses the messages, or needs too much time or memory.
    """
    reply = _process_of(os.getpid()).reply({"source": source, "variables": variables, "chats": chats})
    if "failure" in reply:
        raise TextError(f"This model's chat template {reply['failure']}")
    texts: list[str] = reply["texts"]
    return texts


@lru_cache(maxsize=1)
def _process_of(process_id: int) -> TemplateProcess:
    """The process that renders for this one; a copy of this process (fork) gets its own."""
    return TemplateProcess()


class TemplateProcess:
    """Runs `template_program`; it starts when needed, also after a template has ended it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.lock = Lock()
        atexit.register(self.close)

    def reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to a request: `texts`, or the `failure` of its template."""
        with self.lock:
            process = self._running()
            assert process.stdin is not None and process.stdout is not None
            timer = Timer(STARVED_SECONDS, process.kill)
            timer.start()
            line = b""
            with suppress(OSError):  # it has ended
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                line = process.stdout.readline()
            timer.cancel()
            if line.endswith(b"\n"):
                reply: dict[str, Any] = json.loads(line)
                return reply
            self.close()
            return {"failure": _ENDINGS.get(process.returncode, "crashed, or took too long.")}

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            self.close()
            self.process = _start()
        return self.process

    def close(self) -> None:
        """Let the process end, wait for it, and close its pipes."""
        if self.process is not None:
            with suppress(OSError), self.process as process:
                assert process.stdin is not None
                process.stdin.close()


def _start() -> subprocess.Popen[bytes]:
    """Start a new interpreter with this one's `sys.path`."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-m", "headlight.text.template_program"]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    try:
        return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=nothing)
    except OSError as error:
        raise TextError(f"A chat template runs in a process of its own, which does not start: {error}.") from error
