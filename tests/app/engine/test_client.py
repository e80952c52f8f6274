"""What travels with a request, and to which worker."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.access.images import image_store
from app.access.uploads import UploadStore, upload_store
from app.access.visitor import CURRENT_VISITOR
from app.engine import client as subject
from app.engine.client import LONG_TEXT, REFRESH_SECONDS, ask, ask_shared, check_image, submit
from app.engine.fair_queue import FairQueue
from app.engine.handlers import Lane
from app.engine.job import EngineError, EngineRequest, Job, Stream
from app.ui.wire_format import pack
from model.errors import CheckpointError, HeadlightError, ImageError

ANNA, BEN = "anna", "ben"


@dataclass
class Asked:
    """An engine that answers everything with nothing, and remembers what it was asked."""

    jobs: list[tuple[Lane | None, Job]] = field(default_factory=list)

    def submit(
        self, visitor: str, request: EngineRequest, *, lane: Lane | None = None, stream: Stream | None = None
    ) -> Job:
        job = Job(visitor, request, 1.0, stream)
        job.finish(pack({}))
        self.jobs.append((lane, job))
        return job

    def lane(self) -> Lane | None:
        """Where the last request went."""
        return self.jobs[-1][0]

    @property
    def request(self) -> EngineRequest:
        """The last request."""
        return self.jobs[-1][1].request

    @property
    def folders(self) -> list[str]:
        """The names of the checkpoints that came with it."""
        return [folder.name for folder in self.request.checkpoints]


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> Asked:
    asked = Asked()
    monkeypatch.setattr(subject, "engine", lambda: asked)
    return asked


@pytest.fixture(autouse=True)
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UploadStore]:
    """Stores of this test's own, and Anna who asks."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    token = CURRENT_VISITOR.set(ANNA)
    for store in (upload_store, image_store):
        store.cache_clear()
    yield upload_store()
    upload_store().close()
    for store in (upload_store, image_store):
        store.cache_clear()
    CURRENT_VISITOR.reset(token)


def bring(stores: UploadStore, visitor: str = ANNA) -> str:
    """The name of a checkpoint that a visitor has uploaded."""
    return stores.add_upload(visitor, "mine", lambda folder, max_bytes: folder).name


def sides(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Requests that ask a question: itself, or as a side of a comparison."""
    other = {"model": "next", "text": "the dog"}
    return [question, {"side_a": question, "side_b": other}, {"side_a": other, "side_b": question}]


def test_who_has_brought_something_travels_light_until_they_ask_for_it(engine: Asked, stores: UploadStore) -> None:
    bring(stores)
    image_store().add(ANNA, b"\x89PNG")
    for body in sides({"model": "next", "text": "the cat", "image": "cat", "other_text": "own-"}):
        submit("trace", body)
        assert engine.lane() == Lane.SHORT and not engine.request.checkpoints and not engine.request.images


def test_what_names_ones_own_checkpoint_goes_to_a_private_worker_with_ones_folders_only(
    engine: Asked, stores: UploadStore
) -> None:
    mine = bring(stores)
    bring(stores, BEN)
    for body in sides({"model": mine, "text": "the cat"}):
        submit("trace", body)
        assert engine.lane() == Lane.PRIVATE and engine.folders == [mine]
        assert engine.request.checkpoints[0].folder == str(stores.folder_of(ANNA, mine))


def test_a_folder_of_ones_own_machine_is_as_private(engine: Asked, stores: UploadStore) -> None:
    stores.add_folder(ANNA, Path("/somewhere/model"))
    submit("trace", {"model": "/somewhere/model", "text": "the cat"})
    assert engine.lane() == Lane.PRIVATE and engine.folders == ["/somewhere/model"]
    CURRENT_VISITOR.set(BEN)
    submit("trace", {"model": "/somewhere/model", "text": "the cat"})
    assert engine.lane() == Lane.SHORT and not engine.folders, "its worker says that there is no such model"


@pytest.mark.parametrize("name_it", ["image", "other_text"])
def test_what_names_ones_own_picture_goes_to_a_private_worker_with_that_picture(engine: Asked, name_it: str) -> None:
    name, _ = (image_store().add(ANNA, data) for data in (b"\x89PNG one", b"\x89PNG other"))
    for body in sides({"model": "seer", "text": "", name_it: name}):
        submit("trace", body)
        assert engine.lane() == Lane.PRIVATE and engine.request.images == {name: b"\x89PNG one"}
    CURRENT_VISITOR.set(BEN)
    submit("trace", {"model": "seer", "text": "", name_it: name})
    assert engine.lane() == Lane.SHORT and not engine.request.images


def test_a_page_may_ask_for_all_that_one_has_brought(engine: Asked, stores: UploadStore) -> None:
    mine = [bring(stores), bring(stores)]
    ask("own_models", private=True)
    assert engine.lane() == Lane.PRIVATE and engine.folders == mine


@pytest.mark.parametrize("visitor", [BEN, ""])
def test_an_upload_that_is_gone_or_somebody_elses_gets_its_sentence(
    engine: Asked, stores: UploadStore, visitor: str
) -> None:
    theirs = bring(stores)
    CURRENT_VISITOR.set(visitor)
    for body in sides({"model": theirs, "text": "the cat"}):
        with pytest.raises(CheckpointError, match="uploads belong to the browser that sent them"):
            submit("trace", body)
    CURRENT_VISITOR.set(ANNA)
    stores.remove(ANNA, theirs)
    with pytest.raises(CheckpointError, match="are deleted when it leaves"):
        ask("trace", {"model": theirs, "text": "the cat"})
    assert not engine.jobs


@pytest.mark.parametrize("field_of_text", ["text", "source"])
def test_long_texts_wait_with_long_work(engine: Asked, stores: UploadStore, field_of_text: str) -> None:
    mine = bring(stores)
    for length, lane in ((LONG_TEXT, Lane.SHORT), (LONG_TEXT + 1, Lane.LONG)):
        for body in sides({"model": "next", "text": "", field_of_text: "x" * length}):
            submit("trace", body)
            assert engine.lane() == lane
    submit("trace", {"model": mine, field_of_text: "x" * (LONG_TEXT + 1)})
    assert engine.lane() == Lane.PRIVATE, "however long it is, nobody else's worker reads one's own files"


def test_long_work_waits_with_long_work(engine: Asked) -> None:
    submit("head_ablation", {"model": "next", "text": "the cat"})
    assert engine.lane() == Lane.LONG


@pytest.mark.parametrize(
    "body",
    [{}, {"model": ["next"], "text": None, "image": {}}, {"side_a": "next", "side_b": [3]}, {"text": "\ud800"}],
)
def test_whatever_a_body_holds_it_travels_as_it_is(engine: Asked, body: dict[str, Any]) -> None:
    submit("trace", body)
    assert json.loads(engine.request.body) == body and engine.lane() == Lane.SHORT


def test_the_stream_and_the_visitor_of_a_question_reach_the_queue(engine: Asked) -> None:
    job = submit("trace", {"text": "the cat"}, stream=Stream("page", 3))
    assert (job.visitor, job.stream) == (ANNA, Stream("page", 3))


def test_a_picture_is_read_in_a_private_worker(engine: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    check_image(b"no picture yet")
    assert engine.lane() == Lane.PRIVATE and list(engine.request.images.values()) == [b"no picture yet"]

    def refuse(*_: Any, **__: Any) -> Job:
        job = Job(ANNA, EngineRequest("check_image", b"{}"), 1.0)
        job.finish(ImageError("That is no picture."))
        return job

    monkeypatch.setattr(engine, "submit", refuse)
    with pytest.raises(HeadlightError, match="no picture"):
        check_image(b"no picture")


def test_those_who_ask_the_same_of_what_the_server_offers_share_an_answer(
    engine: Asked, stores: UploadStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1.0
    monkeypatch.setattr(subject, "monotonic", lambda: now)
    for visitor in (ANNA, BEN):
        CURRENT_VISITOR.set(visitor)
        ask_shared("explore_page", {"model": "next"})
    assert len(engine.jobs) == 1
    ask_shared("explore_page", {"model": "other"})
    now += REFRESH_SECONDS
    ask_shared("explore_page", {"model": "next"})
    assert len(engine.jobs) == 3, "of another model, and later"
    for _ in range(2):
        ask_shared("explore_page", {"model": "next", "source": "x" * LONG_TEXT})
    assert len(engine.jobs) == 5, "nobody fills the memory"


def test_of_an_upload_nobody_shares_an_answer(engine: Asked, stores: UploadStore) -> None:
    mine = bring(stores)
    for _ in range(2):
        ask_shared("explore_page", {"model": mine})
    assert len(engine.jobs) == 2 and engine.lane() == Lane.PRIVATE
    CURRENT_VISITOR.set(BEN)
    with pytest.raises(CheckpointError, match="uploads belong to the browser that sent them"):
        ask_shared("explore_page", {"model": mine})


def test_a_page_hears_that_the_server_stops(engine: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    closing = FairQueue()

    def wait(visitor: str, request: EngineRequest, **_: Any) -> Job:
        job = Job(visitor, request, 1.0)
        closing.put(job)
        closing.close()
        return job

    monkeypatch.setattr(engine, "submit", wait)
    with pytest.raises(EngineError):
        ask("frame")
