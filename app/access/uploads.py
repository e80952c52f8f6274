"""Checkpoints that are one visitor's alone: what they uploaded, and folders of their own machine that they opened.

Nobody else's name for them finds anything. An upload lies in a folder that only this process's user reads, and is
deleted when it is replaced, when its visitor has left, and when the server stops.
"""

from __future__ import annotations

import os
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

from app.access.settings import settings
from app.access.visitor import NOBODY
from model.checkpoints.files.upload_archive import Limits
from model.errors import CheckpointError

PREFIX = "upload-"  # of the name of every upload
FOLDER = "headlight-uploads-"
GRACE = 120.0  # seconds that a visitor may be away: a reload, or a network that fails for a moment
FORSAKEN = 3600.0  # seconds after which a folder that no server has touched was left by one that is no more
GROWTH = 2  # times larger than its limit that an upload may unpack to; weights hardly shrink
SERVER = 8  # times one upload's limit that all of them may take together
MOST = 40  # uploads at a time
GONE = (
    "This name is of an upload that is not here: uploads belong to the browser that sent them, "
    "and are deleted when it leaves. Upload the checkpoint again on the Models page."
)
FULL = "There is no room for another upload now: others here have taken it. Try again in a few minutes."
Lay = Callable[[Path, Limits], Path]


@dataclass(frozen=True)
class Guest:
    """A checkpoint of one visitor: its name in addresses, its title, what is opened, and what is to be deleted."""

    name: str
    title: str
    folder: Path
    root: Path | None = None
    size: int = 0


class Guests:
    """Who has brought which checkpoints; `limit` is in bytes of one upload as it is sent."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.root: Path | None = None
        self.held: dict[str, dict[str, Guest]] = {}
        self.sessions: dict[str, set[str]] = {}
        self.last: dict[str, float] = {}
        self.coming = 0  # bytes that uploads being unpacked may still take
        self.lock = Lock()

    def of(self, visitor: str) -> tuple[Guest, ...]:
        """What a visitor has brought."""
        with self.lock:
            return tuple(self.held.get(visitor, {}).values())

    def find(self, visitor: str, name: str) -> Guest | None:
        """A visitor's own checkpoint. Raises CheckpointError for an upload that is not theirs."""
        with self.lock:
            guest = self.held.get(visitor, {}).get(name)
        if guest is None and name.startswith(PREFIX):
            raise CheckpointError(GONE)
        return guest

    def folder(self, visitor: str, name: str) -> Path | None:
        """Where a visitor's own checkpoint lies. Raises CheckpointError for an upload that is not theirs."""
        guest = self.find(visitor, name)
        return guest.folder if guest else None

    def admit(self, visitor: str, folder: Path) -> Guest:
        """Let a visitor open a folder of this machine, under its path."""
        _require(visitor)
        guest = Guest(str(folder), folder.name or str(folder), folder)
        with self.lock:
            self.held.setdefault(visitor, {})[guest.name] = guest
            self.last[visitor] = time()
        return guest

    def receive(self, visitor: str, title: str, lay: Lay) -> Guest:
        """Take an upload, which `lay` checks and puts into a folder. Where it raises, nothing is left."""
        _require(visitor)
        room = self._reserve()
        root = self._root() / secrets.token_hex(16)
        try:
            root.mkdir(mode=0o700)
            folder = lay(root, Limits(size=room))
        except BaseException:
            _delete(root)
            raise
        finally:
            with self.lock:
                self.coming -= room
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "checkpoint"
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
        guest = Guest(f"{PREFIX}{slug}-{secrets.token_urlsafe(16)}", title, folder, root, size)
        with self.lock:
            self.held.setdefault(visitor, {})[guest.name] = guest
            self.last[visitor] = time()
        return guest

    def remove(self, visitor: str, name: str) -> Guest | None:
        """Forget a visitor's checkpoint; an upload is deleted."""
        with self.lock:
            guest = self.held.get(visitor, {}).pop(name, None)
        if guest and guest.root:
            _delete(guest.root)
        return guest

    def seen(self, visitor: str, session: str) -> None:
        """A session of the page is a visitor's, who may have brought something."""
        with self.lock:
            if visitor in self.held:
                self.sessions.setdefault(visitor, set()).add(session)
                self.last[visitor] = time()

    def sweep(self, alive: Callable[[str], bool], now: float | None = None) -> tuple[Guest, ...]:
        """Delete what those brought who have left: none of their sessions is alive, for GRACE seconds."""
        now, left = time() if now is None else now, []
        with self.lock:
            for visitor in list(self.held):
                here = {session for session in self.sessions.get(visitor, ()) if alive(session)}
                self.sessions[visitor] = here
                if here:
                    self.last[visitor] = now
                elif now - self.last[visitor] > GRACE:
                    left.append(self._forget(visitor))
            root = self.root
        if root and root.is_dir():
            os.utime(root)  # so that no other server takes it for forsaken
        gone = [guest for guests in left for guest in guests]
        for guest in gone:
            if guest.root:
                _delete(guest.root)
        return tuple(gone)

    def close(self) -> None:
        """Delete all uploads."""
        with self.lock:
            for visitor in list(self.held):
                self._forget(visitor)
            root, self.root = self.root, None
        if root:
            _delete(root)

    def _forget(self, visitor: str) -> list[Guest]:
        self.sessions.pop(visitor, None)
        self.last.pop(visitor, None)
        return list(self.held.pop(visitor).values())

    def _reserve(self) -> int:
        """How many bytes an upload may unpack to, taken from what all may."""
        with self.lock:
            uploads = [guest for guests in self.held.values() for guest in guests.values() if guest.root]
            left = self.limit * SERVER - self.coming - sum(guest.size for guest in uploads)
            room = min(self.limit * GROWTH, left, shutil.disk_usage(tempfile.gettempdir()).free // 2)
            if room < self.limit or len(uploads) >= MOST:
                raise CheckpointError(FULL)
            self.coming += room
        return room

    def _root(self) -> Path:
        with self.lock:
            if self.root is None:
                self.root = Path(tempfile.mkdtemp(prefix=FOLDER))
            return self.root


@lru_cache(maxsize=1)
def guests() -> Guests:
    """The one register of this process."""
    return Guests(settings().upload_limit << 20)


def clear_forsaken(now: float | None = None) -> None:
    """Delete what servers that were killed have left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        try:
            if not folder.is_symlink() and (time() if now is None else now) - folder.stat().st_mtime > FORSAKEN:
                _delete(folder)
        except OSError:
            continue  # somebody else's


def _require(visitor: str) -> None:
    if visitor == NOBODY:
        raise CheckpointError(
            "Your browser sends no cookie to this page, so nothing could be kept for you alone. "
            "Allow cookies here (an embedded page may need a window of its own), and reload."
        )


def _delete(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
