"""The packages of the checks of the page's modules."""

import os

import pytest

from tests.javascript import node


@pytest.fixture(scope="session", autouse=True)
def packages() -> None:
    """Skips the tests without the packages, or fails them in CI."""
    if not node.installed():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("Install the checks: python -m tests.javascript.node")
