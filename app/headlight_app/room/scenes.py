"""The file of scenes given at server start, which is offered to browsers on the server's machine."""

from __future__ import annotations

import errno
import json
from pathlib import Path

from headlight.errors import CheckpointError, DataError
from headlight.paths import read_regular
from headlight_app.access.addresses import is_this_machine
from headlight_app.access.settings import settings
from headlight_app.room.contract import OfferedScenesAnswer, OfferedScenesRequest
from headlight_app.room.rooms import Browser

MAX_SCENES_BYTES = 4 << 20


def offered_scenes(browser: Browser, request: OfferedScenesRequest) -> OfferedScenesAnswer:
    """The scenes for this browser. The file is read each time, so that edits to it take effect."""
    if not settings().scenes or not is_this_machine(browser.address):
        return OfferedScenesAnswer()
    path = Path(settings().scenes)
    return OfferedScenesAnswer(name=path.name, text=read_scenes(path))


def read_scenes(path: Path) -> str:
    """The text of a file of scenes. Raises DataError for any other file."""
    try:
        text = read_regular(path, MAX_SCENES_BYTES).decode("utf-8")
        found = json.loads(text)
    except (OSError, ValueError, RecursionError, CheckpointError) as fault:  # a Git LFS pointer is the last
        if isinstance(fault, OSError) and fault.errno == errno.EFBIG:
            raise DataError(f"{path.name!r} is larger than a list of scenes can be.") from fault
        raise DataError(
            f"{path.name!r} could not be read as a list of scenes. Save one on the page: Scenes."
        ) from fault
    if not isinstance(found, dict) or not isinstance(found.get("scenes"), list) or not found.get("headlight_scenes"):
        raise DataError(
            f"{path.name!r} is not a list of scenes. Save one on the page: Scenes, Save the list as a file."
        )
    return text
