"""Checkpoints of a visitor: uploaded as a zip or the files of a folder, or opened by a path or a Hub id."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from app.access.settings import settings
from app.access.uploads import Extract, VisitorCheckpoint, upload_store
from app.access.visitor import current_visitor
from app.services.model_listing import listed_models
from app.services.open_models import discard_checkpoint, open_checkpoint
from model.checkpoints.catalog import hub_cache_folder
from model.checkpoints.files.upload_archive import BinaryFile, FileContent, extract_zip, write_files
from model.checkpoints.hub import download_model, is_hub_id
from model.errors import CheckpointError, HeadlightError

MAX_PATH_LENGTH = 4_000  # characters of a path


def upload_zip(name: str, data: BinaryFile) -> VisitorCheckpoint:
    """Open an uploaded .zip, which replaces the visitor's last upload. Raises HeadlightError where that fails."""
    return _receive_upload(PurePosixPath(name).stem, lambda root, limits: extract_zip(data, root, limits))


def upload_folder(files: Mapping[str, FileContent]) -> VisitorCheckpoint:
    """The same for the files of a folder, by their paths."""
    top = {PurePosixPath(name).parts[0] for name in files if name}
    title = top.pop() if len(top) == 1 else "my model"
    return _receive_upload(title, lambda root, limits: write_files(files, root, limits))


def open_path(text: str) -> VisitorCheckpoint:
    """Open a folder or file of this machine, or download a model of the Hugging Face Hub by its id.

    Raises HeadlightError where it cannot be opened, and on a shared server.
    """
    if settings().shared:
        raise CheckpointError("A shared server opens no paths; upload the checkpoint instead.")
    text = text.strip().strip("\"'")
    path = Path(os.path.expanduser(text))
    if is_hub_id(text) and not path.is_absolute():
        return _open_from_hub(text)
    if len(text) > MAX_PATH_LENGTH or "\0" in text or not path.is_absolute() or not path.exists():
        raise CheckpointError("There is no such folder on this machine. Enter its absolute path.")
    return _open_or_discard(upload_store().add_folder(current_visitor(), path.resolve()))


def _open_from_hub(name: str) -> VisitorCheckpoint:
    """A model of the Hub: available to everybody where the server lists the cache, else to this visitor alone."""
    folder = download_model(name, hub_cache_folder())
    if name in {card.name for card in listed_models(refresh=True)}:
        open_checkpoint(name)
        return VisitorCheckpoint(name, name, folder)
    return _open_or_discard(upload_store().add_folder(current_visitor(), folder))


def _receive_upload(title: str, extract: Extract) -> VisitorCheckpoint:
    replaced_uploads = [owned for owned in upload_store().owned_by(current_visitor()) if owned.upload_dir]
    checkpoint = _open_or_discard(upload_store().add_upload(current_visitor(), title, extract))
    for replaced in replaced_uploads:
        discard_checkpoint(replaced.name)
    return checkpoint


def _open_or_discard(checkpoint: VisitorCheckpoint) -> VisitorCheckpoint:
    """The checkpoint itself, removed where it cannot be opened."""
    try:
        open_checkpoint(checkpoint.name)
    except HeadlightError:
        discard_checkpoint(checkpoint.name)
        raise
    return checkpoint
