"""Checkpoints that are one visitor's alone: what they uploaded, and folders of their own machine that they opened.

Nobody else's name for them finds anything. An upload lies in a folder that only this process's user reads, and is
deleted when it is replaced, when its visitor has left, and when the server stops.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import time

from filelock import BaseFileLock, FileLock, Timeout

from app.access.settings import settings
from app.access.visitor import UNKNOWN_VISITOR
from model.errors import CheckpointError

UPLOAD_PREFIX = "upload-"  # of the name of every upload
FOLDER_PREFIX = "headlight-uploads-"
GRACE_SECONDS = 120.0  # seconds that a visitor may be away: a reload, or a network that fails for a moment
IN_USE = "in-use"  # the file that a server locks as long as it runs
ABANDONED_SECONDS = 60.0  # seconds that a server may take from making its folder to locking it
MAX_EXPANSION = 2  # times larger than its limit that an upload may unpack to; weights hardly shrink
SERVER_FACTOR = 8  # times one upload's limit that all of them may take together
MAX_UPLOADS = 1_000  # uploads at a time, however small
UPLOAD_GONE = (
    "This name is of an upload that is not here: uploads belong to the browser that sent them, "
    "and are deleted when it leaves. Upload the checkpoint again on the Models page."
)
DISK_FULL = "The disk of this server is full, so it can take no upload now. Whoever runs it can make room."
SERVER_FULL = "There is no room for another upload now: others here have taken it. Try again in a few minutes."
Extract = Callable[[Path, int], Path]  # into a folder, of so many bytes at most; gives the one that is opened


@dataclass(frozen=True)
class VisitorCheckpoint:
    """A checkpoint of one visitor: its name in addresses, its title, what is opened, and what is to be deleted."""

    name: str
    title: str
    folder: Path
    upload_dir: Path | None = None
    size: int = 0


class UploadStore:
    """Who has brought which checkpoints; `limit` is in bytes of one upload as it is sent."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.uploads_dir: Path | None = None
        self.in_use: BaseFileLock | None = None
        self.checkpoints: dict[str, dict[str, VisitorCheckpoint]] = {}
        self.sessions: dict[str, set[str]] = {}
        self.last_seen: dict[str, float] = {}
        self.reserved_bytes = 0  # bytes that uploads being unpacked may still take
        self.lock = Lock()

    def owned_by(self, visitor: str) -> tuple[VisitorCheckpoint, ...]:
        """What a visitor has brought."""
        with self.lock:
            return tuple(self.checkpoints.get(visitor, {}).values())

    def find(self, visitor: str, name: str) -> VisitorCheckpoint | None:
        """A visitor's own checkpoint. Raises CheckpointError for an upload that is not theirs."""
        with self.lock:
            checkpoint = self.checkpoints.get(visitor, {}).get(name)
        if checkpoint is None and name.startswith(UPLOAD_PREFIX):
            raise CheckpointError(UPLOAD_GONE)
        return checkpoint

    def folder_of(self, visitor: str, name: str) -> Path | None:
        """Where a visitor's own checkpoint lies. Raises CheckpointError for an upload that is not theirs."""
        checkpoint = self.find(visitor, name)
        return checkpoint.folder if checkpoint else None

    def add_folder(self, visitor: str, folder: Path) -> VisitorCheckpoint:
        """Let a visitor open a folder of this machine, under its path."""
        _require_visitor(visitor)
        checkpoint = VisitorCheckpoint(str(folder), folder.name or str(folder), folder)
        with self.lock:
            self.checkpoints.setdefault(visitor, {})[checkpoint.name] = checkpoint
            self.last_seen[visitor] = time()
        return checkpoint

    def add_upload(self, visitor: str, title: str, extract: Extract) -> VisitorCheckpoint:
        """Take an upload, which `extract` checks and puts into a folder. Where it raises, nothing is left."""
        _require_visitor(visitor)
        allowed_bytes = self._reserve()
        upload_dir = self._uploads_dir() / secrets.token_hex(16)
        try:
            upload_dir.mkdir(mode=0o700)
            folder = extract(upload_dir, allowed_bytes)
        except BaseException:
            _delete(upload_dir)
            raise
        finally:
            with self.lock:
                self.reserved_bytes -= allowed_bytes
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "checkpoint"
        size = sum(path.stat().st_size for path in upload_dir.rglob("*") if path.is_file())
        checkpoint = VisitorCheckpoint(
            f"{UPLOAD_PREFIX}{slug}-{secrets.token_urlsafe(16)}", title, folder, upload_dir, size
        )
        with self.lock:
            self.checkpoints.setdefault(visitor, {})[checkpoint.name] = checkpoint
            self.last_seen[visitor] = time()
        return checkpoint

    def remove(self, visitor: str, name: str) -> VisitorCheckpoint | None:
        """Forget a visitor's checkpoint; an upload is deleted."""
        with self.lock:
            checkpoint = self.checkpoints.get(visitor, {}).pop(name, None)
        if checkpoint and checkpoint.upload_dir:
            _delete(checkpoint.upload_dir)
        return checkpoint

    def mark_seen(self, visitor: str, session: str) -> None:
        """A session of the page is a visitor's, who may have brought something."""
        with self.lock:
            if visitor in self.checkpoints:
                self.sessions.setdefault(visitor, set()).add(session)
                self.last_seen[visitor] = time()

    def sweep(self, is_alive: Callable[[str], bool], now: float | None = None) -> tuple[VisitorCheckpoint, ...]:
        """Delete what those brought who have left: none of their sessions is alive, for GRACE_SECONDS."""
        now, departed = time() if now is None else now, []
        with self.lock:
            for visitor in list(self.checkpoints):
                live_sessions = {session for session in self.sessions.get(visitor, ()) if is_alive(session)}
                self.sessions[visitor] = live_sessions
                if live_sessions:
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
            uploads_dir, self.uploads_dir = self.uploads_dir, None
            in_use, self.in_use = self.in_use, None
        if uploads_dir and in_use:
            in_use.release()
            _delete(uploads_dir)

    def _pop_visitor(self, visitor: str) -> list[VisitorCheckpoint]:
        self.sessions.pop(visitor, None)
        self.last_seen.pop(visitor, None)
        return list(self.checkpoints.pop(visitor).values())

    def _reserve(self) -> int:
        """How many bytes an upload may unpack to, taken from what all may."""
        with self.lock:
            uploaded = [guest for guests in self.checkpoints.values() for guest in guests.values() if guest.upload_dir]
            remaining = self.limit * SERVER_FACTOR - self.reserved_bytes - sum(guest.size for guest in uploaded)
            free = shutil.disk_usage(tempfile.gettempdir()).free // 2
            allowed_bytes = min(self.limit * MAX_EXPANSION, remaining, free)
            if free < self.limit:
                raise CheckpointError(DISK_FULL)
            if allowed_bytes < self.limit or len(uploaded) >= MAX_UPLOADS:
                raise CheckpointError(SERVER_FULL)
            self.reserved_bytes += allowed_bytes
        return allowed_bytes

    def _uploads_dir(self) -> Path:
        with self.lock:
            if self.uploads_dir is None:
                self.uploads_dir = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
                self.in_use = FileLock(self.uploads_dir / IN_USE)
                self.in_use.acquire()
            return self.uploads_dir


@lru_cache(maxsize=1)
def upload_store() -> UploadStore:
    """The one register of this process."""
    return UploadStore(settings().upload_limit << 20)


def delete_abandoned(now: float | None = None) -> None:
    """Delete what servers that were killed have left behind: nobody locks it any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        try:
            is_new = (time() if now is None else now) - folder.stat().st_mtime < ABANDONED_SECONDS
            if folder.is_symlink() or is_new:
                continue
            with FileLock(folder / IN_USE, timeout=0):
                _delete(folder)
        except (OSError, Timeout):
            continue  # somebody else's, or of a server that runs


def _require_visitor(visitor: str) -> None:
    if visitor == UNKNOWN_VISITOR:
        raise CheckpointError(
            "Your browser sends no cookie to this page, so nothing could be kept for you alone. "
            "Allow cookies here (an embedded page may need a window of its own), and reload."
        )


def _delete(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
