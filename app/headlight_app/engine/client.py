"""Sends requests to the engine on behalf of this thread's visitor, with the visitor's uploads that they need."""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import CancelledError
from functools import lru_cache
from math import ceil
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

import msgspec

from headlight.errors import HeadlightError
from headlight_app.access.images import image_store
from headlight_app.access.page_turns import note_question, without_turn
from headlight_app.access.uploads import upload_store
from headlight_app.access.visitor import CURRENT_ADDRESS, current_address, current_queue, current_visitor
from headlight_app.contract.reply import Reply, answer_type, decode_reply
from headlight_app.contract.request import LONG_TEXT, Answer, Lane, Request
from headlight_app.engine.contract import CheckImageRequest
from headlight_app.engine.engine import engine
from headlight_app.engine.fair_queue import STOPPED
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream, VisitorFolder

LONG_REQUEST = 50_000  # bytes; a larger request, such as one with thousands of edits, counts as long work
REFRESH_SECONDS = 10.0  # for which a shared reply is reused

A = TypeVar("A", bound=Answer)


def ask(request: Request[A]) -> Reply[A]:
    """Send a request and wait for its reply. If it fails, raises HeadlightError with a sentence for the visitor."""
    return decode_reply(answer_type(type(request)), _result(submit(request)))


def ask_shared(request: Request[A]) -> Reply[A]:
    """The same for a request that all visitors may share: equal ones within REFRESH_SECONDS are answered once.

    A request with a typed text or a visitor's own model, or one longer than LONG_TEXT, is not shared.
    """
    own = any(each.text or each.source or each.text_pair for each in request.questions()) or any(
        upload_store().find(current_visitor(), name) for name in request.models()
    )
    if own or len(msgspec.json.encode(request)) > LONG_TEXT:
        return ask(request)
    return decode_reply(answer_type(type(request)), shared_reply(request))


def shared_reply(request: Request[Any], *of: Hashable) -> bytes:
    """The reply to a request, computed once per REFRESH_SECONDS for equal requests with an equal `of`.

    Raises HeadlightError if it fails; the failure is not kept, so the next call tries again.
    """
    key = (request, of, int(monotonic() / REFRESH_SECONDS))
    with _sharing():  # held only while submitting: simultaneous callers get the same job
        job = _shared_job(*key)
    try:
        return _result(job)
    except HeadlightError:
        forget_shared()
        raise


@lru_cache(maxsize=256)
def _shared_job(request: Request[Any], of: tuple[Hashable, ...], tick: int) -> Job:
    return submit(request)


def forget_shared() -> None:
    """Discard the shared replies, so that the next call asks the engine again."""
    _shared_job.cache_clear()


@lru_cache(maxsize=1)
def _sharing() -> Lock:
    return Lock()


def _result(job: Job) -> bytes:
    """The answer to a job. While a page run waits for it, other page runs may continue."""
    try:
        if job.future.done():
            return job.future.result()
        with without_turn():
            return job.future.result()
    except CancelledError as error:
        raise EngineError(STOPPED) from error


def submit(request: Request[Any], body: bytes = b"") -> Job:
    """Put a request of the current visitor into the queue. Raises HeadlightError if the queue refuses it.

    `body` is the request as received, if it was received as JSON. A request that names a visitor's own checkpoint or
    picture goes to a private worker, which serves one visitor at a time. A large request, or one of a visitor without
    a queue of their own, goes to the long lane, so that no keystroke of other visitors waits for it.
    """
    visitor, models = current_visitor(), set(request.models())
    for name in models:
        upload_store().find(visitor, name)  # raises CheckpointError if an upload is gone
    own = [one for one in upload_store().owned_by(visitor) if request.is_private or one.name in models]
    images = {name: image.data for name, image in image_store().find_own(visitor, set(request.images())).items()}
    is_private = bool(request.is_private or images or own)
    folders = tuple(VisitorFolder(one.name, one.title, str(one.folder), str(one.upload_dir or "")) for one in own)
    content, queue = body or msgspec.json.encode(request), current_queue()
    stream = Stream(request.client_id, request.request_number) if request.client_id else None
    is_heavy = queue != visitor or len(content) > LONG_REQUEST
    lane = Lane.PRIVATE if is_private else Lane.LONG if is_heavy else request.wanted_lane()
    alike = request.alike() if lane is Lane.SHORT else ""
    asked = EngineRequest(request.route, content, folders, images, request.is_local, visitor=queue, alike=alike)
    size = None  # page runs take turns elsewhere
    if CURRENT_ADDRESS.get():
        note_question()
        size = sum(map(len, request.texts()))
    return engine().submit(
        queue, asked, lane=lane, seconds=request.seconds, stream=stream, address=current_address(), size=size
    )


def waiting_sentence() -> str:
    """How many visitors are asking, and when the current one is served; empty if they have no waiting request."""
    queues = [engine().lanes[lane].queue for lane in (Lane.SHORT, Lane.LONG)]
    names = current_queue(), f"at {CURRENT_ADDRESS.get()}"
    turns = [(before, queue.figures()) for queue in queues for name in names if (before := queue.turn(name))]
    if not turns:
        return ""
    before, figures = turns[0]
    people = f"{figures.people} people are asking"
    if not figures.per_busy_second:
        return f"{people}; yours is answered in its turn."
    return f"{people}; yours in about {ceil((before + 1) / figures.per_busy_second)} s."


def check_image(data: bytes, *, recording: bool = False) -> Job:
    """A job that checks in a worker that a visitor's picture or recording is readable; it fails if not."""
    request = CheckImageRequest(recording=recording)
    asked = EngineRequest(request.route, msgspec.json.encode(request), images={"": data})
    address = current_address()
    return engine().submit(current_queue(), asked, lane=Lane.PRIVATE, seconds=request.seconds, address=address)
