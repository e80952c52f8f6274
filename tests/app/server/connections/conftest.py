"""A running server, and one with room for few connections."""

from collections.abc import Iterator

import pytest

from headlight_app.server.connections import http_protocol
from tests.app.server.connections.site import GET, PATIENCE, Site

LIMIT = 6  # connections


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    site.thread.start()
    try:
        assert b"answered" in site.asks(GET + b"Connection: close\r\n\r\n")
        yield site
    finally:
        site.let_go.set()
        site.server.should_exit = True
        site.thread.join(PATIENCE)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with room for LIMIT connections."""
    monkeypatch.setattr(http_protocol, "connection_limit", lambda: LIMIT)
