"""The server answers only requests to its own names; only its own page may change state."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from headlight_app.access.origins import Hosts, known_hosts
from headlight_app.contract.reply import Refusal, decode_reply
from headlight_app.server.hosts import HostCheck


def client_of(hosts: Hosts) -> TestClient:
    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse("answered")

    async def converse(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(f"answered as {websocket.headers['host']}")
        await websocket.close()

    async def tell_scheme(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.url.scheme)

    routes = [
        Route("/", answer, methods=["GET", "POST"]),
        Route("/scheme", tell_scheme),
        WebSocketRoute("/stream", converse),
    ]
    app: Any = HostCheck(Starlette(routes=routes), hosts)
    return TestClient(app)


@pytest.fixture
def visitor() -> TestClient:
    return client_of(known_hosts("0.0.0.0", ["lab.example"]))


@pytest.mark.parametrize(
    "host",
    ["localhost:8501", "127.0.0.1:8501", "[::1]:8501", "192.168.1.7:8501", "lab.example", "LAB.example.", "[fe80::1]"],
)
def test_its_own_names_and_addresses_are_answered(visitor: TestClient, host: str) -> None:
    assert visitor.get("/", headers={"host": host}).text == "answered"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "[", "a]b"])
def test_another_name_is_refused(visitor: TestClient, host: str) -> None:
    answer = visitor.get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "--allow-host" in answer.text


def test_a_page_of_another_site_cannot_ask(visitor: TestClient) -> None:
    own = {"host": "localhost:8501", "origin": "http://localhost:8501"}
    assert visitor.post("/", headers=own).text == "answered"
    assert visitor.post("/", headers={"host": "localhost:8501"}).text == "answered", "no browser sent it, but e.g. curl"
    for origin in ("http://evil.example", "http://localhost:9999", "null", "http://[::1"):
        assert visitor.post("/", headers=own | {"origin": origin}).status_code == 403


def test_a_websocket_is_checked_alike(visitor: TestClient) -> None:
    own = {"host": "localhost:8501", "origin": "http://localhost:8501"}
    with visitor.websocket_connect("/stream", headers=own) as stream:
        assert stream.receive_text() == "answered as localhost:8501"
    for headers in (own | {"origin": "http://evil.example"}, {"host": "evil.example"}):
        with pytest.raises(WebSocketDisconnect), visitor.websocket_connect("/stream", headers=headers):
            pass


def test_a_proxy_may_replace_host_if_the_operator_names_the_page(visitor: TestClient) -> None:
    headers = {"host": "localhost:8501", "origin": "http://lab.example:9102"}
    assert visitor.post("/", headers=headers).text == "answered"
    with visitor.websocket_connect("/stream", headers=headers) as stream:
        assert stream.receive_text() == "answered as lab.example:9102", "Streamlit compares Origin and Host, too"


def test_a_refused_page_and_the_log_are_told_what_to_set(visitor: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    def refused(host: str, origin: str, path: str = "/") -> bytes:
        answer = visitor.post(path, headers={"host": host, "origin": origin})
        assert answer.status_code == 403
        return answer.content

    for _ in range(2):
        assert b"address tunnel.example:9102." in refused("localhost:8501", "https://tunnel.example:9102")
    assert b"--allow-host localhost:9102." in refused("localhost:8501", "http://localhost:9102")
    told = "--allow-host tunnel.example."
    assert [told in line for line in caplog.messages] == [True, False]
    packed = refused("localhost:8501", "https://tunnel.example:9102", "/api/trace")
    assert told in decode_reply(Refusal, packed).answer.error
    for origin in ("null", "http://a\x7f.example", "http://<b>", "http://me@lab.example"):
        assert refused("localhost:8501", origin) == b"This server answers its own page only."
    for number in range(50):
        refused("localhost:8501", f"http://evil{number}.example")
    assert len(caplog.messages) == 20


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("lab.example:80", "https://lab.example"),
        ("lab.example:8501", "http://lab.example"),
        ("lab.example", "https://lab.example:8443"),
        ("localhost:8501", "http://localhost:9102"),
        ("localhost:8501", "https://tunnel.example:9102"),
        ("tunnel.example", "https://tunnel.example"),
    ],
)
def test_the_option_that_a_refusal_names_helps(visitor: TestClient, host: str, origin: str) -> None:
    asked = {"host": host, "origin": origin}
    option = visitor.post("/", headers=asked).text.rpartition("--allow-host ")[2].removesuffix(".")
    helped = client_of(known_hosts("0.0.0.0", ["lab.example", option]))
    assert helped.post("/", headers=asked).text == "answered"


FORWARDED = [
    {"x-forwarded-host": "lab.example:9102"},
    {"forwarded": 'for=10.0.0.7;Host="lab.example:9102";proto=https'},
]


@pytest.mark.parametrize("forwarded", FORWARDED)
def test_forwarded_headers_count_only_if_the_operator_trusts_them(forwarded: dict[str, str]) -> None:
    asked = {"host": "localhost:8501", "origin": "http://lab.example:9102"} | forwarded
    for trusted, hosts in ((True, ["lab.example"]), (False, ["lab.example"]), (True, [])):
        client = client_of(known_hosts("127.0.0.1", hosts, trusts_forwarded=trusted))
        known = bool(hosts)
        assert client.post("/", headers=asked).is_success == known, "the name must be allowed in any case"
        other_port = asked | {"origin": "http://lab.example:9999"}
        assert client.post("/", headers=other_port).is_success == (known and not trusted), "then the port is known"
        assert client.post("/", headers=asked | {"origin": "http://evil.example"}).status_code == 403
        assert client.get("/", headers=asked | {"host": "evil.example"}).status_code == 403, "DNS rebinding"
        scheme = "https" if trusted and "proto" in str(asked) else "http"
        assert not known or client.get("/scheme", headers=asked).text == scheme
