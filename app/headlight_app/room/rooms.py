"""The rooms of one server: their teachers, their members, and each student's first answers.

Browsers are identified by the visitor's cookie, so a reload keeps the membership, and the code alone gives no access to
the teacher's panel. The size of a room is bounded. A room is deleted when it ends or expires.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic

import msgspec

from headlight.errors import HeadlightError
from headlight.lessons.hand_in_file import read_hand_in
from headlight_app.access.addresses import code_picture
from headlight_app.access.visitor import UNKNOWN_VISITOR
from headlight_app.room.contract import (
    MAX_MEMBERS,
    AnswerCount,
    Count,
    HandedIn,
    NetworkSeats,
    Nicknamed,
    QuestionCounts,
    RoomAnswerRequest,
    RoomDone,
    RoomEndRequest,
    RoomHandInRequest,
    RoomHandInsAnswer,
    RoomHandInsRequest,
    RoomLeaveRequest,
    RoomOpenRequest,
    RoomPanelAnswer,
    RoomPanelRequest,
    RoomVisitAnswer,
    RoomVisitRequest,
    ShownMember,
    View,
)

LETTERS = "BCDFGHJKMNPQRSTVWXZ23456789"  # no vowels, which could form words, and no similar-looking characters
CODE_LENGTH = 5
ROOM_SECONDS = 4 * 3600.0
HERE_SECONDS = 20.0  # since a browser's last request
IDLE_SECONDS = 600.0  # after which an empty room may be replaced by a new one
YOUNG_SECONDS = 60.0  # in which students may come; later a room with few of them gives way if its address has too many
MAX_ROOMS, MAX_ROOMS_PER_ADDRESS = 40, 8
MAX_PER_ADDRESS = 4  # members, unless the teacher admits more: a class may share one address
MAX_ANSWERS = 40  # per member
MAX_QUESTIONS = 40  # shown to the teacher
MAX_HAND_INS = 4  # lessons that a member hands in
MAX_HAND_IN_BYTES = 16_000  # of a member as JSON: a teacher sends those of a room to a worker in one request


class RoomError(HeadlightError):
    """A room does not allow a request."""


@dataclass(frozen=True)
class Browser:
    """The requesting browser: its visitor, its network address, and the URL at which others reach this server."""

    visitor: str
    address: str
    site: str


@dataclass
class Member:
    """A student: their number, their current place, and by place their first answers and their hand-ins.

    An answer has the variant of its question. `brought` is the last view of the class to which they have gone.
    """

    number: int
    address: str
    seen: float = 0.0
    place: str = ""
    brought: int = 0
    nickname: str = ""
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)
    hand_ins: dict[str, str] = field(default_factory=dict)


@dataclass
class Room:
    """A room. `members` are keyed by visitor, `answered` maps a question's place to the time of its last answer.

    `asked` is the number of the student whose view the teacher wants to show, 0 for none. `brought` is how often the
    teacher has brought the class to `view`.
    """

    code: str
    teacher: str
    address: str
    view: View
    link: str
    picture: str
    opened: float
    ends: float
    seen: float
    members: dict[str, Member] = field(default_factory=dict)
    answered: dict[str, float] = field(default_factory=dict)
    per_address: int = MAX_PER_ADDRESS
    limited: set[str] = field(default_factory=set)  # addresses that the teacher has freed seats of
    refused: set[str] = field(default_factory=set)
    asked: int = 0
    shown: View | None = None
    brought: int = 0
    wants_nicknames: bool = False


class Rooms:
    """The open rooms by their codes."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.rooms: dict[str, Room] = {}

    def open(self, browser: Browser, request: RoomOpenRequest) -> RoomPanelAnswer:
        """Open a room, or the teacher's own again if it holds hand-ins. Raises RoomError if there are too many."""
        _require_visitor(browser)
        self.drop_expired()
        for own in [room for room in self.rooms.values() if room.teacher == browser.visitor]:
            if _hand_ins(own):
                return self._panel(own)
            del self.rooms[own.code]
        self._make_space(browser.address)
        code = next(code for code in _codes() if code not in self.rooms)
        now, link = self.clock(), f"{browser.site}/room/{code}"
        room = Room(
            code=code,
            teacher=browser.visitor,
            address=browser.address,
            view=request.view,
            link=link,
            picture=code_picture(link),  # drawn once: the panel is asked for every two seconds
            opened=now,
            ends=now + ROOM_SECONDS,
            seen=now,
        )
        self.rooms[code] = room
        return self._panel(room)

    def panel(self, browser: Browser, request: RoomPanelRequest) -> RoomPanelAnswer:
        """Apply the teacher's decisions and return the panel. Raises RoomError for other visitors."""
        room = self._own_room(browser, request.code)
        room.seen = self.clock()
        if request.show is not None:
            room.asked, room.shown = request.show, None
        if request.free:
            _free(room, request.free)
        if request.admit:
            room.per_address = MAX_MEMBERS
            room.limited.clear()
            room.refused.clear()
        if request.bring:
            room.view, room.brought = request.bring, room.brought + 1
        if request.nicknames is not None:
            _want_nicknames(room, request.nicknames)
        return self._panel(room)

    def end(self, browser: Browser, request: RoomEndRequest) -> RoomDone:
        """Delete a room and its answers. Raises RoomError unless the visitor is its teacher."""
        del self.rooms[self._own_room(browser, request.code).code]
        return RoomDone()

    def visit(self, browser: Browser, request: RoomVisitRequest) -> RoomVisitAnswer:
        """Record a browser's visit; the first one joins. Raises RoomError if the room does not exist or is full."""
        room = self._room(request.code)
        if browser.visitor == room.teacher:
            return RoomVisitAnswer(role="teacher")
        member = room.members.get(browser.visitor) or _join(room, browser)
        if member is None:
            return RoomVisitAnswer(role="waiting")
        member.seen, member.place = self.clock(), request.place
        member.brought = max(member.brought, min(request.brought, room.brought))
        if room.wants_nicknames and request.nickname.strip():
            member.nickname = request.nickname.strip()
        is_shown = member.number == room.asked
        if is_shown and request.view:
            room.shown = request.view
        return RoomVisitAnswer(
            role="student",
            number=member.number,
            is_shown=is_shown,
            brought=room.brought,
            view=room.view if member.brought < room.brought else None,
            wants_nickname=room.wants_nicknames and not member.nickname,
        )

    def answer(self, browser: Browser, request: RoomAnswerRequest) -> RoomDone:
        """Store a member's first answer to a question. Raises RoomError if the browser is not in the room."""
        room = self._room(request.code)
        member = _member(room, browser)
        if request.place not in member.answers and len(member.answers) < MAX_ANSWERS:
            member.answers[request.place] = request.answer, request.variant
            room.answered[request.place] = self.clock()
        return RoomDone()

    def hand_in(self, browser: Browser, request: RoomHandInRequest) -> RoomDone:
        """Keep a member's hand-in. Raises HeadlightError if it is none of this lesson, or if it is too much."""
        room = self._room(request.code)
        member = _member(room, browser)
        lesson = read_hand_in(request.file.encode()).lesson
        if request.place != f"lesson/{lesson}":
            raise RoomError(f"This is a hand-in of the lesson {lesson[:40]!r}, handed in as one of {request.place}.")
        kept = member.hand_ins | {request.place: request.file}
        if (
            len(kept) > MAX_HAND_INS
            or sum(len(msgspec.json.encode(file)) for file in kept.values()) > MAX_HAND_IN_BYTES
        ):
            raise RoomError(f"The room {room.code} keeps no more of you. Save your hand-in as a file for your teacher.")
        member.hand_ins = kept
        return RoomDone()

    def hand_ins(self, browser: Browser, request: RoomHandInsRequest) -> RoomHandInsAnswer:
        """All hand-ins of a room. Raises RoomError unless the visitor is its teacher."""
        return RoomHandInsAnswer(files=_hand_ins(self._own_room(browser, request.code)))

    def leave(self, browser: Browser, request: RoomLeaveRequest) -> RoomDone:
        """Mark a member as absent; their answers are kept."""
        member = _member(self._room(request.code), browser)
        member.seen, member.place = -HERE_SECONDS, ""
        return RoomDone()

    def view_of(self, code: str) -> View | None:
        """The view that a room's link opens; None if the room does not exist."""
        self.drop_expired()
        room = self.rooms.get(code)
        return room.view if room else None

    def drop_expired(self) -> None:
        """Delete expired rooms."""
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
        """Delete idle rooms if there are too many, else one with few students of the address that has the most.

        A room with hand-ins stays while its teacher is there. Raises RoomError if all of those have students or
        hand-ins, or have just been opened.
        """
        now = self.clock()
        if self._crowd(address):
            idle = [room for room in self.rooms.values() if now - room.seen > IDLE_SECONDS and not self._present(room)]
            for room in idle:
                del self.rooms[room.code]
        if not (crowd := self._crowd(address)):
            return
        present = {
            room.code: len(self._present(room))
            for room in crowd
            if now - room.opened > YOUNG_SECONDS and (now - room.seen > IDLE_SECONDS or not _hand_ins(room))
        }
        least = min(present, key=lambda code: present[code], default="")
        if not least or present[least] > MAX_PER_ADDRESS:
            raise RoomError("This server has no space for another room now. End one, or try again in a few minutes.")
        del self.rooms[least]

    def _crowd(self, address: str) -> list[Room]:
        """The rooms of which one has to go before this address opens another; the oldest first."""
        by_address: dict[str, list[Room]] = {address: []}
        for room in self.rooms.values():
            by_address.setdefault(room.address, []).append(room)
        if len(by_address[address]) >= MAX_ROOMS_PER_ADDRESS:
            return by_address[address]
        return max(by_address.values(), key=len) if len(self.rooms) >= MAX_ROOMS else []

    def _present(self, room: Room) -> list[Member]:
        now = self.clock()
        return [member for member in room.members.values() if now - member.seen < HERE_SECONDS]

    def _panel(self, room: Room) -> RoomPanelAnswer:
        present = self._present(room)
        return RoomPanelAnswer(
            code=room.code,
            view=room.view,
            link=room.link,
            picture=room.picture,
            seconds_left=round(room.ends - self.clock()),
            members=len(room.members),
            present=len(present),
            refused=len(room.refused),
            networks=_networks(room),
            places=_counts(Counter(member.place for member in present)),
            questions=_questions(room),
            hand_ins=_counts(Counter(each.place for each in _hand_ins(room))),
            wants_nicknames=room.wants_nicknames,
            nicknames=tuple(
                Nicknamed(number=each.number, name=each.nickname) for each in room.members.values() if each.nickname
            ),
            shown=ShownMember(number=room.asked, view=room.shown) if room.asked else None,
        )


def _join(room: Room, browser: Browser) -> Member | None:
    """A new member; None if their network address has its maximum of them. Raises RoomError if the room is full."""
    _require_visitor(browser)
    if len(room.members) >= MAX_MEMBERS:
        raise RoomError(f"The room {room.code} is full: it has {MAX_MEMBERS} members.")
    limit = MAX_PER_ADDRESS if browser.address in room.limited else room.per_address
    if sum(member.address == browser.address for member in room.members.values()) >= limit:
        if len(room.refused) < MAX_MEMBERS:
            room.refused.add(browser.visitor)
        return None
    taken = {member.number for member in room.members.values()}
    member = Member(next(number for number in range(1, MAX_MEMBERS + 1) if number not in taken), browser.address)
    room.members[browser.visitor] = member
    return member


def _free(room: Room, number: int) -> None:
    """Remove the members of the network address of a member, who may come back one by one."""
    address = next((member.address for member in room.members.values() if member.number == number), None)
    room.members = {visitor: member for visitor, member in room.members.items() if member.address != address}
    if address is not None:
        room.limited.add(address)
        room.asked, room.shown = 0, None


def _want_nicknames(room: Room, wants: bool) -> None:
    """Let students give nicknames, or forget those that they gave."""
    room.wants_nicknames = wants
    for member in room.members.values() if not wants else ():
        member.nickname = ""


def _networks(room: Room) -> tuple[NetworkSeats, ...]:
    """The network addresses with more than MAX_PER_ADDRESS members, the largest first."""
    seats: dict[str, list[Member]] = {}
    for member in room.members.values():
        seats.setdefault(member.address, []).append(member)
    return tuple(
        NetworkSeats(
            first=min(each.number for each in members),
            members=len(members),
            hand_ins=sum(len(each.hand_ins) for each in members),
        )
        for members in sorted(seats.values(), key=len, reverse=True)
        if len(members) > MAX_PER_ADDRESS
    )


def _member(room: Room, browser: Browser) -> Member:
    member = room.members.get(browser.visitor)
    if member is None:
        raise RoomError(f"This browser is not in the room {room.code}. Open its link first.")
    return member


def _questions(room: Room) -> tuple[QuestionCounts, ...]:
    """The questions with the most answers, so that answers to invented questions do not displace real ones."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for member in room.members.values():
        for place, answer in member.answers.items():
            counts.setdefault(place, Counter())[answer] += 1
    most = sorted(counts, key=lambda place: counts[place].total(), reverse=True)[:MAX_QUESTIONS]
    latest = sorted(most, key=lambda place: room.answered[place], reverse=True)
    return tuple(
        QuestionCounts(
            place=place,
            answers=tuple(
                AnswerCount(name=name, variant=variant, count=count)
                for (name, variant), count in counts[place].most_common()
            ),
        )
        for place in latest
    )


def _hand_ins(room: Room) -> tuple[HandedIn, ...]:
    return tuple(
        HandedIn(place=place, number=member.number, file=file)
        for member in room.members.values()
        for place, file in member.hand_ins.items()
    )


def _counts(counter: Counter[str]) -> tuple[Count, ...]:
    return tuple(Count(name=name, count=count) for name, count in counter.most_common())


def _codes() -> Iterator[str]:
    while True:
        yield "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def _require_visitor(browser: Browser) -> None:
    if browser.visitor == UNKNOWN_VISITOR:
        raise RoomError("Your browser sends no cookie of this server, so no room can recognize it. Allow cookies.")
