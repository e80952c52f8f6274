"""Headers have a size and a time before a request is known; attacked over the wire."""

from contextlib import closing

import pytest

from headlight_app.server.connections import http_protocol as subject
from headlight_app.server.connections.http_protocol import MAX_HEADERS
from tests.app.server.connections.site import GET, Site, read


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"], ids=["unfinished", "complete"])
@pytest.mark.parametrize("head", [GET + b"Cookie: ", b"GET /?"], ids=["cookie", "address"])
def test_headers_end_where_no_browser_needs_more(site: Site, head: bytes, end: bytes) -> None:
    assert b"431" in site.asks(head + b"a=1;" * (MAX_HEADERS // 4), end)
    with closing(
        site.line(GET + b"Cookie: a=" + b"1" * (MAX_HEADERS - 500) + b"\r\nConnection: close\r\n\r\n")
    ) as line:
        assert read(line).endswith(b"answered")


def test_headers_without_end_are_refused_however_small_their_parts(site: Site) -> None:
    with closing(site.line(GET)) as line, pytest.raises(ConnectionError):
        for _ in range(100_000):
            line.sendall(b"X-More: " + b"y" * 1_000 + b"\r\n")


CHUNKED = b"POST /slow HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "begun",
    [CHUNKED + b"1\r\nx\r\n0\r\n", CHUNKED + b"1;", GET.replace(b"/ ", b"/slow ") + b"\r\n" + GET],
    ids=["after a body", "of a chunk", "behind a request"],
)
@pytest.mark.parametrize("part", [b"X: " + b"y" * 1_000 + b"\r\n", b"X" * 1_000], ids=["many", "one"])
def test_headers_have_an_end_where_the_request_before_them_has_none(site: Site, begun: bytes, part: bytes) -> None:
    with closing(site.line(begun)) as line, pytest.raises(ConnectionError):
        for _ in range(100_000):
            line.sendall(part)


@pytest.mark.parametrize("sent", [b"", GET, GET + b"\r\n"], ids=["nothing", "half a request", "no second request"])
def test_who_sends_no_request_is_not_waited_for(site: Site, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "HEADER_SECONDS", 0.1)
    site.server.config.timeout_keep_alive = 0
    answer = site.asks(sent)  # returns once the server has closed the connection
    assert answer.startswith({b"": b"", GET: b"HTTP/1.1 408"}.get(sent, b"HTTP/1.1 200"))


def test_a_second_request_whose_headers_do_not_end_is_not_waited_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "HEADER_SECONDS", 0.1)
    with closing(site.line(GET + b"\r\n")) as line:
        assert line.recv(1 << 16)
        line.sendall(GET)
        assert b"408" in read(line)
