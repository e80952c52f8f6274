"""The background tasks of a server."""

import gc
import itertools
import socket
import tempfile
import threading
import time
from functools import lru_cache, partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headlight_app.access.uploads import FOLDER_PREFIX, GRACE_SECONDS, UploadStore, VisitorCheckpoint
from headlight_app.room.contract import RoomOpenRequest, View
from headlight_app.room.rooms import ROOM_SECONDS, Browser, Rooms
from headlight_app.server import lifespan


def running(rooms: Rooms | None = None) -> TestClient:
    """A client of a server without pages, whose lifespan is entered with the client."""
    return TestClient(Starlette(lifespan=partial(lifespan.lifespan, rooms=rooms or Rooms())))


def lay(root: Path, max_bytes: int) -> Path:
    (root / "weights").write_bytes(b"x")
    return root


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UploadStore:
    """An upload store for this test, and a server without visitors."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = UploadStore(1_000)
    monkeypatch.setattr(lifespan, "upload_store", lambda: made)
    monkeypatch.setattr(lifespan, "SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(lifespan, "get_instance", lambda: SimpleNamespace(is_active_session=lambda session: False))
    return made


def test_while_it_runs_it_sweeps_and_when_it_stops_nothing_is_left(
    register: UploadStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forsaken = tmp_path / f"{FOLDER_PREFIX}killed"
    forsaken.mkdir()
    trimmed = threading.Event()
    monkeypatch.setattr(lifespan, "give_back_memory", trimmed.set)
    with running():
        assert not forsaken.exists()
        gone, stays = register.add_upload("anna", "a", lay), register.add_upload("ben", "b", lay)
        register.last_seen["anna"] -= 2 * GRACE_SECONDS
        until = time.monotonic() + 20
        while gone.folder.exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert not gone.folder.exists() and stays.folder.exists()
        assert register.owned_by("anna") == ()
        assert trimmed.wait(20), "memory that large requests took is given back"
    assert not stays.folder.exists()
    assert not list(tmp_path.glob("headlight-*"))


@pytest.mark.usefixtures("register")
def test_small_writes_of_every_connection_leave_at_once() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        running(),
        socket.create_connection(listening.getsockname()),
    ):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.usefixtures("register")
def test_a_room_whose_time_is_over_is_forgotten_though_nobody_asks() -> None:
    clock = itertools.chain([0.0, 0.0, 0.0, 0.0], itertools.repeat(ROOM_SECONDS))
    rooms = Rooms(lambda: next(clock))
    rooms.open(Browser("teacher", "10.0.0.1", ""), RoomOpenRequest(view=View()))
    assert rooms.rooms
    with running(rooms):
        until = time.monotonic() + 20
        while rooms.rooms and time.monotonic() < until:
            time.sleep(0.01)
    assert not rooms.rooms


def test_the_stores_are_there_before_the_first_visitors_and_the_engine_ends_with_the_server(
    register: UploadStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    @lru_cache(maxsize=1)
    def engine() -> SimpleNamespace:
        made.append("made")
        return SimpleNamespace(close=lambda: made.append("closed"))

    monkeypatch.setattr(lifespan, "engine", engine)
    with running():
        assert made == ["made"]
    assert made == ["made", "closed"]
    assert engine.cache_info().currsize == 0, "a restarted server creates a new engine"


def test_what_lives_as_long_as_the_server_is_not_searched_for_garbage(register: UploadStore) -> None:
    with running():
        until = time.monotonic() + 20
        while not gc.get_freeze_count() and time.monotonic() < until:
            time.sleep(0.01)
        assert gc.get_freeze_count() > 10_000
    assert gc.get_freeze_count() == 0


def test_a_guest_without_a_folder_of_its_own_is_only_forgotten(register: UploadStore, toys: Path) -> None:
    own: VisitorCheckpoint = register.add_folder("anna", toys / "next")
    with running():
        register.last_seen["anna"] -= 2 * GRACE_SECONDS
        time.sleep(0.1)
    assert own.folder.is_dir()
