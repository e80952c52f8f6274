"""A process that has imported all that a worker needs, and forks a worker within milliseconds.

A worker that has read one visitor's files never serves another, so each new visitor needs a new process, whose imports
take seconds of processor time. The template reads no file of a visitor and starts no thread, and its copies share its
memory. Only Linux has it: elsewhere, a fork is unsafe or does not exist.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from threading import Lock

import psutil

from headlight_app.engine.fair_queue import STOPPED
from headlight_app.engine.job import EngineError
from headlight_app.engine.worker_process import START_SECONDS, WorkerLimits, confine, python_command

MAX_LIMITS = 4_096  # bytes of the limits of a worker
IS_POSSIBLE = sys.platform == "linux"
NO_TEMPLATE = "The engine does not start; the server's log says why."


class ForkedProcess:
    """A worker whose parent is the template; it has what the engine uses of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid, self.process = pid, psutil.Process(pid)

    def poll(self) -> int | None:
        """None while it runs."""
        return None if self.process.is_running() else 0

    def kill(self) -> None:
        """End it."""
        with suppress(psutil.NoSuchProcess):
            self.process.kill()

    def wait(self) -> None:
        """Wait for its end."""
        self.process.wait()


class WorkerTemplate:
    """Starts the template with its first worker, and again if it has ended."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.line: socket.socket | None = None
        self.has_ended = False

    def fork(self, theirs: Connection, limits: WorkerLimits) -> ForkedProcess:
        """A new worker with its end of the pipe. Raises EngineError if there is none."""
        with self.lock:
            try:
                return self._fork(theirs, limits)
            except (OSError, ValueError, psutil.NoSuchProcess):  # it has ended or hangs, so a new one is started
                self._stop()
            try:
                return self._fork(theirs, limits)
            except (OSError, ValueError, psutil.NoSuchProcess) as error:
                self._stop()
                raise EngineError(NO_TEMPLATE) from error

    def close(self) -> None:
        """End it permanently, and its workers with it."""
        self.has_ended = True
        if (process := self.process) is not None:
            process.kill()  # before the lock, which a thread holds that waits for its imports
        with self.lock:
            self._stop()

    def _fork(self, theirs: Connection, limits: WorkerLimits) -> ForkedProcess:
        if self.line is None:
            self.line, other = socket.socketpair()
            self.line.settimeout(START_SECONDS)
            self.process = python_command(__name__, [str(other.fileno()), limits.module], other.fileno())
            other.close()
        if self.has_ended:
            self._stop()
            raise EngineError(STOPPED)
        socket.send_fds(self.line, [limits.to_json().encode()], [theirs.fileno()])
        return ForkedProcess(int(self.line.recv(MAX_LIMITS)))  # an ended template sends nothing, which is no number

    def _stop(self) -> None:
        if self.line is not None:
            self.line.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.line = self.process = None


def main(arguments: list[str]) -> None:
    """The main function of the template: import, then fork a worker for each message until the server ends."""
    line = socket.socket(fileno=int(arguments[0]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl+C
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended workers leave nothing behind
    confine(WorkerLimits())
    module = import_module(arguments[1])
    getattr(module, "all_rows", dict)()  # imports what other workers import when they are idle
    gc.freeze()
    while True:
        message, handles, _, _ = socket.recv_fds(line, MAX_LIMITS, 1)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            line.close()
            _work(module.serve, Connection(handles[0]), WorkerLimits.from_json(message.decode()))
        os.close(handles[0])
        line.send(str(pid).encode())


def _work(serve: object, connection: Connection, limits: WorkerLimits) -> None:
    """A worker, in its own process, until the server closes its pipe."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        confine(limits)
        os.nice(limits.niceness)
        assert callable(serve)
        with suppress(ConnectionError):
            serve(connection)
    finally:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
