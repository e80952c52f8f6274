"""Rooms, attacked by students and strangers."""

import pytest
from starlette.routing import Route

from headlight.lessons.hand_in_file import HandIn
from headlight_app.room.rooms import MAX_PER_ADDRESS, Rooms
from headlight_app.server.rooms import room_routes
from tests.app.strangers.conftest import Newcomer, has_ipv6
from tests.app.strangers.visitor import Stranger

VIEW = {"page": "course", "query": "chapter=attention"}
PLACE = "course/attention/look-up"
LESSON = "lesson/sharp-and-soft"
ALIASES = ("02", "0x2", "2e0", "+2", "2/extra", "2/", "%32", "２", " 2", "2 ", "2\n", "-0", "00", "2.0", "1_0")
NO_PLACES: tuple[str, ...] = (
    "constructor/x",
    "__proto__/x",
    "constructor",
    "toString",
    "hasOwnProperty",
    "course/constructor/x",
)
NO_PLACES += (
    "lesson/constructor/0",
    "lesson/__proto__/0",
    "../course",
    "COURSE",
    f"/{PLACE}",
    f"{PLACE}/",
    f"{PLACE}//x",
)
TEACHERS = {"panel", "end", "hand_ins"}  # requests of the teacher alone
FILE = HandIn(lesson="sharp-and-soft", version=1, seed=1, model="", name="entry 2", answers=()).encode().decode()
FIELDS = {"answer": {"place": PLACE, "answer": "x"}, "hand_in": {"place": LESSON, "file": FILE.replace("entry 2", "x")}}


def of_rooms() -> set[str]:
    """The routes about a room that is open."""
    paths = (route.path for route in room_routes(Rooms()) if isinstance(route, Route))
    return {path.removeprefix("/api/room_") for path in paths if path.startswith("/api/room_")} - {"open"}


def ask(visitor: Stranger, route: str, code: str, **fields: object) -> dict[str, object]:
    """The answer of a room's route."""
    return visitor.ask(f"room_{route}", code=code, **fields)


def opened(teacher: Stranger) -> str:
    """The code of a new room."""
    return str(teacher.ask("room_open", view=VIEW)["code"])


def test_students_and_strangers_learn_no_answers_and_end_nothing_whatever_they_send(newcomer: Newcomer) -> None:
    teacher, student, other = newcomer(), newcomer(), newcomer()
    code = opened(teacher)
    assert of_rooms() > TEACHERS
    for each in (student, other):
        assert ask(each, "visit", code)["role"] == "student"
    ask(other, "answer", code, place=PLACE, answer="entry 2")
    ask(other, "hand_in", code, place=LESSON, file=FILE)
    forged = f"{teacher.cookie.partition('=')[0]}={teacher.cookie.partition('=')[2][:-1]}"
    beside, nobody = newcomer(teacher.address), newcomer.nobody(teacher.address)
    for asker in (student, beside, nobody, Stranger(teacher.server, teacher.address, forged)):
        for route in of_rooms():
            told = ask(asker, route, code, **(FIELDS[route] | {"place": LESSON} if route in FIELDS else {}))
            assert "entry 2" not in str(told) and "questions" not in told
            assert "error" in told or (route not in TEACHERS and asker.cookie in (student.cookie, beside.cookie))
        for sent in ({"show": 1}, {"admit": True}, {"free": 1}, {"bring": VIEW}, {"nicknames": True}):
            assert [*ask(asker, "panel", code, **sent)] == ["error"]
    panel = ask(teacher, "panel", code)
    assert (panel["members"], panel["shown"], panel["networks"]) == (3, None, [])
    assert ask(teacher, "end", code) == {}
    for asker in (teacher, student, beside):
        for route in of_rooms():
            assert [*ask(asker, route, code, **FIELDS.get(route, {}))] == ["error"], "the room has ended"


def test_each_student_answers_once_under_one_name_of_a_place(newcomer: Newcomer) -> None:
    teacher, student = newcomer(), newcomer()
    code = opened(teacher)
    ask(student, "visit", code)
    for answer in ("first", "second", "first "):
        ask(student, "answer", code, place=f"{LESSON}/2", answer=answer)
    places = [*NO_PLACES, *(f"{LESSON}/{alias}" for alias in ALIASES), f"{LESSON.upper()}/2", f"{LESSON}/99"]
    for place in places:
        for route, fields in (("answer", {"answer": "x"}), ("visit", {})):
            assert [*ask(student, route, code, place=place, **fields)] == ["error"], place
    ask(student, "leave", code)
    ask(student, "visit", code)
    ask(student, "answer", code, place=f"{LESSON}/2", answer="third")
    answered = [{"place": f"{LESSON}/2", "answers": [{"name": "first", "count": 1, "variant": ""}]}]
    assert ask(teacher, "panel", code)["questions"] == answered


def test_a_view_is_taken_from_nobody_who_was_not_asked(newcomer: Newcomer) -> None:
    teacher, asked, other = newcomer(), newcomer(), newcomer()
    code = opened(teacher)
    numbers = [ask(each, "visit", code, view=VIEW)["number"] for each in (asked, other)]
    assert ask(teacher, "panel", code)["shown"] is None
    assert ask(teacher, "panel", code, show=numbers[0])["shown"] == {"number": numbers[0], "view": None}
    for each in (other, newcomer(), newcomer(asked.address), newcomer.nobody()):
        ask(each, "visit", code, view={"page": "tasks"})
    assert ask(teacher, "panel", code)["shown"] == {"number": numbers[0], "view": None}
    ask(asked, "visit", code, view=VIEW)
    assert ask(teacher, "panel", code)["shown"] == {"number": numbers[0], "view": VIEW}


@pytest.mark.parametrize(
    "address", ["127.0.0.19", pytest.param("::1", marks=pytest.mark.skipif(not has_ipv6(), reason="no IPv6"))]
)
def test_each_address_has_its_seats_on_a_server_for_both_families(newcomer: Newcomer, address: str) -> None:
    teacher = newcomer()
    code = opened(teacher)
    roles = [ask(newcomer(address), "visit", code)["role"] for _ in range(MAX_PER_ADDRESS + 2)]
    assert roles == ["student"] * MAX_PER_ADDRESS + ["waiting"] * 2
    others = [ask(newcomer(), "visit", code)["role"] for _ in range(MAX_PER_ADDRESS + 2)]
    assert others == ["student"] * len(others), "IPv4 addresses on an IPv6 socket are not one network"
