"""Many browsers open the page at the same moment, as when a class opens the address on the board.

Each fetches the page and the files named in it, over as many connections as a browser, runs the page once, and requests
the first heads. Drawing is not measured. `python -m tests.bench arrival`
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urljoin

import psutil

from tests.bench.classroom import Session
from tests.bench.measure import Times, at_once
from tests.browser.server import Server, serve

CLASSES = (1, 10, 30, 100)
CONNECTIONS = 6  # from a browser to one server
FILE = re.compile(r'(?:href|src)="([^"]+\.(?:js|css|woff2))"')


def lines() -> Iterator[str]:
    """The table, measured after one browser as a warm-up."""
    yield "| at once | files, median / p95 ms | rest of the page | first heads | server's processor, ms each | errors |"
    yield "|---:|---:|---:|---:|---:|---:|"
    with TemporaryDirectory() as folder, serve(Path(folder), "--shared") as server:
        arrive(server, 1)
        process = psutil.Process(server.pid)
        for browsers in CLASSES:
            before = sum(process.cpu_times()[:2])
            visits, wrong = arrive(server, browsers)
            spent = 1e3 * (sum(process.cpu_times()[:2]) - before) / browsers
            times = [Times.of(seconds) for seconds in zip(*visits, strict=True)]
            cells = " | ".join(f"{each.middle:.0f} / {each.slow:.0f}" for each in times)
            yield f"| {browsers} | {cells} | {spent:.0f} | {len(wrong)} |"


def arrive(server: Server, browsers: int) -> tuple[list[Sequence[float]], list[str]]:
    """Seconds until each browser has its files, the rest of the page and the first heads, and the errors."""
    sessions = [Session(server, number, seconds=0.0) for number in range(browsers)]
    visits: list[Sequence[float]] = []

    def visit(session: Session) -> None:
        began = time.perf_counter()
        fetch_files(server, session.headers["Cookie"])
        fetched = time.perf_counter()
        session.live()
        session.ask()
        visits.append((fetched - began, session.pages[0], time.perf_counter() - began))

    at_once([partial(visit, session) for session in sessions])
    return visits, [sentence for session in sessions for sentence in session.wrong]


def fetch_files(server: Server, cookie: str) -> None:
    """Fetch the page and the files named in its HTML."""
    headers = {"Cookie": cookie, "Accept": "text/html,*/*", "Accept-Encoding": "gzip"}

    def fetch(paths: Sequence[str]) -> bytes:
        content = b""
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=60)) as line:
            for path in paths:
                line.request("GET", path, headers=headers)
                content = line.getresponse().read()
        return content

    paths = [urljoin("/", path) for path in FILE.findall(fetch(["/"]).decode())]
    at_once([partial(fetch, paths[number::CONNECTIONS]) for number in range(CONNECTIONS)])
