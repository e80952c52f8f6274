"""Shapes are checked by the tests of the parts; here thousands of small models run, and do so much quicker without."""

from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture(autouse=True, scope="package")
def unchecked_shapes() -> Iterator[None]:
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
