"""Something to see at once: the outline of a page within Streamlit's empty HTML."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from headlight_app.server.middleware import SkeletonMiddleware

PAGE = '<body><div id="root"></div></body>'


async def page(request: Request) -> Response:
    assert "accept-encoding" not in request.headers
    return HTMLResponse(PAGE, headers={"etag": "1"})


async def in_parts(request: Request) -> Response:
    return StreamingResponse(iter(PAGE.partition(" ")), media_type="text/html")


async def text(request: Request) -> Response:
    return PlainTextResponse(PAGE)


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/", page), Route("/parts", in_parts), Route("/text", text)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(SkeletonMiddleware, b"<b>wait</b>")]))


@pytest.mark.parametrize("path", ["/", "/parts"])
def test_a_page_holds_the_outline_before_its_root(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"accept": "text/html,*/*"})
    assert answer.text == '<body><b>wait</b><div id="root"></div></body>'
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_what_is_no_page_stays_as_it_is(client: TestClient) -> None:
    assert client.get("/text", headers={"accept": "text/html"}).text == PAGE
    assert client.get("/parts", headers={"accept": "application/json"}).text == PAGE
