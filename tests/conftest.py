"""What every test stands on. The import hook comes first: it must be there before `headlight` is imported."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import jaxtyping
import pytest
import torch
from hypothesis import HealthCheck, settings

from tests.shapes import jaxtyped_once

if TYPE_CHECKING:
    from tests.shell import Shell

# From here on a signature such as Float[Tensor, "head query key"] is a check on every call.
jaxtyping.jaxtyped = jaxtyped_once  # type: ignore[assignment]
jaxtyping.install_import_hook("headlight", "beartype.beartype")

# No test asks the Hugging Face Hub for anything.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

# Workers of pytest-xdist share the cores, and threads that wait for each other make tiny models slow.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # in the processes that tests start

# Nothing is judged by the clock: the first forward of a process is slow, a busy machine slower, and neither means much.
settings.register_profile(
    "local", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


# What is imported and collected stays: a quarter of that time went into looking for garbage in it.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on garbage is looked for, but only in what the tests make."""
    gc.freeze()
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than processors: a test of the page waits for pauses as long as it computes."""
    return (os.cpu_count() or 1) + 1


@contextmanager
def _without_shape_checks() -> Iterator[None]:
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="module")
def unchecked_shapes() -> Iterator[None]:
    """For files that measure models by thousands of forwards; the tests of the parts check every call."""
    with _without_shape_checks():
        yield


@pytest.fixture
def unchecked_shapes_in_test() -> Iterator[None]:
    """The same for single tests of a file."""
    with _without_shape_checks():
        yield


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs `headlight` and gives what it prints."""
    from tests.shell import Shell  # after the import hook

    return Shell(capsys)
