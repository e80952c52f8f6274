"""A request: what it is called, which workers answer it, and which models and pictures it names."""

from __future__ import annotations

from abc import abstractmethod
from enum import StrEnum
from typing import Annotated, ClassVar, Generic, TypeVar

from msgspec import Meta, Struct

from headlight_app.contract.question import Device, Name, Question, Text

MAX_CLIENT_LENGTH = 64  # characters by which a part of a page is told from others of the same visitor
LONG_TEXT = 4_000  # characters from which on an answer is long work


class Lane(StrEnum):
    """Which workers answer: those for letters, those for long work, or one that serves this visitor alone."""

    SHORT, LONG, PRIVATE = "short", "long", "private"


class Answer(Struct, frozen=True, kw_only=True):
    """The header of an answer; its numbers follow as bytes."""


A_co = TypeVar("A_co", bound=Answer, covariant=True)


class Request(Struct, Generic[A_co], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that the engine is asked, under the name `route`, for at most `seconds`.

    Where `is_http`, components ask it as /api/ROUTE; all else is asked by pages alone. One that `is_local` reads or
    writes files of the page's machine, so it is answered there, wherever the workers are. One that `is_private` depends
    on what the visitor brought, though it does not name it. A newer request of a `client_id` replaces older ones. Where
    `shares_runs`, questions of several people to one model are answered along with each other.
    """

    route: ClassVar[str]
    lane: ClassVar[Lane] = Lane.SHORT
    seconds: ClassVar[float] = 10.0
    is_http: ClassVar[bool] = True
    is_local: ClassVar[bool] = False
    is_private: ClassVar[bool] = False
    shares_runs: ClassVar[bool] = False

    client_id: Annotated[str, Meta(max_length=MAX_CLIENT_LENGTH)] = ""
    request_number: Annotated[int, Meta(ge=0, lt=2**53)] = 0

    @abstractmethod
    def questions(self) -> tuple[Question, ...]:
        """Every question inside, so that the server finds the models and pictures that it names."""

    def models(self) -> tuple[str, ...]:
        """The names of all models that the answer may need."""
        return tuple(question.model for question in self.questions())

    def images(self) -> tuple[str, ...]:
        """The names of all pictures and recordings that the answer may need."""
        return tuple(filter(None, (name for each in self.questions() for name in (each.image, each.patch_from))))

    def texts(self) -> tuple[str, ...]:
        """All texts that a model may have to read."""
        return tuple(
            text for question in self.questions() for text in (question.text, question.source, question.patch_from)
        )

    def alike(self) -> str:
        """A mark that requests have in common which may be answered along with each other; empty where none may."""
        return "\n".join((self.route, *self.models())) if self.shares_runs and not self.images() else ""

    def wanted_lane(self) -> Lane:
        """The workers that answer it where it names nothing of the visitor's own: long texts are long work."""
        return Lane.LONG if any(len(text) > LONG_TEXT for text in self.texts()) else self.lane


class QuestionRequest(Request[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about one question."""

    question: Question

    def questions(self) -> tuple[Question, ...]:
        """The one question."""
        return (self.question,)


class PageRequest(Request[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request that names no question: what pages and components ask of the server itself."""

    def questions(self) -> tuple[Question, ...]:
        """None."""
        return ()


class ServerRequest(PageRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request that the process which serves people answers itself: no model is needed, and the engine not asked."""


class OpenedRequest(PageRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """The choices that decide what a page shows first."""

    is_http: ClassVar[bool] = False
    seconds: ClassVar[float] = 60.0

    model: Name
    device: Device = "auto"
    source: Text | None = None
    image: Name = ""

    def questions(self) -> tuple[Question, ...]:
        """The model as it opens."""
        return (Question(model=self.model, source=self.source or "", image=self.image, device=self.device),)
