"""The memory of each process, and whether workers share the weights of a model that all have opened.

A folder shaped like GPT-2 small is open in every worker that answers letters. RSS counts shared pages in full for each
process, PSS divides them among the processes, so the sum of PSS is the actual use. `python -m tests.bench memory`
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.app.asking import body, unpack
from tests.bench import load
from tests.browser.server import Server, serve

WORKERS = (1, 3)
MODEL, WEIGHTS = "gpt2", "model.safetensors"
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Memory:
    """Bytes of a process, or of a file that it has mapped."""

    rss: int = 0
    pss: int = 0

    def __add__(self, other: Memory) -> Memory:
        return Memory(self.rss + other.rss, self.pss + other.pss)

    def __str__(self) -> str:
        return f"{self.rss // MEGABYTE:,} | {self.pss // MEGABYTE:,}"


def lines() -> Iterator[str]:
    """A row for each process, with few workers and with many."""
    yield "| --workers | process | RSS MB | PSS MB | of which weights, RSS MB | PSS MB |"
    yield "|---:|---|---:|---:|---:|---:|"
    with TemporaryDirectory() as place:
        folder = load.make(Path(place) / "models" / MODEL)
        for workers in WORKERS:
            with serve(Path(place), "--models", str(folder.parent), "--workers", str(workers)) as server:
                open_in_all(server, workers)
                yield from _rows(server, workers)


def open_in_all(server: Server, workers: int) -> None:
    """Send one request per worker at once, until each worker has the weights."""
    while True:
        with ThreadPoolExecutor(workers) as visitors:
            list(visitors.map(lambda number: ask(server, number), range(workers)))
        if all(mapped(pid).rss for pid in descendants(server.pid)):
            return


def ask(server: Server, number: int) -> None:
    """Send a new visitor's request about a long text, and check that it is answered."""
    content = json.dumps(body("trace", model=MODEL, text=f"{number} " + "the cat sat on the mat " * 20))
    meta, _ = unpack(server.post("trace", content, server.new_visitor()))
    assert "tokens" in meta, meta


def _rows(server: Server, workers: int) -> Iterator[str]:
    names = {server.pid: "serves people"} | {
        pid: f"worker {number}" for number, pid in enumerate(descendants(server.pid), start=1)
    }
    taken, weights = Memory(), Memory()
    for pid, name in names.items():
        taken, weights = taken + memory(pid), weights + mapped(pid)
        yield f"| {workers} | {name} | {memory(pid)} | {mapped(pid)} |"
    yield f"| {workers} | together | {taken} | {weights} |"


def descendants(pid: int) -> Iterator[int]:
    """The child processes of a process, recursively."""
    return (child.pid for child in psutil.Process(pid).children(recursive=True))


def memory(pid: int) -> Memory:
    """The memory of a process."""
    taken = psutil.Process(pid).memory_full_info()
    return Memory(taken.rss, taken.pss)


def mapped(pid: int) -> Memory:
    """The memory of a process that is mapped from the file of weights."""
    files = psutil.Process(pid).memory_maps()
    return sum((Memory(file.rss, file.pss) for file in files if file.path.endswith(WEIGHTS)), Memory())
