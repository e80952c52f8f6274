"""What a page sends has a size, a number and a time before it is a message; attacked over the wire."""

import socket
import time
from contextlib import ExitStack, closing, suppress

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from headlight_app.server.connections import websocket_protocol as subject
from headlight_app.server.connections.open_connections import connection_figures
from headlight_app.server.connections.websocket_protocol import MAX_MESSAGE
from tests.app.server.connections.site import GET, Site, figures, read, wait_until

UPGRADE = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
KEY = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"


def page_of(site: Site, *parts: bytes) -> socket.socket:
    """An open WebSocket over which these bytes were sent."""
    line = site.line(GET.replace(b"/ ", b"/ws ") + UPGRADE + KEY)
    assert b"101" in line.recv(1 << 16)
    for part in parts:
        line.sendall(part)
    return line


def begun(size: int) -> bytes:
    """The first `size` bytes of a message that is one byte longer."""
    return b"\x82\xff" + (size + 1).to_bytes(8) + b"\0\0\0\0" + b"x" * size


EMPTY, PING = b"\x00\x80\0\0\0\0", b"\x89\xfd\0\0\0\0" + b"p" * 125


@pytest.mark.parametrize("frames", [b"\x02\x80\0\0\0\0" + EMPTY * 5_000, PING * 5_000], ids=["parts", "pings"])
def test_frames_of_a_page_have_a_number_however_small_they_are(site: Site, frames: bytes) -> None:
    before = figures()
    with closing(page_of(site, frames)) as line:
        read(line)  # returns once the server has closed the connection
    assert figures()["too many frames"] - before["too many frames"] == 1


def test_a_message_of_a_page_has_a_size(site: Site) -> None:
    with connect(f"ws://127.0.0.1:{site.port}/ws", max_size=None) as page:
        page.send(b"x" * (MAX_MESSAGE - 100))
        assert len(page.recv()) == MAX_MESSAGE - 100
        with pytest.raises(ConnectionClosed) as ended:
            page.send(b"x" * (MAX_MESSAGE + 100))
            page.recv()
        assert ended.value.rcvd is not None and ended.value.rcvd.code == 1009


@pytest.mark.parametrize("messages", [0, 2])
def test_a_message_that_does_not_end_is_not_waited_for(
    site: Site, messages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "MESSAGE_SECONDS", 0.2)
    before = figures()
    with closing(page_of(site, *[b"\x82\x81\0\0\0\0x"] * messages, begun(100))) as line:
        read(line)  # returns once the server has closed the connection
    assert figures()["slow message"] - before["slow message"] == 1


def test_a_page_that_sends_whole_messages_is_kept(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MESSAGE_SECONDS", 1.0)
    with connect(f"ws://127.0.0.1:{site.port}/ws") as page:
        for _ in range(5):
            page.send(b"x" * 9_000)
            assert len(page.recv()) == 9_000
            time.sleep(0.3)


@pytest.mark.parametrize("in_parts", [False, True])
def test_unfinished_messages_of_an_address_have_a_size_together(
    site: Site, in_parts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "OWN_UNFINISHED", 1 << 20)
    before = figures()
    frame = b"\xfe\xff\0\0\0\0\0" + b"x" * 0xFF00
    content = [b"\x02" + frame, *[b"\0" + frame] * 6] if in_parts else [begun(MAX_MESSAGE - 1)]
    with ExitStack() as pages:
        for _ in range(8):
            page = pages.enter_context(closing(page_of(site)))
            for part in content:
                with suppress(ConnectionError):  # ended meanwhile
                    page.sendall(part)
        wait_until(lambda: figures()["unfinished messages"] - before["unfinished messages"] >= 4)
        with connect(f"ws://127.0.0.1:{site.port}/ws") as other:  # whole messages have room
            other.send(b"x" * 1_000)
            assert len(other.recv()) == 1_000
    wait_until(lambda: not connection_figures().unfinished)


def test_the_page_with_the_most_of_an_unfinished_message_gives_way(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "OWN_UNFINISHED", 1 << 20)
    before = figures()
    with ExitStack() as pages:
        for _ in range(2):
            pages.enter_context(closing(page_of(site, begun(MAX_MESSAGE - 1))))
        wait_until(lambda: sum(connection_figures().unfinished.values()) >= 2 * MAX_MESSAGE - 2)
        with connect(f"ws://127.0.0.1:{site.port}/ws", compression=None) as page:
            page.send(b"x" * 20_000)
            assert len(page.recv()) == 20_000
    assert figures()["unfinished messages"] - before["unfinished messages"] == 1
