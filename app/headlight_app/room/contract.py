"""Requests of a room, in which the browsers of a class send answers to their teacher without accounts.

The server process answers them itself, in `headlight_app.room.rooms`. What a student types reaches it as a typed
answer, in a hand-in, as a nickname that the teacher asks for, and in a view that the teacher requests.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from headlight_app.contract.request import Answer, ServerRequest

MAX_MEMBERS = 120  # per room
MAX_QUERY = 20_000  # characters of a page's choices
MAX_ANSWER = 200  # characters
MAX_HAND_IN = 20_000  # characters; what a room keeps is bounded in bytes
Code = Annotated[str, Meta(max_length=12)]
# A page, a course screen or a lesson's step. Each has one form, so that no student answers a question twice.
_NAME = "[a-z0-9_-]{1,40}"
PLACE = rf"\A([a-z-]{{1,20}}|course/{_NAME}(/{_NAME})?|lesson/{_NAME}(/(0|[1-9][0-9]?))?)?\Z"
Place = Annotated[str, Meta(pattern=PLACE, description="a place such as course/a/b or lesson/a/0")]
LessonPlace = Annotated[str, Meta(pattern=rf"\Alesson/{_NAME}\Z", description="a lesson such as lesson/a")]
Variant = Annotated[str, Meta(pattern=r"\A([0-9]{1,15}|other)?\Z", description='a lesson\'s seed, "other" or nothing')]
Nickname = Annotated[str, Meta(pattern=r"\A[\w .'’-]{0,20}\Z", description="at most 20 letters and digits")]
MemberNumber = Annotated[int, Meta(ge=0, le=MAX_MEMBERS, description=f"a number from 0 to {MAX_MEMBERS}")]


class View(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page and all choices on it, as a query string without "?"."""

    page: Annotated[str, Meta(pattern=r"\A[a-z-]{0,20}\Z", description="the name of a page")] = ""
    query: Annotated[str, Meta(pattern=r"\A[\x21-\x7e]*\Z", max_length=MAX_QUERY, description="a query")] = ""


class Count(Struct, frozen=True, kw_only=True):
    """The number of students with an answer, or at a place."""

    name: str
    count: int


class AnswerCount(Count, frozen=True, kw_only=True):
    """The number of students with an answer to one variant of a question.

    The variant is the seed of a lesson's text and numbers; "" is a screen as it opens, "other" one that the student has
    changed.
    """

    variant: str


class QuestionCounts(Struct, frozen=True, kw_only=True):
    """The first answers to the question at a place, the most frequent first."""

    place: str
    answers: tuple[AnswerCount, ...]


class Nicknamed(Struct, frozen=True, kw_only=True):
    """A student who has given a nickname."""

    number: int
    name: str


class HandedIn(Struct, frozen=True, kw_only=True):
    """A student's hand-in file of a lesson, as their browser sent it."""

    place: str
    number: int
    file: str


class ShownMember(Struct, frozen=True, kw_only=True):
    """The student whose view the teacher has requested, and the view once it has arrived."""

    number: int
    view: View | None


class NetworkSeats(Struct, frozen=True, kw_only=True):
    """The members of one network address, which the teacher sees by the number of its first member alone.

    `hand_ins` is the number of theirs.
    """

    first: int
    members: int
    hand_ins: int


class RoomPanelAnswer(Answer, frozen=True, kw_only=True):
    """The state of a room, for its teacher only.

    `link` opens `view`. `members` students have joined, `present` of them are here now. `refused` browsers are waiting
    because their network address has its maximum number of members. `places` counts students by place; `questions` are
    those with the most answers, the last answered first. `hand_ins` counts those of each lesson. `networks` have more
    members than one address may have unless the teacher admits more.
    """

    code: str
    view: View
    link: str
    picture: str
    seconds_left: int
    members: int
    present: int
    refused: int
    networks: tuple[NetworkSeats, ...]
    places: tuple[Count, ...]
    questions: tuple[QuestionCounts, ...]
    hand_ins: tuple[Count, ...]
    wants_nicknames: bool
    nicknames: tuple[Nicknamed, ...]
    shown: ShownMember | None


class RoomVisitAnswer(Answer, frozen=True, kw_only=True):
    """A browser's role in a room, a student's number, and whether the teacher requested this student's view.

    The role is "waiting" if the browser's network address has its maximum number of members. `brought` is how often the
    teacher has brought the class to a view, and `view` is the last of them until the browser has gone there.
    """

    role: Literal["teacher", "student", "waiting"]
    number: int = 0
    is_shown: bool = False
    brought: int = 0
    view: View | None = None
    wants_nickname: bool = False


class RoomDone(Answer, frozen=True, kw_only=True):
    """An empty answer: the request succeeded."""


class RoomOpenRequest(ServerRequest[RoomPanelAnswer], frozen=True, kw_only=True):
    """Opens a room whose link leads to a view.

    It replaces the teacher's previous room, unless that one holds hand-ins: then that one is opened again.
    """

    route: ClassVar[str] = "room_open"

    view: View


class RoomPanelRequest(ServerRequest[RoomPanelAnswer], frozen=True, kw_only=True):
    """The teacher's view of the room, after applying the teacher's decisions.

    `show` requests the view of one student (0: of none), `admit` lifts the limit of members per network address. `free`
    removes the members of the network address of this student with their answers, and sets its limit again. `bring`
    leads all students to a view, and those who come later. `nicknames`: whether students may give one.
    """

    route: ClassVar[str] = "room_panel"

    code: Code
    show: MemberNumber | None = None
    admit: bool = False
    free: MemberNumber = 0
    bring: View | None = None
    nicknames: bool | None = None


class RoomEndRequest(ServerRequest[RoomDone], frozen=True, kw_only=True):
    """Ends the teacher's own room."""

    route: ClassVar[str] = "room_end"

    code: Code


class RoomVisitRequest(ServerRequest[RoomVisitAnswer], frozen=True, kw_only=True):
    """Reports a browser's place in a room. The first visit joins; `view` is used only if the teacher requested it.

    `brought` is the last view of the class to which the browser has gone; `nickname` is kept if the teacher wants them.
    """

    route: ClassVar[str] = "room_visit"

    code: Code
    place: Place = ""
    view: View | None = None
    brought: Annotated[int, Meta(ge=0, lt=2**31)] = 0
    nickname: Nickname = ""


class RoomAnswerRequest(ServerRequest[RoomDone], frozen=True, kw_only=True):
    """A student's answer to the question at a place. Only the first answer counts."""

    route: ClassVar[str] = "room_answer"

    code: Code
    place: Place
    answer: Annotated[str, Meta(max_length=MAX_ANSWER)]
    variant: Variant = ""


class RoomHandInRequest(ServerRequest[RoomDone], frozen=True, kw_only=True):
    """A student's hand-in file of the lesson at a place; it replaces an earlier one."""

    route: ClassVar[str] = "room_hand_in"

    code: Code
    place: LessonPlace
    file: Annotated[str, Meta(max_length=MAX_HAND_IN)]


class RoomHandInsAnswer(Answer, frozen=True, kw_only=True):
    """All hand-ins of a room, for its teacher only."""

    files: tuple[HandedIn, ...]


class RoomHandInsRequest(ServerRequest[RoomHandInsAnswer], frozen=True, kw_only=True):
    """The hand-ins of the teacher's own room."""

    route: ClassVar[str] = "room_hand_ins"

    code: Code


class OfferedScenesAnswer(Answer, frozen=True, kw_only=True):
    """The name and text of a file of scenes; both empty if the server has none for this browser."""

    name: str = ""
    text: str = ""


class OfferedScenesRequest(ServerRequest[OfferedScenesAnswer], frozen=True, kw_only=True):
    """The scenes given at server start, for browsers on the server's machine."""

    route: ClassVar[str] = "offered_scenes"


class RoomLeaveRequest(ServerRequest[RoomDone], frozen=True, kw_only=True):
    """A student leaves. Their answers are kept, so that a returning student cannot answer twice."""

    route: ClassVar[str] = "room_leave"

    code: Code
