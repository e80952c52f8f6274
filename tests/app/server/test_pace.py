"""A visitor who sends requests too fast waits, without delaying others."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from headlight_app.access.addresses import network_address
from headlight_app.access.page_turns import page_turn
from headlight_app.access.visitor import cookie_name, new_cookie
from headlight_app.server import pace as subject
from headlight_app.server.middleware import VisitorMiddleware
from headlight_app.server.pace import AT_ONCE, PER_SECOND, Pace
from headlight_app.server.rate import MAX_WAIT


async def text(request: Request) -> Response:
    return PlainTextResponse("answered")


async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    async for message in websocket.iter_text():
        await websocket.send_text(message)


APP = Starlette(routes=[Route("/", text, methods=["GET", "POST"]), WebSocketRoute("/ws", echo)])


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waiting times of requests, on a stopped clock."""
    times: list[float] = []

    async def sleep(seconds: float) -> None:
        times.append(seconds)

    monkeypatch.setattr(subject, "monotonic", lambda: 0.0)
    monkeypatch.setattr("headlight_app.server.rate.monotonic", lambda: 0.0)
    monkeypatch.setattr("asyncio.sleep", sleep)
    return times


def test_what_comes_faster_than_a_person_asks_waits_and_others_do_not() -> None:
    pace = Pace(APP)
    assert all(pace.requests.wait("anna", 1.0) == 0.0 for _ in range(int(AT_ONCE) - 50)), "opening a page does not wait"
    waits = [pace.requests.wait("anna", 1.0) for _ in range(int(PER_SECOND))]
    assert waits == sorted(waits) and waits[-1] < 1.0
    while pace.requests.wait("anna", 1.0) <= MAX_WAIT:
        pass
    refused = pace.requests.wait("anna", 1.0)
    assert refused - pace.requests.wait("anna", 1.0) < 1 / PER_SECOND, "refused requests do not count"
    assert pace.requests.wait("ben", 1.0) == 0.0


def test_whoever_asks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, slept: list[float]) -> None:
    monkeypatch.setattr(subject, "AT_ONCE", 2.0)
    client = TestClient(Pace(APP))
    answers = [client.get("/") for _ in range(3 + int(PER_SECOND * MAX_WAIT))]
    assert {answer.status_code for answer in answers[:-1]} == {200}
    assert answers[-1].status_code == 429 and "Wait a moment" in answers[-1].text
    assert len(slept) == PER_SECOND * MAX_WAIT and slept[-1] == pytest.approx(MAX_WAIT)


def test_sessions_of_many_visitors_share_the_pace_of_their_address(
    monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    monkeypatch.setattr(subject, "SESSIONS_AT_ONCE", 2)
    app = VisitorMiddleware(Pace(APP))
    for address, waits in (("10.0.0.7", 2), ("10.0.0.8", 0)):
        for _ in range(2 + waits):
            visitor = TestClient(app, cookies={cookie_name(): new_cookie()}, client=(address, 1))
            with visitor.websocket_connect("/ws") as page:
                page.send_text("a")
                assert page.receive_text() == "a"
    apart = 1 / subject.SESSIONS_PER_SECOND
    assert [seconds for seconds in slept if seconds] == pytest.approx([apart, 2 * apart])


def test_questions_of_visitors_without_a_turn_share_the_pace_of_their_address(
    monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    monkeypatch.setattr(subject, "AT_ONCE", 2 * subject.QUESTION_COST)
    monkeypatch.setattr("headlight_app.access.presence.MAX_NEWCOMERS", 0)
    client = TestClient(VisitorMiddleware(Pace(APP)))
    for cookie in (new_cookie(), new_cookie(), new_cookie()):
        headers = {"cookie": f"{cookie_name()}={cookie}"}
        assert client.get("/", headers=headers).status_code == client.post("/", headers=headers).status_code == 200
    assert slept == pytest.approx([subject.QUESTION_COST / PER_SECOND]), "two of three questions and every page pass"


def test_messages_of_a_session_keep_the_pace(monkeypatch: pytest.MonkeyPatch, slept: list[float]) -> None:
    monkeypatch.setattr(subject, "MESSAGES_AT_ONCE", 1e-9)
    monkeypatch.setattr(subject, "MAX_RUN_WAIT", 0.0)
    with TestClient(Pace(APP)).websocket_connect("/ws") as session:
        for _ in range(3):
            session.send_text("again")
            assert session.receive_text() == "again"
    assert slept == pytest.approx([number / subject.MESSAGES_PER_SECOND for number in (1, 2, 3)])


@pytest.mark.parametrize("takes, waits", [(0.1, 0.1), (99.0, subject.MAX_RUN_WAIT)])
def test_a_message_waits_for_the_run_that_the_one_before_it_asked_for(
    monkeypatch: pytest.MonkeyPatch, takes: float, waits: float
) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        if now >= takes:
            with page_turn("at "):
                pass

    monkeypatch.setattr(subject, "monotonic", lambda: now)
    monkeypatch.setattr("asyncio.sleep", sleep)
    with TestClient(Pace(APP)).websocket_connect("/ws") as session:
        for _ in range(2):
            session.send_text("again")
            assert session.receive_text() == "again"
    assert now == pytest.approx(waits, abs=2 * subject.LOOK_AGAIN)


def test_one_visitor_holds_so_many_sessions_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MAX_SESSIONS", 2)
    client = TestClient(Pace(APP))
    opened = client.websocket_connect
    with opened("/ws"), opened("/ws"), pytest.raises(WebSocketDisconnect) as refused, opened("/ws"):
        pass
    assert refused.value.reason == subject.TOO_FAST
    with client.websocket_connect("/ws") as session:
        session.send_text("there is room again")
        assert session.receive_text()


@pytest.mark.parametrize(
    "host, shared",
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:9::2", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2002:c000:207:1::2", "2002:c000:207::/48"),
        ("::1", "::1"),
        ("", ""),
        ("no address", "no address"),
    ],
)
def test_the_addresses_of_one_household_share_its_limits(host: str, shared: str) -> None:
    assert network_address(host) == shared
