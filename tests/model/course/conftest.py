"""A small decoder and a small encoder, opened as a screen is given them."""

import pytest

from headlight.checkpoints.load import Checkpoint
from tests.model import toys


@pytest.fixture
def decoder() -> Checkpoint:
    return Checkpoint(toys.decoder(), toys.causal(), "")


@pytest.fixture
def encoder() -> Checkpoint:
    return Checkpoint(toys.encoder(), toys.masked(), "")
