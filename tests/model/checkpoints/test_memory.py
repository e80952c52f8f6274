"""The memory limit of a program."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from headlight.checkpoints.load import free_memory

ROOT = Path(__file__).parents[3]
LIMITED = """
import resource
from headlight.checkpoints.load import free_memory
resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
before, kept = free_memory(), bytearray(1 << 29)
print(before, free_memory())
"""


def test_a_program_without_a_limit_may_take_what_is_free() -> None:
    assert free_memory() == pytest.approx(psutil.virtual_memory().available, rel=0.2)


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="other systems set no such limit")
def test_a_program_with_a_limit_may_take_what_is_left_of_it() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], cwd=ROOT, capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert 1 << 30 < before < 2 << 30
    assert before - after == pytest.approx(1 << 29, rel=0.05)
