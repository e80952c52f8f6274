"""An hour of visitors who come, type, switch heads and leave: does the memory of server and workers stay where it is?

Each minute others come, with cookies, texts and heads of their own; half of them use another model, and one asks for
what is slow. `python -m tests.bench soak [--minutes 60] [--visitors 6] [--settled 10]`
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.classroom import MODEL, Attacker, Session
from tests.bench.measure import Times
from tests.bench.memory import MEGABYTE, descendants, memory
from tests.browser.server import Server, serve

MODELS = (MODEL, "stories-masked")
MINUTE, ATTACK_SECONDS = 60.0, 5.0


def lines(minutes: int, visitors: int, settled: int) -> Iterator[str]:
    """A row for each minute, then the last one's memory as a share of that of the minute `settled`."""
    yield "| minute | server MB | each worker, MB | letters | median ms | p95 ms |"
    yield "|---:|---:|---:|---:|---:|---:|"
    totals: list[int] = []
    wrong: list[str] = []
    with TemporaryDirectory() as folder, serve(Path(folder)) as server:
        for minute in range(1, minutes + 1):
            sessions = _minute(server, minute, visitors)
            own, *workers = (memory(pid).pss for pid in (server.pid, *descendants(server.pid)))
            totals.append(own + sum(workers))
            letters = [seconds for session in sessions for seconds in session.keys]
            times = Times.of(letters or [0.0])
            each = " + ".join(str(taken // MEGABYTE) for taken in workers)
            yield (
                f"| {minute} | {own // MEGABYTE} | {each} | {len(letters)} | {times.middle:.0f} | {times.slow:.0f} |"
            )
            wrong += [sentence for session in sessions for sentence in session.wrong]
    if len(totals) > settled:
        yield f"\nThe last minute's memory is {totals[-1] / totals[settled - 1]:.3f} of minute {settled}'s."
    yield f"\n{len(wrong)} errors or mix-ups{': ' + '; '.join(wrong[:5]) if wrong else ''}"


def _minute(server: Server, minute: int, visitors: int) -> list[Session]:
    """Visitors whom nobody has seen before, until they are gone."""
    sessions = [
        Session(server, minute * visitors + number, MINUTE - ATTACK_SECONDS, model=MODELS[number % len(MODELS)])
        for number in range(visitors)
    ]
    lives = [session.live for session in sessions] + [Attacker(server, ATTACK_SECONDS).live]
    threads = [threading.Thread(target=live) for live in lives]
    until = time.monotonic() + MINUTE
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(max(0.0, until - time.monotonic()))
    return sessions


def main(arguments: Sequence[str]) -> None:
    """`python -m tests.bench soak [--minutes N] [--visitors N]`."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench soak", description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--visitors", type=int, default=6)
    parser.add_argument("--settled", type=int, default=10, help="the minute with which the last one is compared")
    options = parser.parse_args(arguments)
    for line in lines(options.minutes, options.visitors, options.settled):
        print(line, flush=True)
