"""A server stops on request, even with hanging workers and slow clients."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import psutil
import pytest

from headlight_app.access.uploads import FOLDER_PREFIX
from tests.browser.server import TRACEBACK, free_port

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows programs cannot handle SIGTERM")
ROOT = Path(__file__).parents[3]
PATIENCE = 120  # seconds; enough for a busy machine
# A server with one upload, whose only worker of the short lane hangs while holding the interpreter lock.
SERVE = """
import sys
from dataclasses import replace
from functools import partial

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from headlight_app.access.uploads import upload_store
from headlight_app.engine.engine import engine
from headlight_app.contract.request import Lane
from headlight_app.engine.job import Job
from headlight_app.room.rooms import Rooms
from headlight_app.server.lifespan import lifespan
from tests.app.engine.faulty_worker import request


async def read(asked):
    print("reading", flush=True)
    return Response(await asked.body())


if __name__ == "__main__":
    [thread] = engine().lanes[Lane.SHORT].threads
    thread.worker.limits = replace(thread.worker.limits, module="tests.app.engine.faulty_worker")
    engine().lanes[Lane.SHORT].queue.put(Job("anna", request("hang"), 1_000.0))
    upload_store().add_upload("anna", "mine", lambda folder, max_bytes: folder)
    app = Starlette(routes=[Route("/", read, methods=["POST"])], lifespan=partial(lifespan, rooms=Rooms()))
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
"""


@contextmanager
def serving(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """Run the server with its temporary files in a folder."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(folder)}
    command = [sys.executable, "-c", SERVE, str(port)]
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def half_a_request(port: int, process: subprocess.Popen[str]) -> socket.socket:
    """A slow client: connect and send half a request, for which the server waits."""
    while True:
        assert process.poll() is None, process.communicate()
        try:
            slow = socket.create_connection(("127.0.0.1", port))
        except OSError:
            continue
        slow.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nThe cat")
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        return slow


def test_it_ends_when_it_is_told_though_a_worker_hangs_and_a_visitor_is_slow(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, port) as process, half_a_request(port, process):
        assert list(tmp_path.glob(f"{FOLDER_PREFIX}*"))
        workers = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=PATIENCE)
        assert process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
        assert TRACEBACK not in log
        assert not list(tmp_path.glob(f"{FOLDER_PREFIX}*"))
        assert workers and not psutil.wait_procs(workers, timeout=PATIENCE)[1]


@pytest.mark.parametrize(("module", "count"), [("encodings", 2), ("uvicorn.protocols.http.httptools_impl", 1)])
def test_ctrl_c_leaves_no_traceback_while_a_worker_and_the_server_start(module: str, count: int) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONPROFILEIMPORTTIME": "1"}
    command = [sys.executable, "-m", "headlight_app", "--no-browser", "--port", str(free_port())]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, process_group=0
    ) as process:
        try:
            assert process.stderr is not None
            imported = (line.rpartition("|")[2].strip() for line in process.stderr)  # one line per module
            assert [name for name in islice((name for name in imported if name == module), count)] == [module] * count
            os.killpg(process.pid, signal.SIGINT)
            assert TRACEBACK not in process.communicate(timeout=PATIENCE)[1]
        finally:
            process.kill()
