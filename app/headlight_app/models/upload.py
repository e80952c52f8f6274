"""Checkpoints of a visitor: uploaded as a file or a folder, or opened by a path or a Hub id."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from headlight.errors import CheckpointError, HeadlightError
from headlight_app.access.settings import settings
from headlight_app.access.uploads import Extract, VisitorCheckpoint, upload_store
from headlight_app.access.visitor import current_visitor
from headlight_app.engine.client import ask
from headlight_app.engine.models import listed_models
from headlight_app.models.contract import DownloadRequest, ExtractUploadRequest, OpenCheckpointRequest

MAX_PATH_LENGTH = 4_000  # characters of a path
NO_SUCH_FOLDER = "There is no such folder on this machine. Enter its absolute path."
CHUNK_BYTES = 1 << 20  # copied at once


def upload_file(name: str, data: BinaryIO) -> VisitorCheckpoint:
    """Open an uploaded .zip or .gguf, in addition to the visitor's earlier uploads.

    Raises HeadlightError if that fails.
    """
    path = PurePosixPath(name)
    return _receive_upload(path.stem, {path.name if path.suffix == ".gguf" else "": data})


def upload_folder(files: Mapping[str, BinaryIO]) -> VisitorCheckpoint:
    """The same for the files of a folder, by their paths."""
    tops = {top for name in files for top in PurePosixPath(name).parts[:1]}
    title = tops.pop() if len(tops) == 1 else "my model"
    return _receive_upload(title, files)


def _extractor(files: Mapping[str, BinaryIO]) -> Extract:
    """A function that lets the engine check and unpack files; this process never parses their content."""

    def extract(folder: Path, max_bytes: int) -> Path:
        sent = folder.with_name(f"{folder.name}-sent")
        sent.mkdir(mode=0o700)
        try:
            for number, data in enumerate(files.values()):
                data.seek(0)
                with (sent / str(number)).open("wb") as file:
                    shutil.copyfileobj(data, file, CHUNK_BYTES)
            asked = ExtractUploadRequest(sent=str(sent), folder=str(folder), names=tuple(files), max_bytes=max_bytes)
            return Path(ask(asked).answer.folder)
        finally:
            shutil.rmtree(sent, ignore_errors=True)

    return extract


def open_path(text: str) -> VisitorCheckpoint:
    """Open a folder or file of this machine, or download a model of the Hugging Face Hub by its id.

    Raises HeadlightError if it cannot be opened, and on a shared server.
    """
    if settings().shared:
        raise CheckpointError("A shared server does not open paths; upload the checkpoint instead.")
    text = text.strip().strip("\"'")
    path = Path(os.path.expanduser(text))
    if len(text) > MAX_PATH_LENGTH or "\0" in text:
        raise CheckpointError(NO_SUCH_FOLDER)
    if not path.is_absolute():
        return _open_from_hub(text)
    if not path.exists():
        raise CheckpointError(NO_SUCH_FOLDER)
    return _open_or_discard(upload_store().add_folder(current_visitor(), path.resolve()))


def _open_from_hub(name: str) -> VisitorCheckpoint:
    """A model of the Hub: for all visitors if the server lists the cache, else only for this visitor."""
    folder = Path(ask(DownloadRequest(hub_id=name)).answer.folder)
    if name in {card.name for card in listed_models(refresh=True)}:
        ask(OpenCheckpointRequest(model=name))
        return VisitorCheckpoint(name, name, folder)
    return _open_or_discard(upload_store().add_folder(current_visitor(), folder, name))


def _receive_upload(title: str, files: Mapping[str, BinaryIO]) -> VisitorCheckpoint:
    size = sum(data.seek(0, os.SEEK_END) for data in files.values())
    return _open_or_discard(upload_store().add_upload(current_visitor(), title, _extractor(files), size))


def _open_or_discard(checkpoint: VisitorCheckpoint) -> VisitorCheckpoint:
    """The checkpoint itself; it is removed if it cannot be opened."""
    try:
        ask(OpenCheckpointRequest(model=checkpoint.name))
    except HeadlightError:
        upload_store().remove(current_visitor(), checkpoint.name)
        raise
    return checkpoint
