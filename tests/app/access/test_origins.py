"""Which pages may send requests: the server's own, and those at a name that the operator gave."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight_app.access.origins import Authority, Hosts, known_hosts, parse_authority, parse_origin
from tests.sampling import examples

NAMES = st.sampled_from([
    "localhost", "lab.example", "LAB.Example", "lab.example.", "xlab.example", "lab.example.evil.example",
    "evil.example", "127.0.0.1", "10.0.0.7", "[::1]", "[0:0:0:0:0:0:0:1]",
    "[fe80::7]", "[", "a]b", "", "*", "a b", "lab.example\n",
])  # fmt: skip
PORTS = st.sampled_from(["", ":", ":80", ":443", ":8501", ":9102", ":0", ":65536", ":8501x", ":٨٠"])
PLACES = st.builds(
    lambda before, name, port: before + name + port, st.sampled_from(["", "me@", "a:b@", " "]), NAMES, PORTS
)
ORIGINS = st.one_of(
    st.sampled_from(["null", "", "file://", "http://", "http://[::1"]),
    st.builds(
        lambda scheme, place, rest: scheme + place + rest,
        st.sampled_from(["http://", "https://", "ftp://", "//", "HTTP://", "chrome-extension://"]),
        PLACES,
        st.sampled_from(["", "/", "/x", "?x", "#x", "\\x", ","]),
    ),
)
NOBODY = known_hosts("127.0.0.1", [])
LAB = known_hosts("127.0.0.1", ["lab.example"])


def url_host(text: str) -> tuple[str, int | None]:
    """Host and port as Python's own parser reads them; the port of the scheme if none is given."""
    parts = urlsplit(text)
    return (parts.hostname or "").rstrip("."), parts.port or {"http": 80, "https": 443}.get(parts.scheme)


@examples(500)
@given(origin=ORIGINS, host=PLACES)
def test_without_an_allowed_name_only_the_page_of_the_same_host_and_port_is_accepted(origin: str, host: str) -> None:
    if NOBODY.accepts(origin, host):
        scheme = origin.partition(":")[0]
        own, other = url_host(origin), url_host(f"{scheme}://{host}")
        assert (own[1] == other[1] and parse_authority(own[0]) == parse_authority(other[0])) or own == other
        assert "@" not in origin + host and scheme in ("http", "https") and origin.isprintable()


@examples(500)
@given(origin=ORIGINS, host=PLACES)
def test_an_allowed_name_adds_the_pages_of_that_name_alone(origin: str, host: str) -> None:
    if LAB.accepts(origin, host) and not NOBODY.accepts(origin, host):
        name, _ = url_host(origin)
        assert name == "lab.example" and origin.lower().startswith(("http://lab.example", "https://lab.example"))
        assert url_host(f"http://{host}")[0] != name, "at its own name, the port counts as before"


@pytest.mark.parametrize("port", ["", ":1", ":80", ":9102", ":65535"])
@pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1:8501", "[::1]:8501", "inner"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_behind_a_proxy_that_replaces_host_an_allowed_name_is_accepted(scheme: str, port: str, host: str) -> None:
    for name in ("lab.example", "LAB.example", "lab.example."):
        assert LAB.accepts(f"{scheme}://{name}{port}", host)
        assert not NOBODY.accepts(f"{scheme}://{name}{port}", host)


def test_an_allowed_port_stands_for_itself_alone() -> None:
    hosts = known_hosts("127.0.0.1", ["lab.example:443", "[::1]:9000", "10.0.0.7:9102"])
    for origin in ("https://lab.example", "http://lab.example:443", "http://[0::1]:9000", "http://10.0.0.7:9102"):
        assert hosts.accepts(origin, "localhost:8501"), origin
    for origin in ("http://lab.example", "https://lab.example:9102", "http://[::1]:9001", "http://10.0.0.7"):
        assert not hosts.accepts(origin, "localhost:8501"), origin


def test_another_port_of_the_same_name_is_accepted_only_if_it_is_named() -> None:
    assert not LAB.accepts("http://lab.example:9999", "lab.example:8501")
    named = known_hosts("127.0.0.1", ["lab.example", "lab.example:9999"])
    assert named.accepts("http://lab.example:9999", "lab.example:8501")
    assert not known_hosts("localhost", []).accepts("http://localhost:9999", "localhost:8501")
    assert not known_hosts("localhost", []).accepts("http://localhost:9999", "127.0.0.1:8501")


def test_a_default_port_may_be_written() -> None:
    for origin, host in [("https://lab.example", "lab.example:443"), ("http://lab.example:80", "lab.example")]:
        assert NOBODY.accepts(origin, host)
    assert not NOBODY.accepts("https://lab.example", "lab.example:80")


@pytest.mark.parametrize(
    "text", ["", ":80", "a b", "a@b", "[::1", "::1", "[127.0.0.1]", "a:b", "a:0", "a:99999", "a/b", "*"]
)
def test_what_is_no_host_is_none(text: str) -> None:
    assert parse_authority(text) is None
    assert parse_origin(f"http://{text}") is None


def test_hosts_are_written_as_they_are_read() -> None:
    for text in ("lab.example", "lab.example:9102", "[::1]:9000", "10.0.0.7"):
        assert str(parse_authority(text)) == text
    assert parse_authority("LAB.example.:9102") == Authority("lab.example", 9102)


def test_names_of_the_machine_are_known_as_host_but_not_as_origin() -> None:
    hosts = Hosts(frozenset({"localhost"}))
    assert hosts.knows("localhost:1") and hosts.knows("10.0.0.7") and not hosts.knows("lab.example")
    assert not hosts.accepts("http://localhost:1", "10.0.0.7:1")
