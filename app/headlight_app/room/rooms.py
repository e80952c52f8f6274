"""The rooms of one server: who teaches which, who is in it, and the first answer of each student.

A browser is known by its visitor's cookie, so whoever reloads goes on, and a code alone opens nothing of the teacher's.
All that a room holds is bounded. It is gone once it ends or expires.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic

from headlight.errors import HeadlightError
from headlight_app.access.addresses import code_picture
from headlight_app.access.visitor import UNKNOWN_VISITOR
from headlight_app.room.contract import (
    MAX_MEMBERS,
    Count,
    QuestionCounts,
    RoomAnswerRequest,
    RoomDone,
    RoomEndRequest,
    RoomLeaveRequest,
    RoomOpenRequest,
    RoomPanelAnswer,
    RoomPanelRequest,
    RoomVisitAnswer,
    RoomVisitRequest,
    ShownMember,
    View,
)

LETTERS = "BCDFGHJKMNPQRSTVWXZ23456789"  # without vowels, which make words, and without what looks alike
CODE_LENGTH = 5
ROOM_SECONDS = 4 * 3600.0
HERE_SECONDS = 20.0  # since a browser was last heard of
IDLE_SECONDS = 600.0  # after which a room that nobody is in gives way to a new one
MAX_ROOMS, MAX_ROOMS_PER_ADDRESS = 40, 8
MAX_PER_ADDRESS = 4  # members, unless the teacher admits more: a class may share one address
MAX_ANSWERS = 40  # of one member
MAX_QUESTIONS = 40  # that a teacher sees


class RoomError(HeadlightError):
    """Something that a room does not allow."""


@dataclass(frozen=True)
class Browser:
    """Who asks: the visitor, their network address, and where the browsers of others find this server."""

    visitor: str
    address: str
    site: str


@dataclass
class Member:
    """A student: a number, where they are, and the first answer to each question by its place."""

    number: int
    address: str
    seen: float = 0.0
    place: str = ""
    answers: dict[str, str] = field(default_factory=dict)


@dataclass
class Room:
    """A room. `members` are found by their visitors, `answered` says when a question was last answered.

    `asked` is the number of the student whose view the teacher wants to show, 0 for none.
    """

    code: str
    teacher: str
    address: str
    view: View
    link: str
    ends: float
    seen: float
    members: dict[str, Member] = field(default_factory=dict)
    answered: dict[str, float] = field(default_factory=dict)
    per_address: int = MAX_PER_ADDRESS
    refused: set[str] = field(default_factory=set)
    asked: int = 0
    shown: View | None = None


class Rooms:
    """The rooms that are open, by their codes."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.rooms: dict[str, Room] = {}

    def open(self, browser: Browser, request: RoomOpenRequest) -> RoomPanelAnswer:
        """Open a room. Raises RoomError where there are too many."""
        _require_visitor(browser)
        self.drop_expired()
        for room in [room for room in self.rooms.values() if room.teacher == browser.visitor]:
            del self.rooms[room.code]
        self._make_space(browser.address)
        code = next(code for code in _codes() if code not in self.rooms)
        now = self.clock()
        room = Room(
            code=code,
            teacher=browser.visitor,
            address=browser.address,
            view=request.view,
            link=f"{browser.site}/room/{code}",
            ends=now + ROOM_SECONDS,
            seen=now,
        )
        self.rooms[code] = room
        return self._panel(room)

    def panel(self, browser: Browser, request: RoomPanelRequest) -> RoomPanelAnswer:
        """What the teacher sees, once what they decide is done. Raises RoomError for anybody else."""
        room = self._own_room(browser, request.code)
        room.seen = self.clock()
        if request.show is not None:
            room.asked, room.shown = request.show, None
        if request.admit:
            room.per_address = MAX_MEMBERS
            room.refused.clear()
        return self._panel(room)

    def end(self, browser: Browser, request: RoomEndRequest) -> RoomDone:
        """End a room with all that is in it. Raises RoomError for anybody but its teacher."""
        del self.rooms[self._own_room(browser, request.code).code]
        return RoomDone()

    def visit(self, browser: Browser, request: RoomVisitRequest) -> RoomVisitAnswer:
        """A browser is in a room. Raises RoomError where there is no such room, or no space in it."""
        room = self._room(request.code)
        if browser.visitor == room.teacher:
            return RoomVisitAnswer(role="teacher")
        member = room.members.get(browser.visitor) or _join(room, browser)
        if member is None:
            return RoomVisitAnswer(role="waiting")
        member.seen, member.place = self.clock(), request.place
        is_shown = member.number == room.asked
        if is_shown and request.view:
            room.shown = request.view
        return RoomVisitAnswer(role="student", number=member.number, is_shown=is_shown)

    def answer(self, browser: Browser, request: RoomAnswerRequest) -> RoomDone:
        """Keep the first answer of a member to a question. Raises RoomError for a browser that is in no such room."""
        room = self._room(request.code)
        member = _member(room, browser)
        if request.place not in member.answers and len(member.answers) < MAX_ANSWERS:
            member.answers[request.place] = request.answer
            room.answered[request.place] = self.clock()
        return RoomDone()

    def leave(self, browser: Browser, request: RoomLeaveRequest) -> RoomDone:
        """A member is here no more; what they answered stays."""
        member = _member(self._room(request.code), browser)
        member.seen, member.place = -HERE_SECONDS, ""
        return RoomDone()

    def view_of(self, code: str) -> View | None:
        """Where a room's link leads; None where there is no such room."""
        self.drop_expired()
        room = self.rooms.get(code)
        return room.view if room else None

    def drop_expired(self) -> None:
        """Forget the rooms whose time is over."""
        now = self.clock()
        for room in [room for room in self.rooms.values() if now >= room.ends]:
            del self.rooms[room.code]

    def _room(self, code: str) -> Room:
        self.drop_expired()
        room = self.rooms.get(code)
        if room is None:
            raise RoomError(f"There is no room {code} here, or it has ended. Ask your teacher for the link.")
        return room

    def _own_room(self, browser: Browser, code: str) -> Room:
        room = self._room(code)
        if browser.visitor != room.teacher:
            raise RoomError(f"Only the browser that opened the room {code} can do this.")
        return room

    def _make_space(self, address: str) -> None:
        """Where there are too many rooms, drop those that stand empty. Raises RoomError where that is not enough."""

        def is_full() -> bool:
            own = sum(room.address == address for room in self.rooms.values())
            return len(self.rooms) >= MAX_ROOMS or own >= MAX_ROOMS_PER_ADDRESS

        now = self.clock()
        if is_full():
            idle = [room for room in self.rooms.values() if now - room.seen > IDLE_SECONDS and not self._present(room)]
            for room in idle:
                del self.rooms[room.code]
        if is_full():
            raise RoomError("This server has no space for another room now. End one, or try again in ten minutes.")

    def _present(self, room: Room) -> list[Member]:
        now = self.clock()
        return [member for member in room.members.values() if now - member.seen < HERE_SECONDS]

    def _panel(self, room: Room) -> RoomPanelAnswer:
        present = self._present(room)
        return RoomPanelAnswer(
            code=room.code,
            view=room.view,
            link=room.link,
            picture=code_picture(room.link),
            seconds_left=round(room.ends - self.clock()),
            members=len(room.members),
            present=len(present),
            refused=len(room.refused),
            places=_counts(Counter(member.place for member in present)),
            questions=_questions(room),
            shown=ShownMember(number=room.asked, view=room.shown) if room.asked else None,
        )


def _join(room: Room, browser: Browser) -> Member | None:
    """A new member; None where others of the network address are in the room. Raises RoomError where it is full."""
    _require_visitor(browser)
    if len(room.members) >= MAX_MEMBERS:
        raise RoomError(f"The room {room.code} is full: it has {MAX_MEMBERS} members.")
    if sum(member.address == browser.address for member in room.members.values()) >= room.per_address:
        if len(room.refused) < MAX_MEMBERS:
            room.refused.add(browser.visitor)
        return None
    member = Member(len(room.members) + 1, browser.address)
    room.members[browser.visitor] = member
    return member


def _member(room: Room, browser: Browser) -> Member:
    member = room.members.get(browser.visitor)
    if member is None:
        raise RoomError(f"This browser is not in the room {room.code}. Open its link first.")
    return member


def _questions(room: Room) -> tuple[QuestionCounts, ...]:
    """The most answered questions, so that nobody pushes them out by answers to invented ones."""
    counts: dict[str, Counter[str]] = {}
    for member in room.members.values():
        for place, answer in member.answers.items():
            counts.setdefault(place, Counter())[answer] += 1
    most = sorted(counts, key=lambda place: counts[place].total(), reverse=True)[:MAX_QUESTIONS]
    latest = sorted(most, key=lambda place: room.answered[place], reverse=True)
    return tuple(QuestionCounts(place=place, answers=_counts(counts[place])) for place in latest)


def _counts(counter: Counter[str]) -> tuple[Count, ...]:
    return tuple(Count(name=name, count=count) for name, count in counter.most_common())


def _codes() -> Iterator[str]:
    while True:
        yield "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def _require_visitor(browser: Browser) -> None:
    if browser.visitor == UNKNOWN_VISITOR:
        raise RoomError("Your browser sends no cookie of this server, by which a room knows it. Allow cookies here.")
