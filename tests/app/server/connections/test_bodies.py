"""Uploads, questions and pictures have a size and a time while they arrive."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from headlight.errors import HeadlightError
from headlight_app.access.visitor import CURRENT_ADDRESS
from headlight_app.server.connections import bodies as subject
from headlight_app.server.connections.bodies import BodyLimiter, UploadLimiter

MEGABYTE = 1 << 20


async def take(request: Request) -> JSONResponse:
    return JSONResponse(len(await request.body()))


@pytest.fixture
def client() -> Iterator[TestClient]:
    route = Route("/_stcore/upload_file/{session}/{name}", take, methods=["PUT", "GET"])
    with TestClient(Starlette(routes=[route], middleware=[Middleware(UploadLimiter)])) as client:
        yield client


def test_files_are_let_in_while_there_is_memory_for_them(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_UPLOAD_LIMIT", "1")
    address = "/_stcore/upload_file/a/b"
    assert client.put(address, content=bytes(MEGABYTE)).json() == MEGABYTE
    monkeypatch.setattr(subject, "_pending_bytes", lambda: subject.PENDING_FACTOR * MEGABYTE - 10)
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
    monkeypatch.setattr(subject, "SLOW_SECONDS", 0.05)

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
    monkeypatch.setattr(subject, "SLOW_SECONDS", 0.05)
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


def test_the_bodies_of_an_address_arrive_at_a_rate_and_questions_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            continue

    monkeypatch.setattr(subject, "BYTES_AT_ONCE", 2 * MEGABYTE)
    monkeypatch.setattr("headlight_app.server.rate.monotonic", lambda: 0.0)
    limiter = BodyLimiter(read)

    async def arrive(address: str, *sizes: int) -> None:
        left = list(sizes)

        async def receive() -> Message:
            return {"type": "http.request", "body": bytes(left.pop(0)), "more_body": bool(left)}

        token = CURRENT_ADDRESS.set(address)
        await limiter({"type": "http", "path": "/api/image"}, receive, lambda message: asyncio.sleep(0))
        CURRENT_ADDRESS.reset(token)

    async def send() -> None:
        monkeypatch.setattr(asyncio, "sleep", sleep)
        await arrive("10.0.0.7", subject.SMALL_BODY, MEGABYTE, MEGABYTE)
        assert slept == [], "so many bytes arrive at once"
        await arrive("10.0.0.7", subject.SMALL_BODY, MEGABYTE, MEGABYTE)
        apart = MEGABYTE / subject.BYTES_PER_SECOND
        assert slept == pytest.approx([apart, 2 * apart])
        await arrive("10.0.0.7", subject.SMALL_BODY)
        await arrive("10.0.0.8", subject.SMALL_BODY, MEGABYTE, MEGABYTE)
        assert len(slept) == 2, "neither questions nor other addresses wait"

    asyncio.run(send())


def test_a_visitor_fills_a_part_of_the_room(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_UPLOAD_LIMIT", "1")
    size = subject.OWN_FACTOR * MEGABYTE
    address = "/_stcore/upload_file/a/b"
    assert client.put(address, content=bytes(size)).json() == size
    assert client.put(address, content=bytes(size + 1)).status_code == 507


def test_a_file_that_no_page_takes_is_dropped(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[str] = []
    manager = SimpleNamespace(remove_session_files=dropped.append, get_stats=dict)
    open_sessions = {"forgotten", "another"}
    running = SimpleNamespace(uploaded_file_mgr=manager, is_active_session=open_sessions.__contains__)
    monkeypatch.setattr(subject, "exists", lambda: True)
    monkeypatch.setattr(subject, "get_instance", lambda: running)
    for session in ("forgotten", "another", "made-up"):  # of the last one nothing is kept
        client.put(f"/_stcore/upload_file/{session}/b", content=b"a")
    assert dropped == []
    monkeypatch.setattr(subject, "TAKE_SECONDS", 0.0)
    client.put("/_stcore/upload_file/newest/b", content=b"a")
    assert dropped == ["forgotten", "another"]
