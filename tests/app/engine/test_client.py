"""The contents of a request, and the worker that receives it."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import patch

import pytest

from headlight.errors import CheckpointError, HeadlightError, ImageError
from headlight_app.access.images import image_store
from headlight_app.access.uploads import UploadStore
from headlight_app.access.visitor import CURRENT_VISITOR
from headlight_app.contract.question import Question
from headlight_app.contract.reply import Reply
from headlight_app.contract.request import LONG_TEXT, Lane, OpenedRequest, PageRequest, QuestionRequest, Request
from headlight_app.contract.state import HeadChoice, State
from headlight_app.contract.views import ViewsRequest
from headlight_app.engine import client as subject
from headlight_app.engine import fair_queue
from headlight_app.engine.client import REFRESH_SECONDS, ask, ask_shared, check_image, submit
from headlight_app.engine.contract import Done, OwnModelsRequest
from headlight_app.engine.fair_queue import FairQueue
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream
from headlight_app.explore.contract import HeadViewRequest
from headlight_app.export.contract import LONG_WORK, ExportOriginRequest, Side
from tests.app.asking import make_question

ANNA, BEN = "anna", "ben"


@dataclass
class Asked:
    """An engine that records its requests and answers `Done`."""

    answer: bytes | Exception = field(default_factory=lambda: Reply(Done()).encode())
    jobs: list[tuple[Lane, Job]] = field(default_factory=list)

    def submit(
        self,
        visitor: str,
        request: EngineRequest,
        *,
        lane: Lane,
        seconds: float,
        stream: Stream | None = None,
        **of: object,
    ) -> Job:
        job = Job(visitor, request, seconds, stream)
        job.finish(self.answer)
        self.jobs.append((lane, job))
        return job

    def lane(self) -> Lane:
        """The lane of the last request."""
        return self.jobs[-1][0]

    @property
    def request(self) -> EngineRequest:
        """The last request."""
        return self.jobs[-1][1].request

    @property
    def folders(self) -> list[str]:
        """The names of the checkpoints sent with it."""
        return [folder.name for folder in self.request.checkpoints]


class Echo(QuestionRequest[Done], frozen=True, kw_only=True):
    """A question with an empty answer."""

    route: ClassVar[str] = "echo"


class Both(PageRequest[Done], frozen=True, kw_only=True):
    """A request with two questions."""

    route: ClassVar[str] = "both"

    first: Question
    second: Question

    def questions(self) -> tuple[Question, ...]:
        """Both questions."""
        return self.first, self.second


class Opened(OpenedRequest[Done], frozen=True, kw_only=True):
    """The request of a page when it opens."""

    route: ClassVar[str] = "opened"


class Slow(Echo, frozen=True, kw_only=True):
    """A request of the long lane."""

    lane: ClassVar[Lane] = Lane.LONG


OTHER = Question(model="next", text="the dog")


@pytest.fixture(autouse=True)
def engine(anna: UploadStore, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """An engine that receives Anna's requests."""
    asked = Asked()
    monkeypatch.setattr(subject, "engine", lambda: asked)
    return asked


def bring(anna: UploadStore, visitor: str = ANNA) -> str:
    """Upload a checkpoint for a visitor; returns its name."""
    return anna.add_upload(visitor, "mine", lambda folder, max_bytes: folder).name


def sides(question: Question) -> list[Request[Done]]:
    """Requests with a question, alone or as one of two."""
    return [Echo(question=question), Both(first=question, second=OTHER), Both(first=OTHER, second=question)]


def test_a_request_that_names_nothing_of_the_visitors_own_takes_nothing_along(engine: Asked, anna: UploadStore) -> None:
    bring(anna)
    image_store().add(ANNA, b"\x89PNG")
    for request in sides(Question(model="next", text="the cat", image="cat")):
        submit(request)
        assert engine.lane() == Lane.SHORT and not engine.request.checkpoints and not engine.request.images


def test_a_request_that_names_an_upload_goes_to_a_private_worker_with_that_upload_alone(
    engine: Asked, anna: UploadStore
) -> None:
    mine = bring(anna)
    bring(anna)
    bring(anna, BEN)
    for request in sides(Question(model=mine, text="the cat")):
        submit(request)
        assert engine.lane() == Lane.PRIVATE and engine.folders == [mine]
        stored = anna.find(ANNA, mine)
        assert stored and engine.request.checkpoints[0].folder == str(stored.folder)


def test_a_folder_of_ones_own_machine_is_as_private(engine: Asked, anna: UploadStore) -> None:
    anna.add_folder(ANNA, Path("/somewhere/model"))
    request = Echo(question=Question(model="/somewhere/model", text="the cat"))
    submit(request)
    assert engine.lane() == Lane.PRIVATE and engine.folders == ["/somewhere/model"]
    CURRENT_VISITOR.set(BEN)
    submit(request)
    assert engine.lane() == Lane.SHORT and not engine.folders, "the worker reports that there is no such model"


def test_a_request_that_names_an_own_picture_goes_to_a_private_worker_with_that_picture(engine: Asked) -> None:
    name, _ = (image_store().add(ANNA, data) for data in (b"\x89PNG one", b"\x89PNG other"))
    other = HeadViewRequest(question=Question(model="seer"), choice=HeadChoice(other_text=name))
    patched = ViewsRequest(question=Question(model="seer"), page="x", choice=State(patch_from=name))
    for request in (*sides(Question(model="seer", image=name)), other, patched):
        submit(request)
        assert engine.lane() == Lane.PRIVATE and engine.request.images == {name: b"\x89PNG one"}
    CURRENT_VISITOR.set(BEN)
    submit(Echo(question=Question(model="seer", image=name)))
    assert engine.lane() == Lane.SHORT and not engine.request.images


def test_a_page_may_ask_for_all_that_one_has_brought(engine: Asked, anna: UploadStore) -> None:
    mine = [bring(anna), bring(anna)]
    submit(OwnModelsRequest())
    assert engine.lane() == Lane.PRIVATE and engine.folders == mine


@pytest.mark.parametrize("visitor", [BEN, ""])
def test_an_upload_that_is_gone_or_somebody_elses_gets_its_sentence(
    engine: Asked, anna: UploadStore, visitor: str
) -> None:
    theirs = bring(anna)
    CURRENT_VISITOR.set(visitor)
    for request in sides(Question(model=theirs, text="the cat")):
        with pytest.raises(CheckpointError, match="uploads belong to the browser that sent them"):
            submit(request)
    CURRENT_VISITOR.set(ANNA)
    anna.remove(ANNA, theirs)
    with pytest.raises(CheckpointError, match="are deleted when it leaves"):
        ask(Echo(question=Question(model=theirs, text="the cat")))
    assert not engine.jobs


@pytest.mark.parametrize("field_of_text", ["text", "source"])
def test_long_texts_wait_with_long_work(engine: Asked, anna: UploadStore, field_of_text: str) -> None:
    mine = bring(anna)
    for length, lane in ((LONG_TEXT, Lane.SHORT), (LONG_TEXT + 1, Lane.LONG)):
        for request in sides(make_question("next", **{field_of_text: "x" * length})):
            submit(request)
            assert engine.lane() == lane
    submit(Echo(question=make_question(mine, **{field_of_text: "x" * (LONG_TEXT + 1)})))
    assert engine.lane() == Lane.PRIVATE, "uploads are read in their visitor's worker only, even for long work"


@pytest.mark.parametrize(
    ("lane", "request_"),
    [
        (Lane.LONG, Slow(question=OTHER)),
        (Lane.SHORT, Echo(question=make_question("next", edits=("decoder.0.self.weights[0]=set:0",) * 9))),
        (Lane.LONG, Echo(question=make_question("next", edits=("decoder.0.self.weights[0]=set:0",) * 9_999))),
        (Lane.SHORT, ViewsRequest(question=OTHER, page="positions")),
        (Lane.LONG, ViewsRequest(question=OTHER, page="positions", with_tables=True)),
        (Lane.LONG, ViewsRequest(question=OTHER, page="x", choice=State(other_text="x" * (LONG_TEXT + 1)))),
        (Lane.LONG, HeadViewRequest(question=OTHER, choice=HeadChoice(other_text="x" * (LONG_TEXT + 1)))),
        (Lane.LONG, ExportOriginRequest(sides=(Side(question=OTHER),) * LONG_WORK)),
    ],
)
def test_the_lane_follows_from_what_is_asked(engine: Asked, request_: Request[Any], lane: Lane) -> None:
    submit(request_)
    assert engine.lane() == lane


def test_the_bytes_of_a_request_travel_as_they_came(engine: Asked) -> None:
    body = b'{ "question": {"model": "next", "text": "the cat"} }'
    submit(Echo(question=Question(model="next", text="the cat")), body)
    assert engine.request.body == body and engine.lane() == Lane.SHORT


def test_the_stream_and_the_visitor_of_a_question_reach_the_queue(engine: Asked) -> None:
    job = submit(Echo(question=OTHER, client_id="page", request_number=3))
    assert (job.visitor, job.stream) == (ANNA, Stream("page", 3))


def test_a_picture_is_read_in_a_private_worker(engine: Asked) -> None:
    check_image(b"no picture yet")
    assert engine.lane() == Lane.PRIVATE and list(engine.request.images.values()) == [b"no picture yet"]

    engine.answer = ImageError("That is no picture.")
    with pytest.raises(HeadlightError, match="no picture"):
        check_image(b"no picture").future.result()


def test_those_who_ask_the_same_of_what_the_server_offers_share_an_answer(
    engine: Asked, anna: UploadStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1.0
    monkeypatch.setattr(subject, "monotonic", lambda: now)
    for visitor in (ANNA, BEN):
        CURRENT_VISITOR.set(visitor)
        ask_shared(Opened(model="next"))
    assert len(engine.jobs) == 1
    ask_shared(Opened(model="other"))
    now += REFRESH_SECONDS
    ask_shared(Opened(model="next"))
    assert len(engine.jobs) == 3, "another model and an expired answer are requested again"
    for _ in range(2):
        ask_shared(Opened(model="next", source="x" * LONG_TEXT))
    assert len(engine.jobs) == 5, "answers to long questions are not cached"


def test_an_answer_that_failed_is_asked_for_again(engine: Asked) -> None:
    engine.answer = EngineError("The process ended.")
    with pytest.raises(EngineError, match="ended"):
        ask_shared(Opened(model="next"))
    engine.answer = Reply(Done()).encode()
    assert ask_shared(Opened(model="next")).answer == Done()


def test_of_an_upload_nobody_shares_an_answer(engine: Asked, anna: UploadStore) -> None:
    mine = bring(anna)
    for _ in range(2):
        ask_shared(Opened(model=mine))
    assert len(engine.jobs) == 2 and engine.lane() == Lane.PRIVATE
    CURRENT_VISITOR.set(BEN)
    with pytest.raises(CheckpointError, match="uploads belong to the browser that sent them"):
        ask_shared(Opened(model=mine))


def test_a_page_hears_that_the_server_stops(engine: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    closing = FairQueue()

    def wait(visitor: str, request: EngineRequest, **_: Any) -> Job:
        job = Job(visitor, request, 1.0)
        closing.put(job)
        closing.close()
        return job

    monkeypatch.setattr(engine, "submit", wait)
    with pytest.raises(EngineError):
        ask(Echo(question=OTHER))


@pytest.fixture
def queues(monkeypatch: pytest.MonkeyPatch) -> dict[Lane, FairQueue]:
    """The queues of an engine whose workers take no jobs."""
    found = {lane: FairQueue() for lane in Lane}
    lanes = {lane: SimpleNamespace(queue=queue) for lane, queue in found.items()}
    monkeypatch.setattr(subject, "engine", lambda: SimpleNamespace(lanes=lanes))
    return found


@pytest.mark.parametrize("lane", [Lane.SHORT, Lane.LONG])
def test_whoever_waits_is_told_how_many_ask_and_when_theirs_comes(queues: dict[Lane, FairQueue], lane: Lane) -> None:
    queue = queues[lane]
    assert subject.waiting_sentence() == "", "the queue is empty"
    for number in range(40):
        queue.put(Job(f"visitor {number}", EngineRequest("echo", b""), 1.0))
    assert subject.waiting_sentence() == "", "only other visitors wait"
    queue.put(Job(ANNA, EngineRequest("echo", b""), 1.0))
    assert subject.waiting_sentence() == "41 people are asking; yours is answered in its turn."
    with patch.object(queue, "_per_busy_second", return_value=20.0):
        assert subject.waiting_sentence() == "41 people are asking; yours in about 3 s."


def test_a_class_that_asks_at_once_after_a_quiet_minute_is_not_frightened(
    queues: dict[Lane, FairQueue], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(fair_queue, "monotonic", lambda: now)
    queue = queues[Lane.SHORT]
    for _ in range(3):  # the teacher's requests, 20 ms each
        now += 3.0
        queue.put(Job("teacher", EngineRequest("echo", b""), 1.0))
        letter = queue.take()
        assert letter
        now += 0.02
        queue.done(letter)
    for visitor in (*(f"visitor {number}" for number in range(40)), ANNA):
        queue.put(Job(visitor, EngineRequest("echo", b""), 1.0))
    assert subject.waiting_sentence() == "41 people are asking; yours in about 1 s."
