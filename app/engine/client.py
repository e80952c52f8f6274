"""Asks the engine in the name of the visitor for whom this thread works, and gives along what they brought."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import CancelledError
from functools import lru_cache
from threading import Condition
from time import monotonic
from typing import Any

from cachetools import LRUCache, cached

from app.access.images import image_store
from app.access.settings import settings
from app.access.uploads import upload_store
from app.access.visitor import current_visitor
from app.engine.engine import Engine
from app.engine.fair_queue import STOPPED
from app.engine.handlers import HANDLERS, Lane
from app.engine.job import EngineError, EngineRequest, Job, Stream, VisitorFolder
from app.ui.wire_format import unpack

IMAGE_FIELDS = ("image", "other_text")  # where a question names a picture
QUESTION_KEYS = ("", "side_a", "side_b")  # where a body holds a question: itself, or the two sides of a comparison
REFRESH_SECONDS = 10.0  # for which what the server offers is taken to be as it was
LONG_TEXT = 4_000  # characters from which on an answer is long work


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The one engine of this process; its workers start when they are first asked."""
    chosen = settings()
    return Engine(chosen.workers, chosen.upload_limit << 20, chosen.engine, is_shared=chosen.shared)


def ask(handler: str, body: Mapping[str, Any] | None = None, *, private: bool = False) -> tuple[dict[str, Any], bytes]:
    """Ask and wait, as pages do. Raises HeadlightError with the sentence for the person where there is no answer.

    `private`: the answer depends on what the visitor brought, though the body does not name it.
    """
    return unpack(_answer(handler, dict(body or {}), private))


def ask_shared(handler: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The same of what everybody gets the same answer to: those who ask it within REFRESH_SECONDS share one.

    What visitors brought themselves, and what is too long to keep, is answered to them alone. Raises HeadlightError as
    `ask` does.
    """
    encoded, own = json.dumps(body), upload_store().find(current_visitor(), str(body.get("model", "")))
    if own or len(encoded) > LONG_TEXT:
        return ask(handler, body)
    return unpack(_shared_answer(handler, encoded, int(monotonic() / REFRESH_SECONDS)))


@cached(LRUCache(256), condition=Condition())  # who comes at once with others waits for their answer
def _shared_answer(handler: str, body: str, tick: int) -> bytes:
    return _answer(handler, json.loads(body))


def _answer(handler: str, body: dict[str, Any], private: bool = False) -> bytes:
    job = submit(handler, body, private=private)
    try:
        return job.future.result()
    except CancelledError as error:
        raise EngineError(STOPPED) from error


def submit(handler: str, body: dict[str, Any], *, private: bool = False, stream: Stream | None = None) -> Job:
    """Put a request of the current visitor into the queue. Raises HeadlightError where it cannot be taken.

    What names a visitor's own checkpoint or picture is answered in a worker that holds nobody else's.
    """
    visitor = current_visitor()
    questions = [body if not key else body.get(key) for key in QUESTION_KEYS]
    asked = [question for question in questions if isinstance(question, dict)]
    own = {checkpoint.name: checkpoint for checkpoint in upload_store().owned_by(visitor)}
    models = {str(question.get("model", "")) for question in asked}
    for name in models:
        upload_store().find(visitor, name)  # says so where an upload is gone
    named = {str(question.get(field)) for question in asked for field in IMAGE_FIELDS}
    images = {name: image.data for name, image in image_store().find_own(visitor, named).items()}
    is_private = private or bool(images) or not own.keys().isdisjoint(models)
    folders = tuple(
        VisitorFolder(one.name, one.title, str(one.folder), str(one.upload_dir or ""))
        for one in own.values()
        if is_private
    )
    request = EngineRequest(handler, json.dumps(body).encode("ascii"), folders, images)
    lane = Lane.PRIVATE if is_private else Lane.LONG if _is_long(asked) else HANDLERS[handler].lane
    return engine().submit(visitor, request, lane=lane, stream=stream)


def check_image(data: bytes, *, recording: bool = False) -> None:
    """Have somebody's picture, or their recording, read. Raises HeadlightError where it is none."""
    request = EngineRequest("check_image", json.dumps({"recording": recording}).encode("ascii"), images={"": data})
    engine().submit(current_visitor(), request, lane=Lane.PRIVATE).future.result()


def _is_long(questions: list[dict[str, Any]]) -> bool:
    texts = (question.get(field) for question in questions for field in ("text", "source", "other_text"))
    return any(len(str(text or "")) > LONG_TEXT for text in texts)
