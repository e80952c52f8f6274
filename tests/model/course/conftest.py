"""A small decoder and a small encoder, opened as a screen is given them."""

import pytest

from headlight.checkpoints.load import Checkpoint
from headlight.course import timing
from tests.model import toys


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are measured once, where a test is not about them."""
    monkeypatch.setattr(timing, "ROUNDS", 1)


@pytest.fixture
def decoder() -> Checkpoint:
    return Checkpoint(toys.decoder(), toys.causal(), "")


@pytest.fixture
def encoder() -> Checkpoint:
    return Checkpoint(toys.encoder(), toys.masked(), "")
