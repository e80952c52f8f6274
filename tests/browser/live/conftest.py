"""A live page and its model, once for all tests of a worker."""

import subprocess
import sys
from pathlib import Path

import pytest

from headlight import Checkpoint, find_checkpoint, load

MODEL = "stories-causal"


@pytest.fixture(scope="session")
def checkpoint() -> Checkpoint:
    return load(find_checkpoint(MODEL), name=MODEL, device="cpu")


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of stories-causal, as the command writes it."""
    path = tmp_path_factory.mktemp("live") / "page.html"
    command = [sys.executable, "-P", "-m", "headlight_app.command", "live", MODEL, "--out", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{path} is written: {path.stat().st_size / 1e6:.1f} MB. Open it in a browser.\n"
    return path
