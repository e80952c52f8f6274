"""Views, typed values that are drawn and saved without code of their own: those of a page, and of its parts."""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, TypeVar

from msgspec import Meta

from headlight_app.contract.parts import Fields
from headlight_app.contract.request import Answer, Lane, QuestionRequest
from headlight_app.contract.state import DEFAULT_STATE, Label, State

A_co = TypeVar("A_co", bound=Answer, covariant=True)

MAX_KNOWN = 1_000  # views that a browser shows


class RowsRequest(QuestionRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """Requests rows of views; `choice` has the fields that they read.

    `with_tables`: with the numbers to be saved, which are more than those that are shown.
    """

    choice: State = DEFAULT_STATE
    with_tables: bool = False

    def images(self) -> tuple[str, ...]:
        """The images of the question, and the one to patch from."""
        return (*QuestionRequest.images(self), *filter(None, [self.choice.patch_from]))

    def texts(self) -> tuple[str, ...]:
        """The texts of the question, the one to patch from, and those to compare with and to exchange words of."""
        choice = self.choice
        return *QuestionRequest.texts(self), choice.patch_from, choice.other_text, choice.order_text


class ViewsAnswer(Answer, frozen=True, kw_only=True):
    """Rows of views, each view with its `digest`; of one that the browser shows already, only that is sent.

    `title` names the saved figures, and `about` completes their descriptions. `program` are the fields of the request
    for a program that computes the numbers.
    """

    rows: tuple[Fields, ...]
    title: str
    about: str
    program: Fields


class ViewsRequest(RowsRequest[ViewsAnswer], frozen=True, kw_only=True):
    """The views of a page; `known` are the digests of those that the browser shows."""

    route: ClassVar[str] = "views"

    page: Label
    known: Annotated[tuple[Label, ...], Meta(max_length=MAX_KNOWN)] = ()

    def wanted_lane(self) -> Lane:
        """The long lane for the numbers to be saved, which may be millions."""
        return Lane.LONG if self.with_tables else super().wanted_lane()
