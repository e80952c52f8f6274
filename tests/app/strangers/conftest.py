"""One shared server for all strangers, on IPv4 and on IPv6 where this machine has it."""

import shutil
import socket
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.app.strangers.visitor import Stranger
from tests.browser.server import Server, serve

SECRET = "aardvark"  # in the names of folders that the server must not open


def has_ipv6() -> bool:
    """Whether this machine has an IPv6 loopback address."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="session")
def disk(toys: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the folders `offered`, whose models the server offers, and `temporary`, where it stores uploads.

    Beside them is a model that it must not open.
    """
    folder = tmp_path_factory.mktemp("disk")
    shutil.copytree(toys / "next", folder / "offered" / "next")
    shutil.copytree(toys / "next", folder / SECRET)
    (folder / SECRET / "README.md").write_text("wombat")
    (folder / "temporary").mkdir()
    return folder


@pytest.fixture(scope="session")
def server(disk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(disk / "temporary"))
        host = "::" if has_ipv6() else "0.0.0.0"
        with serve(tmp_path_factory.mktemp("home"), "--host", host, "--models", str(disk / "offered")) as running:
            yield running


class Newcomer:
    """Makes visitors, each at a network address of their own unless one is named."""

    def __init__(self, server: Server) -> None:
        self.server, self.places = server, count(20)

    def nobody(self, address: str = "") -> Stranger:
        """A client without a cookie."""
        return Stranger(self.server, address or f"127.0.0.{next(self.places)}")

    def __call__(self, address: str = "") -> Stranger:
        """A visitor who has just fetched the page."""
        return self.nobody(address).arrive()


@pytest.fixture(scope="session")
def newcomer(server: Server) -> Newcomer:
    """Makes visitors of the server."""
    return Newcomer(server)
