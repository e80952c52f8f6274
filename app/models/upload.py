"""How a visitor brings a checkpoint of their own: a zip, the files of a folder, or a path of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from app.access.settings import settings
from app.access.uploads import Guest, Lay, guests
from app.access.visitor import visitor
from app.services.model_listing import cards
from app.services.traces import discard, loaded
from model.checkpoints.catalog import hub_cache
from model.checkpoints.files.upload_archive import Content, File, gather, unpack
from model.checkpoints.hub import download, is_id
from model.errors import CheckpointError, HeadlightError

LONGEST = 4_000  # characters of a path


def bring_zip(name: str, data: File) -> Guest:
    """Take a .zip in place of what this visitor uploaded before. Raises HeadlightError, and keeps nothing of it."""
    return _brought(PurePosixPath(name).stem, lambda root, limits: unpack(data, root, limits))


def bring_folder(files: Mapping[str, Content]) -> Guest:
    """The same for the files of a folder, by their paths. Raises HeadlightError, and keeps nothing of it."""
    top = {PurePosixPath(name).parts[0] for name in files if name}
    title = top.pop() if len(top) == 1 else "my model"
    return _brought(title, lambda root, limits: gather(files, root, limits))


def bring_path(text: str) -> Guest:
    """Open a folder or file of this machine, or fetch a model of the Hugging Face Hub by its id.

    Raises HeadlightError, always where the server is shared.
    """
    if settings().shared:
        raise CheckpointError("On a shared server nobody opens a path; upload the checkpoint instead.")
    text = text.strip().strip("\"'")
    path = Path(os.path.expanduser(text))
    if is_id(text) and not path.is_absolute():
        return _fetched(text)
    if len(text) > LONGEST or "\0" in text or not path.is_absolute() or not path.exists():
        raise CheckpointError("There is no such folder on this machine. Give its whole path, from the root on.")
    return _opened(guests().admit(visitor(), path.resolve()))


def _fetched(name: str) -> Guest:
    """A model of the Hub: everybody's where the cache is offered, this visitor's where it is not."""
    folder = download(name, hub_cache())
    if name in {card.name for card in cards(fresh=True)}:
        loaded(name)
        return Guest(name, name, folder)
    return _opened(guests().admit(visitor(), folder))


def _brought(title: str, lay: Lay) -> Guest:
    older = [guest for guest in guests().of(visitor()) if guest.root]
    guest = _opened(guests().receive(visitor(), title, lay))
    for replaced in older:
        discard(replaced.name)
    return guest


def _opened(guest: Guest) -> Guest:
    """What cannot be opened is not kept."""
    try:
        loaded(guest.name)
    except HeadlightError:
        discard(guest.name)
        raise
    return guest
