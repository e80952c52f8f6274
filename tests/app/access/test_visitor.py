"""A cookie identifies each browser; no visitor can impersonate another."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from headlight_app.access.presence import MAX_NEWCOMERS, Presence
from headlight_app.access.visitor import UNKNOWN_VISITOR, cookie_name, current_queue, current_visitor, new_cookie
from headlight_app.server import middleware
from headlight_app.server.middleware import COOKIES_PER_ADDRESS, VisitorMiddleware


async def page(request: Request) -> HTMLResponse:
    return HTMLResponse("<p>")


async def kept_page(request: Request) -> Response:
    return Response(status_code=304)


async def who(request: Request) -> JSONResponse:
    return JSONResponse(current_visitor())


async def queue(request: Request) -> JSONResponse:
    return JSONResponse(current_queue())


@pytest.fixture
def app() -> Starlette:
    routes = [
        Route("/", page),
        Route("/kept", kept_page),
        Route("/who", who),
        Route("/queue", queue),
    ]
    return Starlette(routes=routes, middleware=[Middleware(VisitorMiddleware)])


@pytest.fixture
def client(app: Starlette) -> Iterator[TestClient]:
    with TestClient(app) as client:
        yield client


def test_a_browser_keeps_the_cookie_it_got_with_the_page(client: TestClient) -> None:
    assert client.get("/who").json() == UNKNOWN_VISITOR
    given = client.get("/").headers["set-cookie"]
    assert "HttpOnly" in given and "SameSite=Lax" in given and "Secure" not in given
    one = client.get("/who").json()
    assert one != UNKNOWN_VISITOR
    assert "set-cookie" not in client.get("/").headers
    assert client.get("/who").json() == one
    assert client.cookies[cookie_name()] not in one, "the stored name does not allow impersonation"


def test_a_browser_that_kept_the_page_and_not_the_cookie_gets_one(client: TestClient) -> None:
    assert "set-cookie" not in client.get("/kept", headers={"Accept": "*/*"}).headers, "the request is for a script"
    client.get("/kept", headers={"Accept": "text/html,*/*;q=0.8"})
    assert client.get("/who").json() != UNKNOWN_VISITOR


def test_two_browsers_are_two_visitors(app: Starlette) -> None:
    named = set()
    for _ in range(3):
        client = TestClient(app)
        client.get("/")
        named.add(client.get("/who").json())
    assert len(named) == 3


def test_a_cookie_of_another_program_does_not_hide_ours(client: TestClient) -> None:
    ours = f"{cookie_name()}={new_cookie()}"
    alone = client.get("/who", headers={"Cookie": ours}).json()
    assert alone != UNKNOWN_VISITOR
    assert client.get("/who", headers={"Cookie": f'odd={{"a": [1]}}; broken; {ours}; other="x'}).json() == alone


@pytest.mark.parametrize("made_up", ["mine", "a.b", ".", "é", "{ours}x", "x{ours}", "a" * 5_000])
def test_a_cookie_that_this_server_did_not_sign_is_nobody_and_is_replaced(client: TestClient, made_up: str) -> None:
    headers = {b"Cookie": f"{cookie_name()}={made_up.format(ours=new_cookie())}".encode("latin-1")}
    assert client.get("/who", headers=headers).json() == UNKNOWN_VISITOR
    assert cookie_name() in client.get("/", headers=headers).headers["set-cookie"]


def test_unknown_visitors_of_one_address_wait_in_one_queue(client: TestClient) -> None:
    queues = {client.get("/queue", headers={"Cookie": f"{cookie_name()}={name}"}).json() for name in "abc"}
    assert queues == {"at testclient"}
    client.get("/")
    assert client.get("/queue").json() == client.get("/who").json() != UNKNOWN_VISITOR


def test_without_an_open_page_the_first_visitors_of_an_address_have_turns_and_the_others_share_one() -> None:
    register = Presence()
    visitors = [f"visitor {number}" for number in range(MAX_NEWCOMERS + 5)]
    turns = [register.has_turn(visitor, "10.0.0.7") for visitor in visitors]
    assert turns == [True] * MAX_NEWCOMERS + [False] * 5
    assert register.has_turn(visitors[0], "10.0.0.7") and register.has_turn("another", "10.0.0.8")
    register.mark_seen(visitors[-1], "session")
    assert register.has_turn(visitors[-1], "10.0.0.7"), "a visitor with an open page has turns"
    register.sweep(lambda session: False)
    assert not register.has_turn(visitors[-1], "10.0.0.7") and not register.has_turn(UNKNOWN_VISITOR, "10.0.0.7")


def test_an_address_gets_so_many_cookies_and_then_the_page_alone(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "monotonic", lambda: 1_000.0)
    given = [TestClient(app).get("/").headers.get("set-cookie") for _ in range(COOKIES_PER_ADDRESS + 2)]
    assert all(given[:-2]) and given[-2:] == [None, None]
    assert TestClient(app, client=("10.0.0.7", 1)).get("/").headers["set-cookie"], "the limit is per address"


def test_who_fetches_a_cookie_now_and_then_leaves_cookies_for_the_others_of_their_address(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(middleware, "monotonic", lambda: now)
    for _ in range(COOKIES_PER_ADDRESS):
        TestClient(app).get("/")
    now += 9 * 60  # less than COOKIE_SECONDS, so that a count with an end would not have ended
    assert "set-cookie" in TestClient(app).get("/").headers
    given = ["set-cookie" in TestClient(app).get("/").headers for _ in range(COOKIES_PER_ADDRESS)]
    assert sum(given) >= 0.8 * COOKIES_PER_ADDRESS


def test_over_https_the_cookie_stays_on_https(app: Starlette) -> None:
    assert "Secure" in TestClient(app, base_url="https://testserver").get("/").headers["set-cookie"]


def test_nobody_is_asking_outside_of_a_request() -> None:
    assert current_visitor() == UNKNOWN_VISITOR
