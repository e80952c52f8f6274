"""Rooms: visibility, counting of answers, and limits."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as some

from headlight.errors import HeadlightError
from headlight.lessons.hand_in_file import HandIn
from headlight_app.lesson.contract import MAX_COLLECTED
from headlight_app.room.contract import (
    MAX_MEMBERS,
    AnswerCount,
    HandedIn,
    NetworkSeats,
    RoomAnswerRequest,
    RoomEndRequest,
    RoomHandInRequest,
    RoomHandInsRequest,
    RoomLeaveRequest,
    RoomOpenRequest,
    RoomPanelAnswer,
    RoomPanelRequest,
    RoomVisitRequest,
    View,
)
from headlight_app.room.rooms import (
    HERE_SECONDS,
    IDLE_SECONDS,
    MAX_ANSWERS,
    MAX_HAND_IN_BYTES,
    MAX_HAND_INS,
    MAX_PER_ADDRESS,
    MAX_QUESTIONS,
    MAX_ROOMS,
    MAX_ROOMS_PER_ADDRESS,
    ROOM_SECONDS,
    YOUNG_SECONDS,
    Browser,
    RoomError,
    Rooms,
)
from headlight_app.server.replies import MAX_BODY_BYTES

VIEW = View(page="course", query="chapter=attention")
LOOK_UP = "course/attention/look-up"
PENCIL = "lesson/attention-with-a-pencil"


@dataclass
class Clock:
    """A clock set by the test."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def browser(name: str, address: str = "") -> Browser:
    """A browser, at its own address if none is given."""
    return Browser(name, address or f"10.0.0.{name}", "http://room:8501")


def handed_in(name: str = "", place: str = PENCIL, answer: str = "") -> str:
    """The hand-in file of a learner, with one long answer after another."""
    lesson, answers = place.removeprefix("lesson/"), tuple((answer,) * 20 for _ in range(5 * bool(answer)))
    return HandIn(lesson=lesson, version=1, seed=1, model="", name=name, answers=answers).encode().decode()


TEACHER = browser("teacher")


@dataclass
class Class:
    """A room opened by TEACHER, with the actions of its students."""

    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.rooms = Rooms(self.clock)
        self.code = self.rooms.open(TEACHER, RoomOpenRequest(view=VIEW)).code

    def visit(self, who: Browser, place: str = "", view: View | None = None) -> tuple[int, bool]:
        told = self.rooms.visit(who, RoomVisitRequest(code=self.code, place=place, view=view))
        return told.number, told.is_shown

    def answer(self, who: Browser, answer: str, place: str = LOOK_UP, variant: str = "") -> None:
        self.rooms.answer(who, RoomAnswerRequest(code=self.code, place=place, answer=answer, variant=variant))

    def hand_in(self, who: Browser, name: str = "", place: str = PENCIL, answer: str = "") -> None:
        file = handed_in(name, place, answer)
        self.rooms.hand_in(who, RoomHandInRequest(code=self.code, place=place, file=file))

    def hand_ins(self, who: Browser = TEACHER) -> tuple[HandedIn, ...]:
        return self.rooms.hand_ins(who, RoomHandInsRequest(code=self.code)).files

    def brought(self, who: Browser, brought: int = 0) -> View | None:
        """Where a browser is brought that has gone to so many views of the class."""
        return self.rooms.visit(who, RoomVisitRequest(code=self.code, brought=brought)).view

    def decide(self, bring: View | None = None, nicknames: bool | None = None) -> RoomPanelAnswer:
        return self.rooms.panel(TEACHER, RoomPanelRequest(code=self.code, bring=bring, nicknames=nicknames))

    def leave(self, who: Browser) -> None:
        self.rooms.leave(who, RoomLeaveRequest(code=self.code))

    def panel(
        self, who: Browser = TEACHER, show: int | None = None, admit: bool = False, free: int = 0
    ) -> RoomPanelAnswer:
        return self.rooms.panel(who, RoomPanelRequest(code=self.code, show=show, admit=admit, free=free))

    def counts(self) -> dict[str, dict[str, int]]:
        """The answer counts of each question that the teacher sees."""
        return {each.place: {one.name: one.count for one in each.answers} for each in self.panel().questions}

    def end(self, who: Browser = TEACHER) -> None:
        self.rooms.end(who, RoomEndRequest(code=self.code))


def test_the_teacher_sees_first_answers_and_places_and_no_student() -> None:
    room = Class()
    for name, answer in (("1", "entry 2"), ("2", "entry 1"), ("3", "entry 2")):
        room.visit(browser(name), LOOK_UP)
        room.answer(browser(name), answer)
    room.visit(browser("3"), "course/attention/steps")
    panel = room.panel()
    assert (panel.members, panel.present) == (3, 3)
    assert {each.name: each.count for each in panel.places} == {LOOK_UP: 2, "course/attention/steps": 1}
    assert room.counts() == {LOOK_UP: {"entry 2": 2, "entry 1": 1}}
    assert panel.shown is None
    assert panel.link == f"http://room:8501/room/{room.code}" and room.rooms.view_of(room.code) == VIEW


def test_whoever_reloads_goes_on_with_their_number_and_their_answer() -> None:
    room, anna = Class(), browser("anna")
    assert room.visit(browser("ben"))[0] == 1
    assert room.visit(anna)[0] == room.visit(anna)[0] == 2
    room.answer(anna, "first")
    room.answer(anna, "second")
    assert room.counts() == {LOOK_UP: {"first": 1}}


def test_coming_back_gives_no_second_answer() -> None:
    room, anna = Class(), browser("anna")
    for answer in ("first", "second", "third"):
        room.visit(anna)
        room.answer(anna, answer)
        room.leave(anna)
        assert room.panel().present == 0
    assert room.counts() == {LOOK_UP: {"first": 1}} and room.panel().members == 1


def test_a_student_sees_no_answers_and_ends_no_room() -> None:
    room, anna = Class(), browser("anna")
    number, is_shown = room.visit(anna)
    assert (number, is_shown) == (1, False)
    for forbidden in (
        room.panel,
        room.end,
        lambda who: room.panel(who, show=1),
        lambda who: room.panel(who, admit=True),
        room.hand_ins,
    ):
        for who in (anna, browser("stranger"), Browser("", TEACHER.address, "")):
            with pytest.raises(RoomError, match="Only the browser that opened"):
                forbidden(who)
    assert room.panel().shown is None


def test_hand_ins_are_the_last_of_each_student_and_lesson_and_go_with_the_room() -> None:
    room, anna, ben = Class(), browser("anna"), browser("ben")
    for who, file in ((anna, "early"), (ben, "of Ben"), (anna, "late")):
        room.visit(who)
        room.hand_in(who, file)
    room.leave(ben)
    assert [(each.number, each.file) for each in room.hand_ins()] == [(1, handed_in("late")), (2, handed_in("of Ben"))]
    assert [(each.name, each.count) for each in room.panel().hand_ins] == [(PENCIL, 2)]
    with pytest.raises(RoomError, match="not in the room"):
        room.hand_in(browser("stranger"))
    room.end()
    with pytest.raises(RoomError, match="has ended"):
        room.hand_ins()


def test_hand_ins_have_a_number_and_a_size_of_each_member() -> None:
    room, anna, ben = Class(), browser("anna"), browser("ben")
    room.visit(anna)
    room.visit(ben)
    for number in range(MAX_HAND_INS):
        room.hand_in(anna, place=f"lesson/{number}")
    with pytest.raises(RoomError, match="keeps no more of you"):
        room.hand_in(anna, place="lesson/more")
    room.hand_in(anna, "again", "lesson/0")
    with pytest.raises(RoomError, match="keeps no more of you"):
        room.hand_in(ben, answer="é" * 100)  # 10,000 characters, 20,000 bytes
    room.hand_in(ben, answer="e" * 100)
    with pytest.raises(RoomError, match="keeps no more of you"):
        room.hand_in(ben, place="lesson/other", answer="e" * 100)
    assert len(room.hand_ins()) == MAX_HAND_INS + 1


def test_the_hand_ins_of_a_full_room_are_one_request_of_its_teacher() -> None:
    named = len('{"name":"","file":},') + 60
    assert MAX_MEMBERS * (MAX_HAND_IN_BYTES + MAX_HAND_INS * named) < MAX_BODY_BYTES - 200
    assert MAX_MEMBERS * MAX_HAND_INS <= MAX_COLLECTED


@pytest.mark.parametrize("file", ["x", "{}", '{"format": "another"}', "[" * 9_000, handed_in(place="lesson/another")])
def test_what_is_no_hand_in_of_the_lesson_is_refused(file: str) -> None:
    room, anna = Class(), browser("anna")
    room.visit(anna)
    with pytest.raises(HeadlightError, match="a hand-in of"):
        room.rooms.hand_in(anna, RoomHandInRequest(code=room.code, place=PENCIL, file=file))
    assert room.hand_ins() == ()


def test_a_new_room_replaces_no_hand_ins() -> None:
    room, anna = Class(), browser("anna")
    room.visit(anna)
    room.hand_in(anna)
    again = room.rooms.open(TEACHER, RoomOpenRequest(view=VIEW))
    assert again.code == room.code and [each.count for each in again.hand_ins] == [1]
    room.end()
    assert room.rooms.open(TEACHER, RoomOpenRequest(view=VIEW)).code != room.code


def test_a_room_with_hand_ins_stays_while_its_teacher_is_there() -> None:
    room, anna = Class(), browser("anna")
    room.visit(anna)
    room.hand_in(anna)
    for number in range(MAX_ROOMS_PER_ADDRESS - 1):
        room.rooms.open(browser(f"{number}", TEACHER.address), RoomOpenRequest(view=VIEW))
    room.clock.now += YOUNG_SECONDS + 1
    room.rooms.open(browser("new", TEACHER.address), RoomOpenRequest(view=VIEW))
    assert room.rooms.view_of(room.code), "although it is the oldest and has no student here"
    room.clock.now += IDLE_SECONDS
    room.rooms.open(browser("newer", TEACHER.address), RoomOpenRequest(view=VIEW))
    assert not room.rooms.view_of(room.code)


def test_the_class_is_brought_to_a_view_once_and_who_comes_later_lands_there() -> None:
    room, anna, late = Class(), browser("anna"), browser("late")
    step = View(page="lesson", query="lesson=attention-with-a-pencil&lesson_step=2")
    assert room.brought(anna) is None
    room.decide(bring=step)
    assert room.rooms.view_of(room.code) == step
    assert room.brought(anna) == step == room.brought(anna), "until the browser has gone there"
    assert room.brought(anna, 1) is None is room.brought(anna), "a reload brings nobody back"
    assert room.brought(late) == step
    room.decide(bring=VIEW)
    assert room.brought(anna, 99) is None, "a browser cannot know more views than there were"
    room.decide(bring=step)
    assert room.brought(anna) == step


def test_answers_to_different_questions_are_counted_apart() -> None:
    room = Class()
    for name, variant in (("1", "5"), ("2", "7"), ("3", "5")):
        room.visit(browser(name))
        room.answer(browser(name), "12", f"{PENCIL}/0", variant)
    (question,) = room.panel().questions
    counted = [AnswerCount(name="12", variant=variant, count=count) for variant, count in (("5", 2), ("7", 1))]
    assert [*question.answers] == counted


def test_nicknames_are_kept_only_while_the_teacher_wants_them() -> None:
    room, anna = Class(), browser("anna")

    def visit(nickname: str) -> bool:
        return room.rooms.visit(anna, RoomVisitRequest(code=room.code, nickname=nickname)).wants_nickname

    assert not visit("Ann") and room.panel().nicknames == ()
    room.decide(nicknames=True)
    assert visit(" ") and not visit("Ann")
    assert [(each.number, each.name) for each in room.panel().nicknames] == [(1, "Ann")]
    assert room.decide(nicknames=False).nicknames == ()


def test_a_view_comes_from_the_student_whom_the_teacher_asked_and_from_nobody_else() -> None:
    room, anna, ben = Class(), browser("anna"), browser("ben")
    own = View(page="", query="text=mine")
    assert room.visit(anna, view=own) == (1, False)
    assert room.panel().shown is None, "no question has been asked"
    room.visit(ben)
    room.panel(show=1)
    assert room.visit(ben, view=View(query="text=rude")) == (2, False)
    shown = room.panel().shown
    assert shown and (shown.number, shown.view) == (1, None)
    assert room.visit(anna) == (1, True)
    room.visit(anna, view=own)
    shown = room.panel().shown
    assert shown and shown.view == own
    room.panel(show=0)
    assert room.panel().shown is None and room.visit(anna) == (1, False)


def test_one_address_has_a_few_members_until_the_teacher_admits_more() -> None:
    room = Class()
    for number in range(MAX_PER_ADDRESS):
        room.visit(browser(f"{number}", "router"))
    for _ in range(3):
        assert room.visit(browser("one more", "router")) == (0, False)
        with pytest.raises(RoomError, match="not in the room"):
            room.answer(browser("one more", "router"), "entry 1")
    assert room.panel().refused == 1 and room.panel().members == MAX_PER_ADDRESS
    assert room.panel(admit=True).refused == 0
    assert room.visit(browser("one more", "router"))[0] == MAX_PER_ADDRESS + 1


def test_the_teacher_frees_the_seats_that_one_address_has_taken() -> None:
    room = Class()
    room.panel(admit=True)
    for number in range(106):
        room.visit(browser(f"bot {number}", "attic"))
    anna, _ = browser("anna", "school"), room.visit(browser("anna", "school"))
    room.answer(anna, "entry 1")
    room.answer(browser("bot 1", "attic"), "entry 2")
    room.hand_in(browser("bot 2", "attic"))
    networks = room.panel().networks
    assert networks == (NetworkSeats(first=1, members=106, hand_ins=1),), "no teacher learns an address"
    panel = room.panel(free=networks[0].first)
    assert panel.members == 1 and panel.networks == () and room.counts() == {LOOK_UP: {"entry 1": 1}}
    assert [room.visit(browser(f"bot {number}", "attic"))[0] for number in range(6)] == [1, 2, 3, 4, 0, 0]
    assert room.visit(anna)[0] == 107, "who stays keeps their number"
    for number in range(20):
        assert room.visit(browser(f"student {number}", "school"))[0]
    assert room.panel(free=99).members == 25, "a number that nobody has frees nothing"


def test_rooms_of_strangers_at_ones_own_address_give_way_and_those_with_a_class_stay() -> None:
    clock = Clock()
    rooms = Rooms(clock)

    def opened(teacher: str) -> str:
        return rooms.open(browser(teacher, "school"), RoomOpenRequest(view=VIEW)).code

    def visit(student: str, code: str) -> None:
        rooms.visit(browser(student, f"home of {student}"), RoomVisitRequest(code=code))

    codes = [opened(f"stranger {number}") for number in range(MAX_ROOMS_PER_ADDRESS)]
    with pytest.raises(RoomError, match="no space"):
        opened("teacher")
    clock.now += YOUNG_SECONDS + 1
    for code in codes:
        rooms.panel(browser(f"stranger {codes.index(code)}", "school"), RoomPanelRequest(code=code))
    for student in range(20):
        visit(f"{student}", codes[0])
    own = opened("teacher")
    assert rooms.view_of(codes[0]) and not rooms.view_of(codes[1]), "the oldest of those without students"
    for number in range(MAX_ROOMS_PER_ADDRESS):
        with suppress(RoomError):
            opened(f"another stranger {number}")
    assert rooms.view_of(own) and rooms.view_of(codes[0])


def test_without_a_cookie_nobody_opens_or_joins() -> None:
    room, nobody = Class(), Browser("", "10.0.0.9", "")
    with pytest.raises(RoomError, match="sends no cookie"):
        room.visit(nobody)
    with pytest.raises(RoomError, match="sends no cookie"):
        room.rooms.open(nobody, RoomOpenRequest(view=VIEW))
    with pytest.raises(RoomError, match="not in the room"):
        room.answer(browser("stranger"), "entry 1")


@pytest.mark.parametrize("finish", [Class.end, lambda room: setattr(room.clock, "now", ROOM_SECONDS)])
def test_a_room_is_gone_at_its_end_and_when_it_expires(finish: Callable[[Class], None]) -> None:
    room, anna = Class(), browser("anna")
    room.visit(anna)
    finish(room)
    assert room.rooms.view_of(room.code) is None and not room.rooms.rooms
    for act in (
        lambda: room.visit(anna),
        lambda: room.answer(anna, "late"),
        lambda: room.leave(anna),
        room.panel,
        room.end,
    ):
        with pytest.raises(RoomError, match="it has ended"):
            act()


def test_who_is_not_heard_of_is_not_here() -> None:
    room = Class()
    room.visit(browser("anna"), LOOK_UP)
    room.clock.now += HERE_SECONDS
    panel = room.panel()
    assert (panel.members, panel.present, panel.places) == (1, 0, ())


def test_a_teacher_has_one_room() -> None:
    room = Class()
    code = room.rooms.open(TEACHER, RoomOpenRequest(view=VIEW)).code
    assert [*room.rooms.rooms] == [code] != [room.code]


def test_rooms_are_bounded_by_address_and_in_all_and_idle_ones_give_way() -> None:
    clock = Clock()
    rooms = Rooms(clock)
    one_network = [browser(f"{number}", "router") for number in range(MAX_ROOMS_PER_ADDRESS + 1)]
    opened = [rooms.open(who, RoomOpenRequest(view=VIEW)).code for who in one_network[:-1]]
    with pytest.raises(RoomError, match="no space for another room"):
        rooms.open(one_network[-1], RoomOpenRequest(view=VIEW))
    for number in range(100, 100 + MAX_ROOMS - MAX_ROOMS_PER_ADDRESS):
        rooms.open(browser(f"{number}"), RoomOpenRequest(view=VIEW))
    with pytest.raises(RoomError, match="no space for another room"):
        rooms.open(TEACHER, RoomOpenRequest(view=VIEW))
    clock.now = IDLE_SECONDS + 1
    rooms.visit(browser("anna"), RoomVisitRequest(code=opened[0]))
    rooms.panel(one_network[1], RoomPanelRequest(code=opened[1]))
    rooms.open(one_network[-1], RoomOpenRequest(view=VIEW))
    assert set(opened) & set(rooms.rooms) == set(opened[:2]), "one has a student, the other its teacher"


def test_invented_questions_push_no_real_one_out() -> None:
    room, bad = Class(), browser("bad")
    for who in (browser("anna"), browser("ben"), bad):
        room.visit(who)
    for who in (browser("anna"), browser("ben")):
        room.answer(who, "entry 1")
    for number in range(3 * MAX_ANSWERS):
        room.answer(bad, "x" * 200, f"course/invented/{number}")
    counts = room.counts()
    assert counts[LOOK_UP] == {"entry 1": 2} and len(counts) == MAX_QUESTIONS
    assert (
        sum(len(member.answers) for member in next(iter(room.rooms.rooms.values())).members.values()) == MAX_ANSWERS + 2
    )


def test_a_room_has_so_many_members() -> None:
    room = Class()
    for number in range(MAX_MEMBERS):
        room.visit(browser(f"{number}"))
    with pytest.raises(RoomError, match="is full"):
        room.visit(browser("one more"))
    assert room.visit(browser("0"))[0] == 1, "members may return"


ACTS = ("visit", "answer", "leave", "panel", "end", "show", "admit", "open")
STEPS = some.lists(
    some.tuples(some.sampled_from(ACTS), some.integers(0, 9), some.sampled_from(("a", "b", "c"))), max_size=60
)


@given(STEPS)
def test_whatever_students_do_each_has_one_answer_and_the_room_stays(steps: list[tuple[str, int, str]]) -> None:
    room, first = Class(), dict[str, str]()
    for act, number, answer in steps:
        who = browser(f"{number}", "router" if number > 4 else "")
        calls: dict[str, Callable[[], object]] = {
            "visit": partial(room.visit, who, view=VIEW),
            "answer": partial(room.answer, who, answer),
            "leave": partial(room.leave, who),
            "panel": partial(room.panel, who),
            "end": partial(room.end, who),
            "show": partial(room.panel, who, show=1),
            "admit": partial(room.panel, who, admit=True),
            "open": partial(room.rooms.open, who, RoomOpenRequest(view=VIEW)),
        }
        try:
            calls[act]()
        except RoomError:
            continue
        assert act not in ("panel", "end", "show", "admit")
        if act == "answer":
            first.setdefault(who.visitor, answer)
    expected = {answer: [*first.values()].count(answer) for answer in first.values()}
    assert room.counts().get(LOOK_UP, {}) == expected
    assert room.panel().members <= 5 + MAX_PER_ADDRESS and room.panel().shown is None


def test_the_code_of_a_link_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def draw(link: str) -> str:
        drawn.append(link)
        return f"<svg {link}>"

    monkeypatch.setattr("headlight_app.room.rooms.code_picture", draw)
    room = Class()
    pictures = {room.panel().picture for _ in range(5)}
    assert drawn == [room.panel().link] and pictures == {f"<svg {drawn[0]}>"}
