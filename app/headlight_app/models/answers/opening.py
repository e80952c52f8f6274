"""Checkpoints of visitors: unpack, open, download."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

from headlight.checkpoints.catalog import download_model, hub_cache_folder, is_hub_id
from headlight.checkpoints.upload_archive import UploadLimits, extract_zip, write_files
from headlight.errors import CheckpointError
from headlight_app.contract.reply import Reply
from headlight_app.engine.contract import Done
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.models.contract import (
    DownloadRequest,
    ExtractUploadRequest,
    FolderAnswer,
    OpenCheckpointRequest,
)


def answer_extract_upload(request: ExtractUploadRequest) -> Reply[FolderAnswer]:
    """Check the files of an upload, and unpack them.

    Raises CheckpointError, and leaves no files, if they do not contain a checkpoint.
    """
    sent, folder, names = Path(request.sent), Path(request.folder), request.names
    limits = UploadLimits(max_bytes=request.max_bytes)
    try:
        with ExitStack() as files:
            opened = [files.enter_context((sent / str(number)).open("rb")) for number in range(len(names))]
            if names == ("",):
                found = extract_zip(opened[0], folder, limits)
            else:
                found = write_files(dict(zip(names, opened, strict=True)), folder, limits)
    finally:
        shutil.rmtree(sent, ignore_errors=True)
    return Reply(FolderAnswer(folder=str(found)))


def answer_open_checkpoint(request: OpenCheckpointRequest) -> Reply[Done]:
    """Open a model ahead of the next question. Raises CheckpointError if it cannot be opened."""
    open_checkpoint(request.model)
    return Reply(Done())


def answer_download(request: DownloadRequest) -> Reply[FolderAnswer]:
    """Download a model of the Hugging Face Hub, and return its folder in the cache. Raises CheckpointError."""
    if not is_hub_id(request.hub_id):
        raise CheckpointError(
            f"{request.hub_id[:80]!r} is neither the absolute path of a folder on this machine nor the id of a model."
        )
    try:
        return Reply(FolderAnswer(folder=str(download_model(request.hub_id, hub_cache_folder()))))
    except OSError as error:
        raise CheckpointError("The cache of the Hugging Face Hub cannot be written on this machine.") from error
