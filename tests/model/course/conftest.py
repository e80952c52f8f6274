"""A small decoder and a small encoder, opened as for a screen."""

import pytest

from headlight.checkpoints.load import Checkpoint
from headlight.course import timing
from tests.model import toys


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure times only once in tests that are not about them."""
    monkeypatch.setattr(timing, "ROUNDS", 1)


@pytest.fixture
def decoder() -> Checkpoint:
    return Checkpoint(toys.decoder(), toys.causal(), "")


@pytest.fixture
def encoder() -> Checkpoint:
    return Checkpoint(toys.encoder(), toys.masked(), "")
