"""What the engine does with a checkpoint that somebody brings: unpack it, open it, download it."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from app.ui.wire_format import pack
from app.worker.open_models import open_checkpoint
from model.checkpoints.catalog import hub_cache_folder
from model.checkpoints.files.upload_archive import UploadLimits, extract_zip, write_files
from model.checkpoints.hub import download_model, is_hub_id
from model.errors import CheckpointError


def handle_extract(body: dict[str, Any]) -> bytes:
    """Check the files that were sent, which lie in `sent` by number, and lay them out in `folder`.

    `names` are theirs; a single one without a name is a .zip. Raises CheckpointError, and leaves nothing, for what
    holds no checkpoint.
    """
    sent, folder, names = Path(body["sent"]), Path(body["folder"]), [str(name) for name in body["names"]]
    limits = UploadLimits(max_bytes=int(body["max_bytes"]))
    try:
        with ExitStack() as files:
            opened = [files.enter_context((sent / str(number)).open("rb")) for number in range(len(names))]
            if names == [""]:
                found = extract_zip(opened[0], folder, limits)
            else:
                found = write_files(dict(zip(names, opened, strict=True)), folder, limits)
    finally:
        shutil.rmtree(sent, ignore_errors=True)
    return pack({"folder": str(found)})


def handle_open(body: dict[str, Any]) -> bytes:
    """Open a model, so that whoever asks next need not wait. Raises CheckpointError where it cannot be opened."""
    open_checkpoint(str(body.get("model", "")))
    return pack({})


def handle_download(body: dict[str, Any]) -> bytes:
    """Download a model of the Hugging Face Hub; gives its folder in the cache. Raises CheckpointError."""
    name = str(body["model"])
    if not is_hub_id(name):
        raise CheckpointError(
            f"{name[:80]!r} is neither a folder of this machine, by its absolute path, nor the id of a model."
        )
    try:
        return pack({"folder": str(download_model(name, hub_cache_folder()))})
    except OSError as error:
        raise CheckpointError("The cache of the Hugging Face Hub cannot be written on this machine.") from error
