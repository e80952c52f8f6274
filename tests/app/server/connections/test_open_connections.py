"""Connections have a number, and end if their client asks nothing or does not read; attacked over the wire."""

import logging
import socket
import sys
import time
from contextlib import ExitStack, closing

import pytest

from headlight_app.server.connections import open_connections as subject
from headlight_app.server.connections.http_protocol import MAX_HEADERS
from headlight_app.server.log_rate import LINES, log_limit
from tests.app.server.connections.conftest import LIMIT
from tests.app.server.connections.site import GET, LARGE, PATIENCE, Site, figures, read, wait_until


@pytest.mark.usefixtures("few")
def test_connections_that_send_nothing_give_way_to_those_that_ask(site: Site) -> None:
    with ExitStack() as lines:
        idle = [lines.enter_context(closing(site.line())) for _ in range(5 * LIMIT)]
        assert site.asks(GET + b"Connection: close\r\n\r\n").endswith(b"answered")
        assert read(idle[0]) == b""  # the oldest was closed


@pytest.mark.usefixtures("few")
def test_a_connection_with_a_request_is_kept_and_who_finds_no_room_gets_a_sentence(site: Site) -> None:
    slow = GET.replace(b"/ ", b"/slow ") + b"Connection: close\r\n\r\n"
    with ExitStack() as lines:
        asking = []
        for _ in range(LIMIT // 2):  # as many as one address may have
            asking.append(lines.enter_context(closing(site.line(slow))))
            assert site.asked.acquire(timeout=PATIENCE)
        assert b"no free connection" in site.asks(GET)
        site.let_go.set()
        assert all(read(line).endswith(b"answered late") for line in asking)


@pytest.mark.usefixtures("few")
def test_the_operator_sees_connections_that_ask_nothing_and_those_that_were_ended(site: Site) -> None:
    before = figures()
    with ExitStack() as lines:
        idle = [lines.enter_context(closing(site.line())) for _ in range(5 * LIMIT)]
        assert b"431" in site.asks(GET + b"Cookie: " + b"a=1;" * MAX_HEADERS)
        assert read(idle[0]) == b""
        seen = figures()
    assert 0 < seen["headlight_waiting_connections"] <= seen["headlight_connections"] <= LIMIT
    assert seen["gave way"] - before["gave way"] >= 4 * LIMIT and seen["431"] - before["431"] == 1
    line = log_limit(), logging.LogRecord("of strangers", logging.WARNING, "", 0, "A line.", (), None)
    for _ in range(LINES + 7):
        line[0].filter(line[1])
    assert figures()["headlight_unlogged_total"] - seen["headlight_unlogged_total"] == 7


@pytest.mark.parametrize("requests", [1, 3])
def test_who_does_not_read_an_answer_is_not_waited_for(
    site: Site, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "UNREAD_SECONDS", 2.0)
    before = figures()
    with closing(site.line(GET.replace(b"/ ", b"/large ") + b"\r\n")) as line:
        for _ in range(10):  # one who reads slowly is
            time.sleep(0.1)
            line.recv(1 << 20, socket.MSG_WAITALL)
        line.sendall((GET.replace(b"/ ", b"/large ") + b"\r\n") * (requests - 1))
        wait_until(lambda: figures()["not read"] - before["not read"] == 1)
        assert len(read(line)) < LARGE


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what it has taken and not delivered")
def test_who_reads_slowly_is_waited_for(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "UNREAD_SECONDS", 0.5)
    before = figures()
    with closing(socket.socket()) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 10)
        line.connect(("127.0.0.1", site.port))
        line.sendall(GET.replace(b"/ ", b"/large ") + b"\r\n")
        for _ in range(30):
            time.sleep(0.1)
            assert len(line.recv(32 << 10, socket.MSG_WAITALL)) == 32 << 10
    assert figures()["not read"] == before["not read"]
