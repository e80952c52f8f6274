"""Requests: their routes, the workers that answer them, and the models and pictures that they name."""

from __future__ import annotations

from abc import abstractmethod
from enum import StrEnum
from typing import Annotated, ClassVar, Generic, TypeVar

from msgspec import Meta, Struct

from headlight_app.contract.question import Device, Name, Question, Text

MAX_CLIENT_LENGTH = 64  # characters of the id of a part of a page
LONG_TEXT = 4_000  # characters; a longer text counts as long work


class Lane(StrEnum):
    """The workers that answer: those for keystrokes, those for long work, or one that serves a single visitor."""

    SHORT, LONG, PRIVATE = "short", "long", "private"


class Answer(Struct, frozen=True, kw_only=True):
    """The header of an answer; its binary numbers follow."""


A_co = TypeVar("A_co", bound=Answer, covariant=True)


class Request(Struct, Generic[A_co], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to the engine, named by its `route`, which may take `seconds`.

    If `is_http`, components send it to /api/ROUTE; otherwise only pages send it. If `is_local`, it reads or writes
    files of the server's machine, so it is answered there, wherever the workers are. If `is_private`, it depends on the
    visitor's uploads without naming them. A newer request of a `client_id` replaces older ones. If `shares_runs`,
    questions of several visitors to one model are answered together.
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
        """All questions in the request, from which the server finds the models and pictures that it names."""

    def models(self) -> tuple[str, ...]:
        """The names of all models that the answer may need."""
        return tuple(question.model for question in self.questions())

    def images(self) -> tuple[str, ...]:
        """The names of all pictures and recordings that the answer may need."""
        return tuple(filter(None, (name for each in self.questions() for name in (each.image, each.patch_from))))

    def texts(self) -> tuple[str, ...]:
        """All texts that a model may read."""
        return tuple(
            text for each in self.questions() for text in (each.text, each.source, each.text_pair, each.patch_from)
        )

    def alike(self) -> str:
        """A key: requests with the same key may be answered together; empty if this one may not be."""
        return "\n".join((self.route, *self.models())) if self.shares_runs and not self.images() else ""

    def wanted_lane(self) -> Lane:
        """The lane if the request needs nothing of the visitor's own: long texts are long work."""
        return Lane.LONG if any(len(text) > LONG_TEXT for text in self.texts()) else self.lane


class QuestionRequest(Request[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about one question."""

    question: Question

    def questions(self) -> tuple[Question, ...]:
        """The one question."""
        return (self.question,)


class PageRequest(Request[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request without a question, from a page, a component or the server."""

    def questions(self) -> tuple[Question, ...]:
        """None."""
        return ()


class ServerRequest(PageRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request that the server process answers itself, without the engine or a model."""


class OpenedRequest(PageRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """The choices that determine what a page shows first."""

    is_http: ClassVar[bool] = False
    seconds: ClassVar[float] = 60.0

    model: Name
    device: Device = "auto"
    source: Text | None = None
    image: Name = ""

    def questions(self) -> tuple[Question, ...]:
        """The model as it opens."""
        return (Question(model=self.model, source=self.source or "", image=self.image, device=self.device),)
