"""Uploads are private to their visitor, limited in size, and deleted."""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from time import sleep

import pytest

from headlight.errors import CheckpointError
from headlight_app.access import uploads as subject
from headlight_app.access.presence import Presence
from headlight_app.access.uploads import (
    GRACE_SECONDS,
    MAX_PER_VISITOR,
    MAX_UPLOADS,
    SERVER_FACTOR,
    Extract,
    UploadStore,
    VisitorCheckpoint,
)

LIMIT = 1_000
ANNA, BEN = "anna", "ben"


@pytest.fixture
def guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UploadStore]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = UploadStore(LIMIT)
    yield made
    made.close()
    assert not list(tmp_path.glob(f"{subject.FOLDER_PREFIX}*")), "a stopped server leaves no files"


def of_size(size: int) -> Extract:
    """An upload that unpacks to one file of the given size."""

    def lay(root: Path, max_bytes: int) -> Path:
        if size > max_bytes:
            raise CheckpointError("too large")
        (root / "inner").mkdir()
        (root / "inner" / "weights").write_bytes(bytes(size))
        return root / "inner"

    return lay


def bring(guests: UploadStore, visitor: str = ANNA, size: int = 10, title: str = "My Model!") -> VisitorCheckpoint:
    return guests.add_upload(visitor, title, of_size(size))


def test_an_upload_is_found_by_its_visitor_and_nobody_else(guests: UploadStore) -> None:
    mine = bring(guests)
    assert guests.find(ANNA, mine.name) == mine
    assert guests.owned_by(ANNA) == (mine,) and guests.owned_by(BEN) == ()
    for visitor in (BEN, ""):
        with pytest.raises(CheckpointError, match="belong to the browser that sent them"):
            guests.find(visitor, mine.name)


def test_its_name_cannot_be_guessed(guests: UploadStore) -> None:
    names = {bring(guests, title=title).name for title in ("My Model!", "My Model!", "../..", "", "Ü" * 500)}
    assert len(names) == 5
    assert all(re.fullmatch(r"upload-[a-z0-9-]{1,40}-[\w-]{22}", name) for name in names)


def test_its_folder_is_read_by_this_user_alone(guests: UploadStore) -> None:
    root = bring(guests).upload_dir
    assert root is not None
    assert root.stat().st_mode & 0o077 == 0 and root.parent.stat().st_mode & 0o077 == 0


def test_a_visitor_without_a_cookie_brings_nothing(guests: UploadStore) -> None:
    with pytest.raises(CheckpointError, match="cookie"):
        bring(guests, visitor="")
    with pytest.raises(CheckpointError, match="cookie"):
        guests.add_folder("", Path("/"))


def test_a_removed_upload_is_deleted_and_a_folder_of_ones_own_is_not(guests: UploadStore, toys: Path) -> None:
    upload, own = bring(guests), guests.add_folder(ANNA, toys / "next")
    assert guests.remove(BEN, upload.name) is None and upload.folder.exists()
    assert guests.remove(ANNA, upload.name) == upload and guests.remove(ANNA, own.name) == own
    assert upload.upload_dir is not None and not upload.upload_dir.exists()
    assert (toys / "next").is_dir()
    assert guests.owned_by(ANNA) == ()


def test_a_refused_upload_leaves_nothing(guests: UploadStore) -> None:
    def refuse(root: Path, max_bytes: int) -> Path:
        (root / "half").write_bytes(b"x")
        raise CheckpointError("no checkpoint")

    with pytest.raises(CheckpointError, match="no checkpoint"):
        guests.add_upload(ANNA, "x", refuse)
    assert guests.uploads_dir is not None
    assert not list(guests.uploads_dir.iterdir())
    assert not guests.reserved


def test_all_uploads_together_stay_within_bytes(guests: UploadStore) -> None:
    kept = [bring(guests, f"{number}", 2 * LIMIT) for number in range(SERVER_FACTOR // 2)]
    with pytest.raises(CheckpointError, match="no room"):
        bring(guests, BEN)
    guests.remove("0", kept[0].name)
    assert bring(guests, BEN)


def test_while_one_is_unpacked_its_room_is_taken(guests: UploadStore) -> None:
    def nested(root: Path, max_bytes: int) -> Path:
        assert guests.reserved == {ANNA: max_bytes}
        with pytest.raises(CheckpointError, match="Another upload of yours is still being checked"):
            bring(guests)
        return of_size(1)(root, max_bytes)

    guests.add_upload(ANNA, "x", nested)
    guests.reserved[ANNA] = (SERVER_FACTOR - 1) * LIMIT + 1
    with pytest.raises(CheckpointError, match="no room"):
        bring(guests, BEN)
    guests.reserved.clear()


def test_a_visitor_keeps_several_uploads_and_is_told_where_their_number_ends(guests: UploadStore) -> None:
    kept = [bring(guests, title=f"step {number}") for number in range(MAX_PER_VISITOR)]
    assert guests.owned_by(ANNA) == tuple(kept) and all(each.folder.exists() for each in kept)
    with pytest.raises(CheckpointError, match=rf"You have {MAX_PER_VISITOR} uploads.*Remove one below"):
        bring(guests)
    assert bring(guests, BEN), "each visitor has a separate quota"
    guests.remove(ANNA, kept[0].name)
    added = bring(guests)
    assert guests.owned_by(ANNA) == (*kept[1:], added)


def test_the_uploads_of_one_visitor_stay_within_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    megabyte = 1 << 20
    guests = UploadStore(limit=2 * megabyte)
    first = bring(guests, size=3 * megabyte)
    with pytest.raises(CheckpointError, match=r"take 3 MB of the 4 MB that you may keep here, and this one has 2 MB"):
        guests.add_upload(ANNA, "second", of_size(0), size=2 * megabyte)
    with pytest.raises(CheckpointError, match="too large"):
        bring(guests, size=megabyte + 1)  # unpacks to more than the remaining quota
    bring(guests, size=megabyte)
    with pytest.raises(CheckpointError, match="take 4 MB of the 4 MB"):
        bring(guests, size=0)
    guests.remove(ANNA, first.name)
    assert bring(guests, size=3 * megabyte)
    guests.close()


def test_two_checkpoints_of_one_title_stay_apart(guests: UploadStore, tmp_path: Path) -> None:
    uploads = [bring(guests, title="tiny") for _ in range(3)]
    assert [each.title for each in uploads] == ["tiny", "tiny (2)", "tiny (3)"]
    assert bring(guests, BEN, title="tiny").title == "tiny"
    assert guests.add_folder(ANNA, tmp_path / "tiny").title == "tiny (4)"
    assert guests.add_folder(ANNA, tmp_path / "tiny").title == "tiny (4)", "it is the same folder"
    guests.remove(ANNA, uploads[0].name)
    assert bring(guests, title="tiny").title == "tiny"


def test_there_are_so_many_uploads_and_no_more(guests: UploadStore) -> None:
    for number in range(MAX_UPLOADS):
        bring(guests, f"{number}", 0)
    with pytest.raises(CheckpointError, match="no room"):
        bring(guests, BEN)


def test_empty_uploads_of_forty_people_keep_nobody_from_bringing_theirs(guests: UploadStore) -> None:
    for number in range(40):
        bring(guests, f"{number}", 0)
    assert bring(guests, BEN, LIMIT).size == LIMIT


def test_a_full_disk_is_called_so(guests: UploadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tempfile.gettempdir())
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=LIMIT))
    with pytest.raises(CheckpointError, match="disk of this server is full"):
        bring(guests)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [(errno.ENOSPC, "disk of this server is full"), (errno.EIO, "cannot store .* Tell the person")],
)
def test_a_disk_that_fails_during_an_upload_gets_a_sentence(number: int, sentence: str, guests: UploadStore) -> None:
    def extract(folder: Path, max_bytes: int) -> Path:
        (folder / "half").write_bytes(b"x")
        raise OSError(number, os.strerror(number))

    with pytest.raises(CheckpointError, match=sentence):
        guests.add_upload(ANNA, "tiny", extract)
    assert guests.uploads_dir is not None and not list(guests.uploads_dir.iterdir()) and not guests.reserved


def test_who_has_left_is_swept_away_and_who_is_here_is_not(guests: UploadStore) -> None:
    for visitor in (ANNA, BEN):
        bring(guests, visitor)
    here = {ANNA, BEN}
    now = guests.last_seen[ANNA]
    assert guests.sweep(here.__contains__, now + 10 * GRACE_SECONDS) == ()
    here.remove(ANNA)
    assert guests.sweep(here.__contains__, now + 10.5 * GRACE_SECONDS) == (), "the page may be reloading"
    (gone,) = guests.sweep(here.__contains__, now + 12 * GRACE_SECONDS)
    assert gone.upload_dir is not None and not gone.upload_dir.exists()
    assert guests.owned_by(ANNA) == () and len(guests.owned_by(BEN)) == 1


def test_whoever_rests_on_the_page_of_the_upload_keeps_it(guests: UploadStore) -> None:
    """Nothing but the upload tells of the visitor, who opened the page before."""
    present = Presence()
    present.mark_seen(ANNA, "one")
    bring(guests)
    assert guests.sweep(present.is_here, guests.last_seen[ANNA] + 2 * GRACE_SECONDS) == ()


def test_who_comes_back_in_time_finds_everything(guests: UploadStore) -> None:
    bring(guests)
    now = guests.last_seen[ANNA]
    assert guests.sweep(lambda visitor: False, now + GRACE_SECONDS / 2) == ()
    assert guests.sweep(lambda visitor: True, now + 3 * GRACE_SECONDS) == ()
    assert guests.sweep(lambda visitor: False, now + 3.5 * GRACE_SECONDS) == ()


def test_what_a_killed_server_left_is_deleted_and_a_running_ones_is_not(guests: UploadStore, tmp_path: Path) -> None:
    running = bring(guests).upload_dir
    forsaken = tmp_path / f"{subject.FOLDER_PREFIX}old"
    elsewhere, link = tmp_path / "precious", tmp_path / f"{subject.FOLDER_PREFIX}link"
    for folder in (forsaken, elsewhere):
        folder.mkdir()
        (folder / "file").write_text("x")
    link.symlink_to(elsewhere)
    (tmp_path / f"{subject.LOCK_PREFIX}older").touch()  # its server was killed between lock and folder
    subject.delete_abandoned()
    assert not forsaken.exists() and (elsewhere / "file").exists()
    assert len(list(tmp_path.glob(f"{subject.LOCK_PREFIX}*"))) == 1, "that of the running server"
    assert running is not None and running.exists()
    link.unlink()
    (elsewhere / "file").unlink()
    elsewhere.rmdir()


def test_closing_waits_for_another_thread_that_deletes(guests: UploadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bring(guests).folder
    deleting, delete = Event(), subject._delete

    def slowly(root: Path) -> None:
        deleting.set()
        sleep(0.1)
        delete(root)

    monkeypatch.setattr(subject, "_delete", slowly)
    Thread(target=guests.close).start()
    deleting.wait()
    guests.close()
    assert not folder.exists(), "without the folder the process may end"
