"""How a visitor brings a checkpoint of their own: a zip, the files of a folder, or a path of this machine."""

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
    """Take a .zip in place of what this visitor uploaded before. Raises HeadlightError, and keeps nothing of it."""
    return _receive_upload(PurePosixPath(name).stem, lambda root, limits: extract_zip(data, root, limits))


def upload_folder(files: Mapping[str, FileContent]) -> VisitorCheckpoint:
    """The same for the files of a folder, by their paths. Raises HeadlightError, and keeps nothing of it."""
    top = {PurePosixPath(name).parts[0] for name in files if name}
    title = top.pop() if len(top) == 1 else "my model"
    return _receive_upload(title, lambda root, limits: write_files(files, root, limits))


def open_path(text: str) -> VisitorCheckpoint:
    """Open a folder or file of this machine, or fetch a model of the Hugging Face Hub by its id.

    Raises HeadlightError, always where the server is shared.
    """
    if settings().shared:
        raise CheckpointError("On a shared server nobody opens a path; upload the checkpoint instead.")
    text = text.strip().strip("\"'")
    path = Path(os.path.expanduser(text))
    if is_hub_id(text) and not path.is_absolute():
        return _open_from_hub(text)
    if len(text) > MAX_PATH_LENGTH or "\0" in text or not path.is_absolute() or not path.exists():
        raise CheckpointError("There is no such folder on this machine. Give its whole path, from the root on.")
    return _open_or_discard(upload_store().add_folder(current_visitor(), path.resolve()))


def _open_from_hub(name: str) -> VisitorCheckpoint:
    """A model of the Hub: everybody's where the cache is offered, this visitor's where it is not."""
    folder = download_model(name, hub_cache_folder())
    if name in {card.name for card in listed_models(refresh=True)}:
        open_checkpoint(name)
        return VisitorCheckpoint(name, name, folder)
    return _open_or_discard(upload_store().add_folder(current_visitor(), folder))


def _receive_upload(title: str, extract: Extract) -> VisitorCheckpoint:
    replaced_uploads = [guest for guest in upload_store().owned_by(current_visitor()) if guest.upload_dir]
    checkpoint = _open_or_discard(upload_store().add_upload(current_visitor(), title, extract))
    for replaced in replaced_uploads:
        discard_checkpoint(replaced.name)
    return checkpoint


def _open_or_discard(checkpoint: VisitorCheckpoint) -> VisitorCheckpoint:
    """What cannot be opened is not kept."""
    try:
        open_checkpoint(checkpoint.name)
    except HeadlightError:
        discard_checkpoint(checkpoint.name)
        raise
    return checkpoint
