"""Starts the real command `headlight`, from a folder outside the source tree."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from random import SystemRandom
from urllib.error import URLError
from urllib.request import Request, urlopen

PATIENCE = 180.0  # seconds for the server to answer; the first import of torch on a cold, busy disk is slow
STOPPING = 60.0  # seconds for the shutdown
PORTS = range(10_000, 30_000)  # below the ephemeral ports
HEALTH = "/_stcore/health"  # Streamlit's
ERROR = re.compile(r"\b(error|exception|traceback)\b", re.IGNORECASE)
TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Server:
    """A running server: its address, its process, and its standard output and error."""

    url: str
    port: int
    pid: int
    log_file: Path

    def log(self) -> str:
        """Everything written so far."""
        return self.log_file.read_text(errors="replace")

    def new_visitor(self) -> dict[str, str]:
        """JSON headers with the cookie of a visitor who has just opened the page."""
        with urlopen(Request(self.url, headers={"Accept": "text/html"})) as page:
            cookie = page.headers["Set-Cookie"].partition(";")[0]
        return {"Content-Type": "application/json", "Cookie": cookie}

    def post(self, route: str, content: bytes | str, headers: dict[str, str], patience: float = 120.0) -> bytes:
        """The answer of a route, over a new connection."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=patience)) as line:
            line.request("POST", f"/api/{route}", content, headers)
            return line.getresponse().read()

    def assert_no_traceback(self, since: int = 0) -> None:
        """Fails with the log if it contains a traceback after the first `since` characters."""
        written = self.log()[since:]
        assert TRACEBACK not in written, f"the server's log contains a traceback:\n{written}"

    def assert_no_error(self, since: int = 0) -> None:
        """Fails if a line after the first `since` characters reports an error, with or without a traceback."""
        lines = [line for line in self.log()[since:].splitlines() if ERROR.search(line)]
        assert not lines, f"the server's log reports errors: {lines}"


@contextmanager
def serve(folder: Path, *options: str, health: str = HEALTH) -> Iterator[Server]:
    """Runs `headlight --no-browser` with further options on a free port until the block ends."""
    headlight = str(Path(sys.executable).with_name("headlight"))
    with started(folder, headlight, "--no-browser", *options, "--port", health=health) as server:
        yield server
    server.assert_no_traceback()


@contextmanager
def started(folder: Path, *words: str, health: str = HEALTH) -> Iterator[Server]:
    """Runs a command that serves a page until the block ends; a free port is its last argument.

    `health` is the path that answers once the server is ready.
    """
    port = free_port()
    log_file = folder / "server.log"
    command = [*words, str(port)]
    with log_file.open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    server = Server(f"http://127.0.0.1:{port}", port, process.pid, log_file)
    try:
        _wait_until_ready(server, process, health)
        yield server
        assert process.poll() is None, f"the server ended with {process.returncode}:\n{server.log()}"
    finally:
        process.terminate()
        try:
            process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """A random free port, so that servers that start at the same time choose different ones."""
    while True:
        with socket.socket() as probe:
            port = SystemRandom().choice(PORTS)
            if probe.connect_ex(("127.0.0.1", port)):
                return port


def _environment(folder: Path) -> dict[str, str]:
    """This process's environment without the user's settings for Streamlit and Headlight."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("STREAMLIT_", "HEADLIGHT_"))}
    return kept | {"HOME": str(folder), "PYTHONUNBUFFERED": "1"}


def _wait_until_ready(server: Server, process: subprocess.Popen[bytes], health: str) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None, f"the server ended with {process.returncode}:\n{server.log()}"
        try:
            with urlopen(f"{server.url}{health}", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"the server did not answer within {PATIENCE:.0f} seconds:\n{server.log()}")


def wait_until_answered(port: int, process: subprocess.Popen[bytes]) -> None:
    """Waits until a process accepts connections at a port."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None, f"it ended with {process.returncode}"
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens at {port}")
