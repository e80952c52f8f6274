"""The page outline added to Streamlit's empty HTML, and the headers of every response."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from headlight_app.server.middleware import SecurityHeaders, SkeletonMiddleware, VisitorMiddleware

PAGE = '<body><div id="root"></div></body>'


async def page(request: Request) -> Response:
    assert not request.headers.get("accept-encoding")
    return HTMLResponse(PAGE, headers={"etag": "1"})


async def in_parts(request: Request) -> Response:
    return StreamingResponse(iter(PAGE.partition(" ")), media_type="text/html")


async def text(request: Request) -> Response:
    return PlainTextResponse(PAGE)


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/", page), Route("/parts", in_parts), Route("/text", text)]
    return TestClient(
        Starlette(routes=routes, middleware=[Middleware(SkeletonMiddleware, b"<b>wait</b>", lambda: b"<i>")])
    )


@pytest.mark.parametrize("path, first", [("/", "<i>"), ("/parts", "")])
def test_a_page_holds_the_outline_before_its_root(client: TestClient, path: str, first: str) -> None:
    answer = client.get(path, headers={"accept": "text/html,*/*"})
    assert answer.text == f'<body><b>wait</b>{first}<div id="root"></div></body>'
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_what_is_no_page_stays_as_it_is(client: TestClient) -> None:
    assert client.get("/text", headers={"accept": "text/html"}).text == PAGE
    assert client.get("/parts", headers={"accept": "application/json"}).text == PAGE


@pytest.mark.parametrize("query, framed_by", [("", "'self'"), ("?text=a&embedded=1", ""), ("?embedded=", "'self'")])
def test_a_page_stands_in_a_frame_of_others_where_its_address_asks_for_it(query: str, framed_by: str) -> None:
    secured = TestClient(Starlette(routes=[Route("/", page)], middleware=[Middleware(SecurityHeaders)]))
    headers = secured.get(f"/{query}", headers={"accept-encoding": ""}).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy.get("frame-ancestors", "") == framed_by
    assert policy["object-src"] == "'none'" and "http" not in policy["default-src"]
    assert headers.get("x-frame-options", "") == ("SAMEORIGIN" if framed_by else "")
    assert headers["x-content-type-options"] == "nosniff"


def test_a_page_stands_in_frames_of_the_sites_that_the_operator_names() -> None:
    sites = ["https://moodle.example", "https://canvas.example:8443"]
    for query in ("", "?presenter=1"):
        secured = TestClient(Starlette(routes=[Route("/", page)], middleware=[Middleware(SecurityHeaders, sites)]))
        headers = secured.get(f"/{query}", headers={"accept-encoding": ""}).headers
        assert headers["content-security-policy"].endswith(f"; frame-ancestors 'self' {' '.join(sites)}")
        assert "x-frame-options" not in headers, "it would forbid these frames where a browser reads it first"


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("in_frames", [False, True])
def test_cookies_are_sent_in_frames_only_where_frames_are_allowed_and_over_https(scheme: str, in_frames: bool) -> None:
    async def with_cookies(request: Request) -> Response:
        answer = HTMLResponse(PAGE)
        answer.set_cookie("room", "BCDFG", samesite="lax")
        answer.set_cookie("secured", "1", samesite="strict", secure=True)
        return answer

    client = TestClient(
        Starlette(routes=[Route("/", with_cookies)], middleware=[Middleware(VisitorMiddleware, in_frames=in_frames)]),
        base_url=f"{scheme}://lab.example",
    )
    cookies = client.get("/").headers.get_list("set-cookie")
    assert len(cookies) == 3 and cookies[2].startswith("headlight_visitor_") and "; HttpOnly" in cookies[2]
    assert "; Path=" not in cookies[2], "so it is for the folder of the page, behind whatever prefix"
    for cookie in cookies:
        assert cookie.lower().count("samesite=") == 1 and cookie.lower().count("secure") <= 1 + ("secured=" in cookie)
        assert cookie.endswith("; SameSite=None; Secure; Partitioned") == (in_frames and scheme == "https")


def test_what_streamlit_measures_of_the_server_is_not_told() -> None:
    routes = [Route("/_stcore/metrics", text), Route("/_stcore/health", text)]
    secured = TestClient(Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)]))
    assert secured.get("/_stcore/metrics").status_code == 404
    assert secured.get("/_stcore/health").text == PAGE
