"""A cookie identifies each browser; no visitor can impersonate another."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from headlight.errors import HeadlightError
from headlight_app.access.presence import MAX_NEWCOMERS, Presence
from headlight_app.access.visitor import UNKNOWN_VISITOR, cookie_name, current_queue, current_visitor, new_cookie
from headlight_app.server import middleware
from headlight_app.server.middleware import COOKIES_PER_ADDRESS, BodyLimiter, UploadLimiter, VisitorMiddleware

MEGABYTE = 1 << 20


async def page(request: Request) -> HTMLResponse:
    return HTMLResponse("<p>")


async def kept_page(request: Request) -> Response:
    return Response(status_code=304)


async def who(request: Request) -> JSONResponse:
    return JSONResponse(current_visitor())


async def queue(request: Request) -> JSONResponse:
    return JSONResponse(current_queue())


async def take(request: Request) -> JSONResponse:
    return JSONResponse(len(await request.body()))


@pytest.fixture
def app() -> Starlette:
    routes = [
        Route("/", page),
        Route("/kept", kept_page),
        Route("/who", who),
        Route("/queue", queue),
        Route("/_stcore/upload_file/a/b", take, methods=["PUT", "GET"]),
    ]
    return Starlette(routes=routes, middleware=[Middleware(VisitorMiddleware), Middleware(UploadLimiter)])


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


def test_files_are_let_in_while_there_is_memory_for_them(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_UPLOAD_LIMIT", "1")
    address = "/_stcore/upload_file/a/b"
    assert client.put(address, content=bytes(MEGABYTE)).json() == MEGABYTE
    monkeypatch.setattr(middleware, "_pending_bytes", lambda: middleware.PENDING_FACTOR * MEGABYTE - 10)
    assert client.put(address, content=bytes(10)).status_code == 200
    assert client.put(address, content=bytes(11)).status_code == 507
    assert client.get(address).status_code == 200, "only uploads are limited"
    assert client.put(address, content=iter([b"a"])).status_code == 411


def test_nothing_is_let_in_where_the_operator_wants_no_uploads(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_UPLOAD_LIMIT", "0")
    assert client.put("/_stcore/upload_file/a/b", content=b"a").status_code == 507


def test_a_slow_upload_is_refused_and_takes_no_room_before_it_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_UPLOAD_LIMIT", "1")
    monkeypatch.setattr(middleware, "SLOW_SECONDS", 0.05)

    async def trickle() -> Message:
        await asyncio.sleep(0 if limiter.arriving.total() == 0 else 1)
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def forever(scope: Scope, receive: Receive, send: Send) -> None:
        while True:
            await receive()
            assert limiter.arriving.total() == 1, "the announced length reserves no memory"

    limiter = UploadLimiter(forever)
    headers = [(b"content-length", str(MEGABYTE).encode())]
    scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/a/b", "headers": headers}
    with pytest.raises(HTTPException) as refused:
        asyncio.run(limiter(scope, trickle, lambda message: asyncio.sleep(0)))
    assert refused.value.status_code == 408 and limiter.arriving.total() == 0


def test_a_question_that_does_not_arrive_is_not_waited_for_and_its_answer_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "SLOW_SECONDS", 0.05)
    sent: list[Message] = []

    async def never() -> Message:
        await asyncio.sleep(0.2 if sent else 60)
        return {"type": "http.disconnect"} if sent else {"type": "http.request"}

    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        with pytest.raises(HeadlightError, match="too slowly"):
            await receive()

    async def complete() -> Message:
        return {"type": "http.request", "body": b"{}"} if not sent else await never()

    async def answered_late(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["body"] == b"{}"
        sent.append({})
        assert (await receive())["type"] == "http.disconnect"

    for arrive, app in ((never, refused), (complete, answered_late)):
        sent.clear()
        scope = {"type": "http", "method": "POST", "path": "/api/trace", "headers": []}
        asyncio.run(BodyLimiter(app)(scope, arrive, lambda message: asyncio.sleep(0)))


def test_a_visitor_fills_a_part_of_the_room(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_UPLOAD_LIMIT", "1")
    size = middleware.OWN_FACTOR * MEGABYTE
    address = "/_stcore/upload_file/a/b"
    assert client.put(address, content=bytes(size)).json() == size
    assert client.put(address, content=bytes(size + 1)).status_code == 507


def test_a_file_that_no_page_takes_is_dropped(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[str] = []
    manager = SimpleNamespace(remove_session_files=dropped.append, get_stats=dict)
    open_sessions = {"forgotten", "another"}
    running = SimpleNamespace(uploaded_file_mgr=manager, is_active_session=open_sessions.__contains__)
    monkeypatch.setattr(middleware, "exists", lambda: True)
    monkeypatch.setattr(middleware, "get_instance", lambda: running)
    for session in ("forgotten", "another", "made-up"):  # of the last one nothing is kept
        client.put(f"/_stcore/upload_file/{session}/b", content=b"a")
    assert dropped == []
    monkeypatch.setattr(middleware, "TAKE_SECONDS", 0.0)
    client.put("/_stcore/upload_file/newest/b", content=b"a")
    assert dropped == ["forgotten", "another"]
