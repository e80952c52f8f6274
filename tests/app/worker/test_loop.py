"""The loop of a worker process."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# Arrays that caches have dropped, between small ones that they keep.
HOLES = """
import numpy as np
import psutil

from headlight_app.worker.loop import give_back_memory

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


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc has a call for it")
def test_memory_that_nothing_uses_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.5
