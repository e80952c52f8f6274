"""So many sessions of the page that begin at the same moment, as when a class opens the address from the board.

`python -m tests.bench arrival`
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.classroom import Session
from tests.bench.measure import Times, at_once
from tests.browser.server import Server, serve

CLASSES = (1, 30, 200)


def lines() -> Iterator[str]:
    """The table: from the connection to the end of the first run of the page, after one that does not count."""
    yield "| at once | median ms | p95 ms | errors |"
    yield "|---:|---:|---:|---:|"
    with TemporaryDirectory() as folder, serve(Path(folder), "--shared") as server:
        arrive(server, 1)
        for visitors in CLASSES:
            took, wrong = arrive(server, visitors)
            times = Times.of(took)
            yield f"| {visitors} | {times.middle:.0f} | {times.slow:.0f} | {len(wrong)} |"


def arrive(server: Server, visitors: int) -> tuple[list[float], list[str]]:
    """How long each session took to begin, and what went wrong."""
    sessions = [Session(server, number, seconds=0.0) for number in range(visitors)]
    cookies = [session.headers for session in sessions]  # the page itself is there already
    start, took = threading.Barrier(len(cookies)), list[float]()

    def begin(session: Session) -> None:
        start.wait()
        began = time.perf_counter()
        session.live()
        took.append(time.perf_counter() - began)

    at_once([partial(begin, session) for session in sessions])
    return took, [sentence for session in sessions for sentence in session.wrong]
