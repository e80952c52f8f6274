"""Requests of a room, in which the browsers of a class answer to their teacher without accounts.

The process that serves people answers them itself: `headlight_app.room.rooms`. Nothing that a student sends is text of
their own but typed answers, and the view that the teacher asks for.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from headlight_app.contract.request import Answer, ServerRequest

MAX_MEMBERS = 120  # of a room
MAX_ANSWER = 200  # characters
Code = Annotated[str, Meta(max_length=12)]
Place = Annotated[
    str, Meta(pattern=r"\A([a-z0-9_-]{1,40}(/[a-z0-9_-]{1,40}){0,3})?\Z", description="a place such as a/b")
]
MemberNumber = Annotated[int, Meta(ge=0, le=MAX_MEMBERS, description=f"a number from 0 to {MAX_MEMBERS}")]


class View(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page and all that is chosen on it, as an address without "?" says it."""

    page: Annotated[str, Meta(pattern=r"\A[a-z-]{0,20}\Z", description="the name of a page")] = ""
    query: Annotated[str, Meta(pattern=r"\A[\x21-\x7e]*\Z", max_length=20_000, description="a query")] = ""


class Count(Struct, frozen=True, kw_only=True):
    """How many students gave an answer, or are at a place."""

    name: str
    count: int


class QuestionCounts(Struct, frozen=True, kw_only=True):
    """The first answers to the question at a place, the most frequent first."""

    place: str
    answers: tuple[Count, ...]


class ShownMember(Struct, frozen=True, kw_only=True):
    """The student whose view the teacher has asked for, and the view once it has come."""

    number: int
    view: View | None


class RoomPanelAnswer(Answer, frozen=True, kw_only=True):
    """What only the teacher of a room learns.

    `link` leads to `view`. `members` have joined, `present` of them are here now. `refused` are those whose network
    address has as many members as it may have. `places` are where students are, `questions` the most answered ones, the
    last answered first.
    """

    code: str
    view: View
    link: str
    picture: str
    seconds_left: int
    members: int
    present: int
    refused: int
    places: tuple[Count, ...]
    questions: tuple[QuestionCounts, ...]
    shown: ShownMember | None


class RoomVisitAnswer(Answer, frozen=True, kw_only=True):
    """What a browser in a room learns: what it is there, its number if it is a student's, and whether it is shown.

    It is waiting where its network address has as many members as it may have.
    """

    role: Literal["teacher", "student", "waiting"]
    number: int = 0
    is_shown: bool = False


class RoomDone(Answer, frozen=True, kw_only=True):
    """It is done."""


class RoomOpenRequest(ServerRequest[RoomPanelAnswer], frozen=True, kw_only=True):
    """Opens a room, whose link leads to a view, in place of the one that its teacher had open."""

    route: ClassVar[str] = "room_open"

    view: View


class RoomPanelRequest(ServerRequest[RoomPanelAnswer], frozen=True, kw_only=True):
    """What the teacher sees.

    `show` asks for the view of one student (0: of none), `admit` lifts the limit of members by network address.
    """

    route: ClassVar[str] = "room_panel"

    code: Code
    show: MemberNumber | None = None
    admit: bool = False


class RoomEndRequest(ServerRequest[RoomDone], frozen=True, kw_only=True):
    """Ends a room of one's own."""

    route: ClassVar[str] = "room_end"

    code: Code


class RoomVisitRequest(ServerRequest[RoomVisitAnswer], frozen=True, kw_only=True):
    """A browser is in a room, at a place. It joins with the first; `view` counts where the teacher has asked for it."""

    route: ClassVar[str] = "room_visit"

    code: Code
    place: Place = ""
    view: View | None = None


class RoomAnswerRequest(ServerRequest[RoomDone], frozen=True, kw_only=True):
    """A student's answer to the question at a place. The first one counts."""

    route: ClassVar[str] = "room_answer"

    code: Code
    place: Place
    answer: Annotated[str, Meta(max_length=MAX_ANSWER)]


class OfferedScenesAnswer(Answer, frozen=True, kw_only=True):
    """The name of a file of scenes and its text; both empty where the server has none for this browser."""

    name: str = ""
    text: str = ""


class OfferedScenesRequest(ServerRequest[OfferedScenesAnswer], frozen=True, kw_only=True):
    """The scenes with which a server was started, for the person at its machine."""

    route: ClassVar[str] = "offered_scenes"


class RoomLeaveRequest(ServerRequest[RoomDone], frozen=True, kw_only=True):
    """A student leaves. The answers given stay, so that nobody answers twice by coming back."""

    route: ClassVar[str] = "room_leave"

    code: Code
