"""Settings for all tests. The import hook comes first: it must be installed before `headlight` is imported."""

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

from tests.sampling import SHORT_EXAMPLES
from tests.shapes import jaxtyped_once

if TYPE_CHECKING:
    from tests.shell import Shell

# From here on, signatures such as Float[Tensor, "head query key"] are checked on every call.
jaxtyping.jaxtyped = jaxtyped_once  # type: ignore[assignment]
jaxtyping.install_import_hook("headlight", "beartype.beartype")

# No test accesses the Hugging Face Hub.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

# Workers of pytest-xdist share the cores, and thread synchronization slows tiny models down.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # for processes started by tests

# No time limits: the first forward pass of a process is slow, and a busy machine is slower.
settings.register_profile(
    "local", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples in `make test`; this comes before the modules of tests are read."""
    if "not full" in config.option.markexpr:
        settings.register_profile("short", settings.default, max_examples=SHORT_EXAMPLES)
        settings.load_profile("short")


# Imports and test collection leave no garbage, but searching for it took a quarter of their time.
gc.disable()


def pytest_collection_finish() -> None:
    """Enable garbage collection, but only for objects that the tests create."""
    gc.freeze()
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than processors: page tests wait about as long as they compute."""
    return (os.cpu_count() or 1) + 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the tests that `--reruns` has tried again; without that option, and by default, there are none."""
    terminalreporter.write_line(f"second tries: {len(terminalreporter.stats.get('rerun', []))}")


@contextmanager
def _without_shape_checks() -> Iterator[None]:
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="module")
def unchecked_shapes() -> Iterator[None]:
    """No shape checks, for files with thousands of forward passes; the tests of the parts check every call."""
    with _without_shape_checks():
        yield


@pytest.fixture
def unchecked_shapes_in_test() -> Iterator[None]:
    """`unchecked_shapes` for single tests."""
    with _without_shape_checks():
        yield


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs `headlight` and returns its output."""
    from tests.shell import Shell  # after the import hook

    return Shell(capsys)
