"""Rooms over HTTP: joining, and the permissions of each browser."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from headlight.lessons.hand_in_file import HandIn
from headlight_app.room.panel import room_cookie
from headlight_app.room.rooms import Rooms
from headlight_app.server.middleware import VisitorMiddleware
from headlight_app.server.routes import routes
from tests.app.asking import unpack

VIEW = {"page": "course", "query": "chapter=attention&screen=look-up"}
LOOK_UP = "course/attention/look-up"
FILE = HandIn(lesson="sharp-and-soft", version=1, seed=1, model="", name="", answers=()).encode().decode()
Enter = Callable[[str], TestClient]


async def page(request: Request) -> Response:
    return HTMLResponse("<p>")


@pytest.fixture
def enter() -> Enter:
    """Creates a browser at an address with the page open."""
    app = Starlette(routes=[Route("/", page), *routes(Rooms())], middleware=[Middleware(VisitorMiddleware)])

    def browser(address: str) -> TestClient:
        client = TestClient(app, base_url="http://lab:8501", client=(address, 1))
        client.get("/")
        return client

    return browser


def ask(client: TestClient, route: str, **fields: Any) -> dict[str, Any]:
    """The answer of a room route."""
    answer = client.post(f"/api/room_{route}", json=fields)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    return unpack(answer.content)[0]


def test_a_link_leads_a_student_to_the_view_and_tells_the_page_of_the_room(enter: Enter) -> None:
    teacher, anna = enter("10.0.0.1"), enter("10.0.0.2")
    room = ask(teacher, "open", view=VIEW)
    code = room["code"]
    assert room["link"] == f"http://lab:8501/room/{code}" and room["picture"].startswith("<svg")
    for typed in (code, code.lower()):
        led = anna.get(f"/room/{typed}", follow_redirects=False)
        assert led.headers["location"] == "../course?chapter=attention&screen=look-up"
        assert led.headers["set-cookie"] == f"{room_cookie()}={code}; Path=/; SameSite=lax"
    told = ask(anna, "visit", code=code, place=LOOK_UP)
    assert (told["role"], told["number"], told["is_shown"], told["view"]) == ("student", 1, False, None)
    assert ask(teacher, "visit", code=code)["role"] == "teacher"
    ask(anna, "answer", code=code, place=LOOK_UP, answer="entry 2")
    panel = ask(teacher, "panel", code=code)
    assert panel["places"] == [{"name": LOOK_UP, "count": 1}]
    assert panel["questions"] == [{"place": LOOK_UP, "answers": [{"name": "entry 2", "count": 1, "variant": ""}]}]


def test_behind_a_proxy_the_link_is_as_the_browser_knows_the_server(enter: Enter) -> None:
    for page, site in (
        ("", "https://lab.example"),
        ("https://lab.example/user/ann/proxy/8501/course?screen=a/b", "https://lab.example/user/ann/proxy/8501"),
        ("https://lab.example.evil.example/x/", "https://lab.example"),
    ):
        headers = {"Origin": "https://lab.example", "Referer": page}
        answer = enter("10.0.0.1").post("/api/room_open", json={"view": VIEW}, headers=headers)
        assert unpack(answer.content)[0]["link"].startswith(f"{site}/room/")


def test_a_student_and_a_stranger_learn_no_answers_and_end_nothing(enter: Enter) -> None:
    teacher, anna = enter("10.0.0.1"), enter("10.0.0.2")
    code = ask(teacher, "open", view=VIEW)["code"]
    ask(anna, "visit", code=code)
    without_cookie = enter("10.0.0.1")
    without_cookie.cookies.clear()
    for client in (anna, enter("10.0.0.1"), without_cookie):
        for route in ("panel", "end"):
            assert [*ask(client, route, code=code)] == ["error"]
    assert "error" not in ask(teacher, "panel", code=code)
    assert ask(teacher, "end", code=code) == {}
    assert "has ended" in ask(anna, "visit", code=code)["error"]


def test_a_code_of_no_room_leads_to_the_first_page(enter: Enter) -> None:
    anna = enter("10.0.0.2")
    led = anna.get("/room/BCDFG", follow_redirects=False)
    assert led.headers["location"] == "../"
    assert "BCDFG" in led.headers["set-cookie"], "the page needs the code to report the missing room"
    for odd in ("a", "%0d%0aX: y", "BCDFG;x", "<b>"):
        led = anna.get(f"/room/{odd}", follow_redirects=False)
        assert led.headers["location"] == "../" and "set-cookie" not in led.headers


@pytest.mark.parametrize(
    "view",
    [
        {"page": "../evil", "query": ""},
        {"page": "/evil.example", "query": ""},
        {"page": "", "query": "a\r\nSet-Cookie: b=c"},
        {"page": "", "query": "a" * 20_001},
    ],
)
def test_a_room_leads_to_pages_of_this_server_alone(enter: Enter, view: dict[str, str]) -> None:
    assert [*ask(enter("10.0.0.1"), "open", view=view)] == ["error"]


def test_what_is_no_question_of_a_room_gets_a_sentence(enter: Enter) -> None:
    teacher = enter("10.0.0.1")
    code = ask(teacher, "open", view=VIEW)["code"]
    refused: tuple[dict[str, Any], ...] = (
        {"place": "Rude Words", "answer": "a"},
        {"place": "constructor/x", "answer": "a"},  # of every object in JavaScript
        {"place": "__proto__/x", "answer": "a"},
        {"place": "course/attention/look-up/extra", "answer": "a"},
        {"place": "course/attention/no-such-screen", "answer": "a"},
        {"place": "lesson/no-such-lesson/0", "answer": "a"},
        {"place": "lesson/sharp-and-soft/99", "answer": "a"},
        {"place": "no-such-page", "answer": "a"},
        *(
            {"place": f"lesson/sharp-and-soft/{step}", "answer": "a"}
            for step in ("02", "0x2", "2e0", "+2", "2/extra", "100")
        ),
        {"place": LOOK_UP, "answer": "a" * 201},
        {"place": LOOK_UP, "answer": 3},
        {"place": LOOK_UP},
        {"place": LOOK_UP, "answer": "a", "variant": "Rude Words"},
    )
    anna = enter("10.0.0.2")
    ask(anna, "visit", code=code)
    for fields in refused:
        assert [*ask(anna, "answer", code=code, **fields)] == ["error"]
        if fields["place"] != LOOK_UP:
            assert [*ask(anna, "visit", code=code, place=fields["place"])] == ["error"]
    assert ask(teacher, "panel", code=code)["questions"] == []
    for place in (LOOK_UP, "lesson/sharp-and-soft/0", "lesson/no-such-lesson", "course"):
        assert [*ask(anna, "hand_in", code=code, place=place, file=FILE)] == ["error"]
    assert "error" in ask(anna, "hand_in", code=code, place="lesson/sharp-and-soft", file=FILE.replace('"seed"', '"s"'))
    assert ask(anna, "hand_in", code=code, place="lesson/sharp-and-soft", file=FILE) == {}
    for place in ("", "compare", "course/attention", LOOK_UP, "lesson/sharp-and-soft", "lesson/sharp-and-soft/0"):
        assert "error" not in ask(anna, "visit", code=code, place=place)
