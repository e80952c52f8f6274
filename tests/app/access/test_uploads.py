"""What one visitor brought is theirs alone, stays within bounds, and is deleted."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.access import uploads as subject
from app.access.uploads import FORSAKEN, GRACE, MOST, SERVER, Guest, Guests, Lay
from model.checkpoints.files.upload_archive import Limits
from model.errors import CheckpointError

LIMIT = 1_000
ANNA, BEN = "anna", "ben"


@pytest.fixture
def guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guests]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = Guests(LIMIT)
    yield made
    made.close()
    assert not list(tmp_path.glob(f"{subject.FOLDER}*")), "nothing is left when the server stops"


def of_size(size: int) -> Lay:
    """An upload that unpacks to one file of a size."""

    def lay(root: Path, limits: Limits) -> Path:
        if size > limits.size:
            raise CheckpointError("too large")
        (root / "inner").mkdir()
        (root / "inner" / "weights").write_bytes(bytes(size))
        return root / "inner"

    return lay


def bring(guests: Guests, visitor: str = ANNA, size: int = 10, title: str = "My Model!") -> Guest:
    return guests.receive(visitor, title, of_size(size))


def test_an_upload_is_found_by_its_visitor_and_nobody_else(guests: Guests) -> None:
    mine = bring(guests)
    assert guests.folder(ANNA, mine.name) == mine.folder
    assert guests.of(ANNA) == (mine,) and guests.of(BEN) == ()
    for visitor in (BEN, ""):
        with pytest.raises(CheckpointError, match="belong to the browser that sent them"):
            guests.folder(visitor, mine.name)


def test_its_name_cannot_be_guessed(guests: Guests) -> None:
    names = {bring(guests, title=title).name for title in ("My Model!", "My Model!", "../..", "", "Ü" * 500)}
    assert len(names) == 5
    assert all(re.fullmatch(r"upload-[a-z0-9-]{1,40}-[\w-]{22}", name) for name in names)


def test_its_folder_is_read_by_this_user_alone(guests: Guests) -> None:
    root = bring(guests).root
    assert root is not None
    assert root.stat().st_mode & 0o077 == 0 and root.parent.stat().st_mode & 0o077 == 0


def test_a_visitor_without_a_cookie_brings_nothing(guests: Guests) -> None:
    with pytest.raises(CheckpointError, match="cookie"):
        bring(guests, visitor="")
    with pytest.raises(CheckpointError, match="cookie"):
        guests.admit("", Path("/"))


def test_a_removed_upload_is_deleted_and_a_folder_of_ones_own_is_not(guests: Guests, toys: Path) -> None:
    upload, own = bring(guests), guests.admit(ANNA, toys / "next")
    assert guests.remove(BEN, upload.name) is None and upload.folder.exists()
    assert guests.remove(ANNA, upload.name) == upload and guests.remove(ANNA, own.name) == own
    assert upload.root is not None and not upload.root.exists()
    assert (toys / "next").is_dir()
    assert guests.of(ANNA) == ()


def test_a_refused_upload_leaves_nothing(guests: Guests) -> None:
    def refuse(root: Path, limits: Limits) -> Path:
        (root / "half").write_bytes(b"x")
        raise CheckpointError("no checkpoint")

    with pytest.raises(CheckpointError, match="no checkpoint"):
        guests.receive(ANNA, "x", refuse)
    assert guests.root is not None and not list(guests.root.iterdir())
    assert guests.coming == 0


def test_all_uploads_together_stay_within_bytes(guests: Guests) -> None:
    kept = [bring(guests, f"{number}", 2 * LIMIT) for number in range(SERVER // 2)]
    with pytest.raises(CheckpointError, match="no room"):
        bring(guests, BEN)
    guests.remove("0", kept[0].name)
    assert bring(guests, BEN)


def test_while_one_is_unpacked_its_room_is_taken(guests: Guests) -> None:
    def nested(root: Path, limits: Limits) -> Path:
        assert guests.coming == limits.size
        return of_size(1)(root, limits)

    guests.receive(ANNA, "x", nested)
    guests.coming = (SERVER - 1) * LIMIT + 1
    with pytest.raises(CheckpointError, match="no room"):
        bring(guests, BEN)
    guests.coming = 0


def test_there_are_so_many_uploads_and_no_more(guests: Guests) -> None:
    for number in range(MOST):
        bring(guests, f"{number}", 0)
    with pytest.raises(CheckpointError, match="no room"):
        bring(guests, BEN)


def test_who_has_left_is_swept_away_and_who_is_here_is_not(guests: Guests) -> None:
    for visitor in (ANNA, BEN):
        bring(guests, visitor)
        guests.seen(visitor, f"session of {visitor}")
    here = {"session of anna", "session of ben"}
    now = guests.last[ANNA]
    assert guests.sweep(here.__contains__, now + 10 * GRACE) == ()
    here.remove("session of anna")
    assert guests.sweep(here.__contains__, now + 10.5 * GRACE) == (), "it may be a reload"
    (gone,) = guests.sweep(here.__contains__, now + 12 * GRACE)
    assert gone.root is not None and not gone.root.exists()
    assert guests.of(ANNA) == () and len(guests.of(BEN)) == 1


def test_who_comes_back_in_time_finds_everything(guests: Guests) -> None:
    bring(guests)
    guests.seen(ANNA, "one")
    now = guests.last[ANNA]
    guests.sweep(lambda session: False, now + GRACE / 2)
    guests.seen(ANNA, "two")
    assert guests.sweep(lambda session: session == "two", now + 3 * GRACE) == ()
    assert guests.sessions[ANNA] == {"two"}


def test_only_who_brought_something_is_remembered(guests: Guests) -> None:
    guests.seen(ANNA, "one")
    assert not guests.sessions and not guests.last


def test_what_a_killed_server_left_is_deleted_and_a_running_ones_is_not(guests: Guests, tmp_path: Path) -> None:
    running = bring(guests).root
    forsaken = tmp_path / f"{subject.FOLDER}old"
    elsewhere, link = tmp_path / "precious", tmp_path / f"{subject.FOLDER}link"
    for folder in (forsaken, elsewhere):
        folder.mkdir()
        (folder / "file").write_text("x")
    link.symlink_to(elsewhere)
    now = forsaken.stat().st_mtime
    os.utime(forsaken, (now - FORSAKEN - 1, now - FORSAKEN - 1))
    subject.clear_forsaken(now)
    assert not forsaken.exists() and (elsewhere / "file").exists()
    assert running is not None and running.exists()
    link.unlink()
    (elsewhere / "file").unlink()
    elsewhere.rmdir()
