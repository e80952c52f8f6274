"""The views of pages, as JSON: those that the browser does not show yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np

from headlight.registry import Registry
from headlight.views.encoding import plain, plain_rows
from headlight.views.kinds import View
from headlight.views.rows import Row
from headlight_app.contract.reply import Reply
from headlight_app.contract.state import State
from headlight_app.contract.views import ViewsAnswer, ViewsRequest
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

DIGEST_SIZE = 9  # bytes


@dataclass(frozen=True)
class ShownPage:
    """What a page shows; the other fields are those of a ViewsAnswer."""

    rows: tuple[Row | View | str, ...]
    title: str
    about: str
    program: Mapping[str, str | int | None]


@dataclass(frozen=True)
class PagesOfViews:
    """What each page of views shows, by its path."""

    pages: Registry[Callable[[ResolvedQuestion, State], ShownPage]]

    def answer(self, request: ViewsRequest) -> Reply[ViewsAnswer]:
        """The views of a page. Raises HeadlightError."""
        shown = self.pages[request.page](resolve(request.question), request.choice)
        known = frozenset(request.known)
        rows = plain_rows(
            shown.rows, with_tables=request.with_tables, plain_view=lambda view: _plain_unless_known(view, known)
        )
        return Reply(ViewsAnswer(rows=rows, title=shown.title, about=shown.about, program=plain(shown.program)))


def _plain_unless_known(view: View, known: Collection[str]) -> dict[str, Any]:
    digest = digest_of(view)
    return {"digest": digest} | ({} if digest in known else plain(view))


def digest_of(view: View) -> str:
    """A short text that changes with any value of the view; arrays are read as bytes, which is fast."""
    content = msgspec.msgpack.encode((view.kind, view), enc_hook=_readable)
    return blake2b(content, digest_size=DIGEST_SIZE).hexdigest()


def _readable(value: Any) -> Any:
    """What msgspec reads instead of a value: an array as its type, shape and bytes, a tensor or a range as a list."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return dict(value)
    return value.tolist() if hasattr(value, "tolist") else list(value)
