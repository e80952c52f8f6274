"""The loop of a worker process."""

import subprocess
import sys
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path

import pytest
import torch

from headlight_app.contract.reply import Reply
from headlight_app.engine.contract import Done, WarmUpRequest
from headlight_app.engine.job import EngineRequest
from headlight_app.engine.worker_process import SENTENCE
from headlight_app.worker import loop
from headlight_app.worker.first_table import FIRST_ANSWERS
from headlight_app.worker.serve import DEVICE_FULL, outcome

ROOT = Path(__file__).parents[3]
# Freed cache arrays between small ones that are kept.
HOLES = """
import numpy as np
import psutil

from headlight_app.engine.memory import give_back_memory

SIZE, COUNT = 100_000, 1_000


def taken():
    return psutil.Process().memory_info().rss


if __name__ == "__main__":
    kept, dropped = [], []
    for _ in range(COUNT):
        dropped.append(np.ones(SIZE, dtype=np.uint8))
        kept.append(np.ones(2_000, dtype=np.uint8))
    dropped.clear()
    before = taken()
    give_back_memory()
    print((before - taken()) / (SIZE * COUNT))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs glibc's malloc_trim")
def test_memory_that_nothing_uses_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.5


def test_a_worker_gives_memory_back_once_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "REST_SECONDS", 0.01)
    inbox, rests = loop.Inbox(Pipe()[0]), []
    asked = [(b"1", EngineRequest(WarmUpRequest.route, b"{}"))]

    def rest() -> None:
        rests.append(1)
        inbox.requests.put(asked)

    inbox.requests.put([])
    assert loop.next_requests(inbox, [], rest) == [] and not rests
    assert loop.next_requests(inbox, [], rest) == asked and len(rests) == 1


def test_a_worker_works_ahead_only_while_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "IDLE_SECONDS", 0.01)
    inbox = loop.Inbox(Pipe()[0])
    asked = [(b"1", EngineRequest(WarmUpRequest.route, b"{}"))]
    ahead: list[Callable[[], object]] = [lambda: inbox.requests.put(asked)]
    inbox.requests.put([])
    assert loop.next_requests(inbox, ahead) == [] and ahead
    assert loop.next_requests(inbox, ahead) == asked and not ahead


def test_a_full_gpu_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(request: object) -> Reply[Done]:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB at /secret/place")

    monkeypatch.setitem(FIRST_ANSWERS, WarmUpRequest.route, (WarmUpRequest, fill))
    assert outcome(EngineRequest(WarmUpRequest.route, b"{}")) == (SENTENCE, DEVICE_FULL.encode())
