"""The prefix of `--base-path`, and addresses below a page."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from headlight_app.server.paths import BasePath, PageAddresses

HTML = {"accept": "text/html,*/*"}


def visitor(prefix: str = "/lab") -> TestClient:
    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{request.url.path}?{request.url.query}")

    async def converse(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.close()

    routes = [WebSocketRoute("/stream", converse), Route("/{path:path}", answer)]
    app: Any = PageAddresses(Starlette(routes=routes), lambda: ["tasks", "lesson"])
    return TestClient(BasePath(app, prefix) if prefix else app, follow_redirects=False)


@pytest.mark.parametrize("prefix", ["/lab", "/a/b"])
def test_all_is_served_below_the_prefix_alone(prefix: str) -> None:
    client = visitor(prefix)
    assert client.get(f"{prefix}/api/trace?a=1").text == "/api/trace?a=1"
    assert client.get(f"{prefix}{prefix}/x").text == f"{prefix}/x?"
    for path in ("/api/trace", f"{prefix}x/api", f"{prefix}x"):
        assert client.get(path).status_code == 404
    for path in ("/", prefix):
        assert client.get(f"{path}?model=a").headers["location"] == f"{prefix}/?model=a"
    with client.websocket_connect(f"{prefix}/stream"):
        pass
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/stream"):
        pass


def test_a_prefix_is_written_as_browsers_send_it() -> None:
    client = visitor("/a%40b/my%20lab")
    for path in ("/a%40b/my%20lab", "/a@b/my%20lab"):
        assert client.get(f"{path}/api/trace").text == "/api/trace?"
    assert client.get("/").headers["location"] == "/a%40b/my%20lab/"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        *[("/tasks/", "../tasks"), ("/tasks//", "../../tasks"), ("/lesson/a/b", "../../lesson")],
        *[("/room/BCDFG/", "../BCDFG"), ("/room/BCDFG//", "../../BCDFG"), ("/a/b%3Fc/", "../b%3Fc")],
    ],
)
def test_an_address_below_a_page_or_with_a_last_slash_leads_on_by_a_relative_one(path: str, target: str) -> None:
    for query in ("", "?model=sort&text=a+b"):
        answer = visitor("").get(f"{path}{query}", headers=HTML)
        assert (answer.status_code, answer.headers["location"]) == (307, f"{target}{query}")


@pytest.mark.parametrize("path", ["/", "/tasks", "/room/BCDFG", "/static/a.js", "//tasks/", "//evil.example/"])
def test_other_addresses_stay(path: str) -> None:
    assert visitor("").get(f"http://testserver{path}", headers=HTML).status_code == 200
    assert visitor("").get("/tasks/", headers={"accept": "*/*"}).status_code == 200, "no browser opens it as a page"
