"""The server answers only requests to its own names; only its own page may change state."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from headlight_app.server.hosts import HostCheck, known_names


@pytest.fixture
def visitor() -> TestClient:
    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse("answered")

    async def converse(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text("answered")
        await websocket.close()

    routes = [Route("/", answer, methods=["GET", "POST"]), WebSocketRoute("/stream", converse)]
    app: Any = HostCheck(Starlette(routes=routes), known_names(["lab.example", "0.0.0.0"]))
    return TestClient(app)


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
        assert stream.receive_text() == "answered"
    for headers in (own | {"origin": "http://evil.example"}, {"host": "evil.example"}):
        with pytest.raises(WebSocketDisconnect), visitor.websocket_connect("/stream", headers=headers):
            pass
