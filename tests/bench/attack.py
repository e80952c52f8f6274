"""Thirty visitors type on a shared server during each of several attacks.

`python -m tests.bench attack`, or `attack --seconds 8 --visitors 10 "made-up cookies"` for some of them.

Measured is the time that the thirty wait for a letter, and the memory of the server with its workers a minute after the
attack, compared with before it. Runs with and without the attack alternate, because the speed of a machine varies, and
each run has a new server.
"""

import argparse
import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError

import psutil
from websockets.exceptions import WebSocketException

from tests.app.worker.hostile_requests import hostile_content
from tests.bench.attacks import ATTACKS, MEGABYTE, PARALLEL, Attack, picture
from tests.bench.classroom import Session
from tests.bench.measure import Times, at_once
from tests.bench.memory import descendants, memory
from tests.browser.server import Server, serve

CALM = "nobody attacks"
WARM_UP = 2.0  # seconds of typing before memory is measured
QUIET, QUIET_SECONDS = 0.2, 20.0  # processors that a server uses at rest, and the longest wait for that
FIRST_QUESTIONS = range(10**6, 10**6 + 120)  # seeds that no attack uses; two of each route
FILES = 4_096  # open files of an attacker


@dataclass
class Run:
    """One run of a class: its sessions, and the memory of the server before and after in bytes."""

    sessions: list[Session]
    before: int = 0
    at_end: int = 0
    after: Future[int] = field(default_factory=Future)

    def letters(self) -> list[float]:
        """The seconds of each letter."""
        return [key for session in self.sessions for key in session.keys]

    def wrong(self) -> list[str]:
        """The errors that visitors saw."""
        return [sentence for session in self.sessions for sentence in session.wrong]


def lines(seconds: float, visitors: int, turns: int, settle: float, names: Sequence[str]) -> Iterator[str]:
    """The table: times of letters during each attack, compared with those of alternating runs without one."""
    yield (
        f"| {visitors} type during | letters | a letter, median / p95 | without, median / p95 | ratio | errors "
        "| memory before -> at its end -> later | ratio |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    with ThreadPoolExecutor(len(names) * turns) as settling:
        pending: list[tuple[str, list[Run], list[Run]]] = []
        for name in names:
            calm, attacked = [], []
            for _ in range(turns):
                calm.append(attend(CALM, seconds, visitors, settle, settling))
                attacked.append(attend(name, seconds, visitors, settle, settling))
            pending.append((name, calm, attacked))
            while pending and all(run.after.done() for run in pending[0][2]):
                yield from _row(*pending.pop(0))
        for each in pending:
            yield from _row(*each)


def _row(name: str, calm: Sequence[Run], attacked: Sequence[Run]) -> Iterator[str]:
    letters = [key for run in attacked for key in run.letters()]
    times, without = Times.of(letters), Times.of([key for run in calm for key in run.letters()])
    wrong = [sentence for run in (*calm, *attacked) for sentence in run.wrong()]
    shown = " | ".join(f"{each.middle:.0f} / {each.slow:.0f} ms" for each in (times, without))
    ratio = f"{times.middle / without.middle:.2f} / {times.slow / without.slow:.2f}"
    worst = max(attacked, key=lambda run: run.after.result() / run.before)
    taken = " -> ".join(f"{size // MEGABYTE:,}" for size in (worst.before, worst.at_end, worst.after.result()))
    kept = f"{taken} MB | {worst.after.result() / worst.before:.2f}"
    yield f"| {name} | {len(letters)} | {shown} | {ratio} | {len(wrong)} | {kept} |"
    if wrong:
        yield f"\n{wrong[0]}\n"


def attend(name: str, seconds: float, visitors: int, settle: float, settling: ThreadPoolExecutor) -> Run:
    """Have visitors type on a new shared server, with an attacker in a separate process.

    After an attack, `settling` measures the memory of the server when it has had `settle` seconds.
    """
    with ExitStack() as stack:
        server = stack.enter_context(serve(Path(stack.enter_context(TemporaryDirectory())), "--shared"))
        warm_up(server, visitors)
        run = Run([Session(server, number, seconds) for number in range(visitors)], total_memory(server))
        with attacking(name, server):
            at_once([session.live for session in run.sessions])
        if name != CALM:
            run.at_end = total_memory(server)
            run.after = settling.submit(_settled, server, settle, stack.pop_all())
            wait_until_quiet(server)
    return run


def warm_up(server: Server, visitors: int) -> None:
    """Type, and ask questions of every kind, so that workers have started, and opened and imported what they need."""
    at_once([Session(server, number, WARM_UP).live for number in range(visitors)])
    headers = server.new_visitor()
    server.post("image", picture(), headers | {"Content-Type": "image/png"})
    for seed in FIRST_QUESTIONS:
        route, content = hostile_content(seed)
        server.post(route, content, headers)


def total_memory(server: Server) -> int:
    """The memory of the server and its workers in bytes; what they share counts once."""
    total = 0
    for pid in (server.pid, *descendants(server.pid)):
        try:
            total += memory(pid).pss
        except psutil.NoSuchProcess:  # it has just ended
            continue
    return total


def wait_until_quiet(server: Server) -> None:
    """Wait until the server has answered what the attack left, so that it does not slow down the next run."""
    until = time.monotonic() + QUIET_SECONDS
    while time.monotonic() < until and _processors(server) > QUIET:
        continue


def _processors(server: Server) -> float:
    """How many processors the server and its workers use, measured for a second."""
    used = []
    for _ in range(2):
        processes = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
        used.append(sum(sum(each.cpu_times()[:2]) for each in processes if each.is_running()))
        time.sleep(1 - len(used) // 2)
    return used[1] - used[0]


def _settled(server: Server, seconds: float, stack: ExitStack) -> int:
    """The memory of a server after some seconds; then the server ends."""
    with stack:
        time.sleep(seconds)
        return total_memory(server)


@contextmanager
def attacking(name: str, server: Server) -> Iterator[None]:
    """Attack from a process of its own until the block ends; CALM attacks nobody."""
    if name == CALM:
        yield
        return
    context = get_context("spawn")
    ready = context.Event()
    process = context.Process(target=attack, args=(name, server, ready), daemon=True)
    process.start()
    ready.wait()  # its imports take seconds of processor time, and are not part of the attack
    try:
        yield
    finally:
        process.kill()
        process.join()


def attack(name: str, server: Server, ready: Event) -> None:
    """Attack from PARALLEL threads until the process is killed; at low priority, as if from another machine."""
    os.nice(19)
    logging.disable()  # the client tells each connection that the server ends
    _raise_file_limit()
    numbers = count()
    ready.set()
    for _ in range(PARALLEL):
        threading.Thread(target=_repeat, args=(ATTACKS[name], server, numbers)).start()


def _raise_file_limit() -> None:
    import resource  # on Unix alone

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, FILES) if hard != resource.RLIM_INFINITY else FILES, hard))


def _repeat(step: Attack, server: Server, numbers: Iterator[int]) -> None:
    while True:
        try:
            step(server, next(numbers))
        except (OSError, URLError, HTTPException, WebSocketException, EOFError, ValueError, AttributeError):
            time.sleep(0.1)  # refused as intended: no answer, a sentence, or a page without a cookie


def main(arguments: Sequence[str]) -> None:
    """`python -m tests.bench attack [--seconds N] [--visitors N] [--turns N] [--settle N] [ATTACK ...]`."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench attack", description=__doc__)
    parser.add_argument("attacks", nargs="*", choices=[[], *ATTACKS], help="the attacks to run (default: all)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each turn")
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--turns", type=int, default=2, help="runs with each attack, and as many without")
    parser.add_argument("--settle", type=float, default=60.0, help="seconds from an attack to the memory after it")
    options = parser.parse_args(arguments)
    names = options.attacks or list(ATTACKS)
    for line in lines(options.seconds, options.visitors, options.turns, options.settle, names):
        print(line, flush=True)
