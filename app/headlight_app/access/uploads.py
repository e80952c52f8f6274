"""Checkpoints of single visitors: their uploads, and the folders of their own machine that they opened.

Other visitors cannot open them by name. An upload is stored in a folder that only this process's user can read. It is
deleted when its visitor removes it or leaves, and when the server stops.
"""

from __future__ import annotations

import errno
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from threading import Lock
from time import time

from filelock import BaseFileLock, FileLock, Timeout

from headlight.errors import CheckpointError
from headlight_app.access.settings import settings
from headlight_app.access.visitor import UNKNOWN_VISITOR

UPLOAD_PREFIX = "upload-"  # begins the name of every upload
FOLDER_PREFIX = "headlight-stored-"  # a version before, whose lock lay in its folder, began with headlight-uploads-
GRACE_SECONDS = 120.0  # seconds that a visitor may have no session, as in a reload or a short network failure
LOCK_PREFIX = "headlight-lock-"  # of the file beside it, which a running server keeps locked
VISITOR_FACTOR = 2  # times the upload limit: the unpacked uploads of one visitor
SERVER_FACTOR = 8  # times the upload limit: the uploads of all visitors
MAX_PER_VISITOR = 8  # uploads of one visitor
MAX_UPLOADS = 1_000  # uploads at a time, however small
UPLOAD_GONE = (
    "This name belongs to an upload that is not here: uploads belong to the browser that sent them, "
    "and are deleted when it leaves. Upload the checkpoint again on the Models page."
)
DISK_FULL = "The disk of this server is full, so it can take no upload now. Ask the person who runs it to make room."
ONE_AT_A_TIME = "Another upload of yours is still being checked. Send this one when it is done."
SERVER_FULL = "There is no room for another upload now: others here have taken it. Try again in a few minutes."
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)  # on the disk, for this user
Extract = Callable[[Path, int], Path]  # (folder, maximum bytes) -> folder to open


@dataclass(frozen=True)
class VisitorCheckpoint:
    """A checkpoint of one visitor: its name in URLs, its title, the folder to open, and the folder to delete.

    The title is unique among the visitor's checkpoints.
    """

    name: str
    title: str
    folder: Path
    upload_dir: Path | None = None
    size: int = 0


class UploadStore:
    """The own checkpoints of each visitor.

    `limit` bounds the bytes of one upload as sent, `visitor_limit` the bytes of all unpacked uploads of a visitor.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.visitor_limit = limit * VISITOR_FACTOR
        self.uploads_dir: Path | None = None
        self.in_use: BaseFileLock | None = None
        self.checkpoints: dict[str, dict[str, VisitorCheckpoint]] = {}
        self.last_seen: dict[str, float] = {}
        self.reserved: dict[str, int] = {}  # bytes reserved for the upload being unpacked, by visitor
        self.lock = Lock()

    def owned_by(self, visitor: str) -> tuple[VisitorCheckpoint, ...]:
        """A visitor's own checkpoints."""
        with self.lock:
            return tuple(self.checkpoints.get(visitor, {}).values())

    def find(self, visitor: str, name: str) -> VisitorCheckpoint | None:
        """A visitor's own checkpoint; None for other names. Raises CheckpointError for an upload that is not theirs."""
        with self.lock:
            checkpoint = self.checkpoints.get(visitor, {}).get(name)
        if checkpoint is None and is_upload(name):
            raise CheckpointError(UPLOAD_GONE)
        return checkpoint

    def add_folder(self, visitor: str, folder: Path, title: str = "") -> VisitorCheckpoint:
        """Let a visitor open a folder of this machine; its name is its path."""
        _require_visitor(visitor)
        return self._add(visitor, VisitorCheckpoint(str(folder), title or folder.name or str(folder), folder))

    def add_upload(self, visitor: str, title: str, extract: Extract, size: int = 0) -> VisitorCheckpoint:
        """Store an upload that was sent as `size` bytes; `extract` checks it and unpacks it into a folder.

        Raises CheckpointError if there is no room. If `extract` raises, its files are deleted.
        """
        _require_visitor(visitor)
        allowed_bytes = self._reserve(visitor, size)
        try:
            with _disk_errors():
                return self._store(visitor, title, extract, allowed_bytes)
        finally:
            with self.lock:
                del self.reserved[visitor]

    def _store(self, visitor: str, title: str, extract: Extract, allowed_bytes: int) -> VisitorCheckpoint:
        upload_dir = self._uploads_dir() / secrets.token_hex(16)
        try:
            upload_dir.mkdir(mode=0o700)
            folder = extract(upload_dir, allowed_bytes)
            slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "checkpoint"
            unpacked = sum(path.stat().st_size for path in upload_dir.rglob("*") if path.is_file())
            name = f"{UPLOAD_PREFIX}{slug}-{secrets.token_urlsafe(16)}"
            return self._add(visitor, VisitorCheckpoint(name, title, folder, upload_dir, unpacked))
        except BaseException:
            _delete(upload_dir)
            raise

    def _add(self, visitor: str, checkpoint: VisitorCheckpoint) -> VisitorCheckpoint:
        """Register a checkpoint. A second one with the same title gets a number appended."""
        with self.lock:
            own = self.checkpoints.setdefault(visitor, {})
            titles = {each.title for each in own.values() if each.name != checkpoint.name}
            numbered = (f"{checkpoint.title} ({number})" for number in count(2))
            title = next(title for title in chain([checkpoint.title], numbered) if title not in titles)
            own[checkpoint.name] = kept = replace(checkpoint, title=title)
            self.last_seen[visitor] = time()
        return kept

    def remove(self, visitor: str, name: str) -> VisitorCheckpoint | None:
        """Forget a visitor's checkpoint, and delete it if it is an upload."""
        with self.lock:
            checkpoint = self.checkpoints.get(visitor, {}).pop(name, None)
        if checkpoint and checkpoint.upload_dir:
            _delete(checkpoint.upload_dir)
        return checkpoint

    def sweep(self, is_here: Callable[[str], bool], now: float | None = None) -> tuple[VisitorCheckpoint, ...]:
        """Delete the checkpoints of visitors who have not been here for GRACE_SECONDS."""
        now, departed = time() if now is None else now, []
        with self.lock:
            for visitor in list(self.checkpoints):
                if is_here(visitor):
                    self.last_seen[visitor] = now
                elif now - self.last_seen[visitor] > GRACE_SECONDS:
                    departed.append(self._pop_visitor(visitor))
        removed = [guest for checkpoints in departed for guest in checkpoints]
        for checkpoint in removed:
            if checkpoint.upload_dir:
                _delete(checkpoint.upload_dir)
        return tuple(removed)

    def close(self) -> None:
        """Delete all uploads."""
        with self.lock:
            for visitor in list(self.checkpoints):
                self._pop_visitor(visitor)
            if self.uploads_dir and self.in_use:  # under the lock, so that stopping the server waits for the deletion
                _delete(self.uploads_dir)
                self.in_use.release()
                _lock_of(self.uploads_dir).unlink(missing_ok=True)
            self.uploads_dir = self.in_use = None

    def _pop_visitor(self, visitor: str) -> list[VisitorCheckpoint]:
        self.last_seen.pop(visitor, None)
        return list(self.checkpoints.pop(visitor).values())

    def _reserve(self, visitor: str, size: int) -> int:
        """Reserve space for an upload. Returns how many bytes it may unpack to."""
        free = shutil.disk_usage(tempfile.gettempdir()).free // 2
        if free < self.limit:
            raise CheckpointError(DISK_FULL)
        with self.lock:
            if visitor in self.reserved:
                raise CheckpointError(ONE_AT_A_TIME)
            uploads = {owner: _upload_sizes(own) for owner, own in self.checkpoints.items()}
            own, everybodys = uploads.get(visitor, []), list(chain.from_iterable(uploads.values()))
            remaining_own = self.visitor_limit - sum(own)
            if len(own) >= MAX_PER_VISITOR or remaining_own < max(size, 1):
                raise CheckpointError(self._visitor_full(len(own), sum(own), size))
            remaining = self.limit * SERVER_FACTOR - sum(self.reserved.values()) - sum(everybodys)
            if remaining < self.limit or len(everybodys) >= MAX_UPLOADS:
                raise CheckpointError(SERVER_FULL)
            self.reserved[visitor] = allowed_bytes = min(remaining_own, remaining, free)
        return allowed_bytes

    def _visitor_full(self, number: int, taken: int, size: int) -> str:
        if number >= MAX_PER_VISITOR:
            return f"You have {number} uploads, and may keep no more here. Remove one below, then send this one again."
        return (
            f"Your uploads take {_megabytes(taken)} of the {_megabytes(self.visitor_limit)} that you may keep here, "
            f"and this one has {_megabytes(size)}. Remove one below, then send it again."
        )

    def _uploads_dir(self) -> Path:
        with self.lock:
            if self.uploads_dir is None:
                folder = Path(tempfile.gettempdir()) / f"{FOLDER_PREFIX}{secrets.token_hex(8)}"
                self.in_use = FileLock(_lock_of(folder))
                self.in_use.acquire()  # before the folder is there: an unlocked one is a killed server's
                folder.mkdir(mode=0o700)
                self.uploads_dir = folder
            return self.uploads_dir


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Turn errors of the disk, also those while files are copied, into CheckpointError."""
    try:
        yield
    except OSError as error:
        why = f"This server cannot store the upload: {error.strerror or 'its disk fails'}. Tell the person who runs it."
        raise CheckpointError(DISK_FULL if error.errno in NO_ROOM else why) from error


@lru_cache(maxsize=1)
def upload_store() -> UploadStore:
    """The one instance of this process."""
    return UploadStore(settings().upload_limit << 20)


def delete_abandoned() -> None:
    """Delete the folders of killed servers, which no process has locked."""
    place = Path(tempfile.gettempdir())
    found = {*place.glob(f"{FOLDER_PREFIX}*"), *map(_folder_of, place.glob(f"{LOCK_PREFIX}*"))}
    for folder in found:
        with suppress(OSError, Timeout):  # belongs to another user or to a running server
            if folder.is_symlink():
                continue
            with FileLock(_lock_of(folder), timeout=0):
                _delete(folder)
            _lock_of(folder).unlink(missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(LOCK_PREFIX + folder.name.removeprefix(FOLDER_PREFIX))


def _folder_of(lock: Path) -> Path:
    return lock.with_name(FOLDER_PREFIX + lock.name.removeprefix(LOCK_PREFIX))


def is_upload(name: str) -> bool:
    """Whether a visitor's own checkpoint is an upload; otherwise it is a folder of their machine."""
    return name.startswith(UPLOAD_PREFIX)


def describe_ownership(name: str) -> str:
    """The origin of a visitor's own checkpoint, for lists of all models."""
    return "your upload" if is_upload(name) else "opened from your disk"


def _require_visitor(visitor: str) -> None:
    if visitor == UNKNOWN_VISITOR:
        raise CheckpointError(
            "Your browser sends no cookie of this server, so nothing can be stored for you. "
            "Allow cookies here (an embedded page may need a window of its own), and reload."
        )


def _upload_sizes(checkpoints: Mapping[str, VisitorCheckpoint]) -> list[int]:
    return [each.size for each in checkpoints.values() if each.upload_dir]


def _megabytes(size: int) -> str:
    return f"{-(-size // (1 << 20)):,} MB"


def _delete(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
