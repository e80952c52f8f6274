"""Strangers' uploads: a .zip, or a folder sent file by file, checked and then laid on disk as a checkpoint folder.

Every name is judged before the first byte is written, and every byte is counted while it is.
"""

from __future__ import annotations

import errno
import re
import shutil
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from model.checkpoints.files.file_rules import is_needed, is_program
from model.errors import CheckpointError

DIRECTORY = 4 << 20  # bytes that a zip's own list of its files may take
CHUNK = 1 << 20
SMALL = 1 << 20  # bytes below which no file is suspected for having shrunk well
DEEPEST, LONGEST = 8, 200  # folders within each other; bytes of one name
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes of memory before the first byte
TOP = "upload"  # what a checkpoint is called whose files lie in no folder of their own
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)\s*(\..*)?", re.IGNORECASE)  # devices of Windows
Entry = TypeVar("Entry")
Folder = tuple[str, ...]


@runtime_checkable
class File(Protocol):
    """A file open for reading bytes, anywhere in it."""

    def read(self, size: int = -1, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def tell(self) -> int: ...


Content = bytes | bytearray | memoryview | File


@dataclass(frozen=True)
class Limits:
    """What an upload may hold: bytes once unpacked, files, and how many times larger than packed each may become."""

    size: int = 4 << 30
    files: int = 1_000
    ratio: int = 100


@dataclass(frozen=True)
class Item:
    """A file of an upload: the parts of its path, how many bytes it says it has, and its content in chunks."""

    parts: tuple[str, ...]
    size: int
    content: Callable[[], Iterator[bytes]]

    @property
    def name(self) -> str:
        """Its path as one word, as a sentence shows it."""
        return _shown("/".join(self.parts))


def unpack(data: File | bytes, folder: Path, limits: Limits = Limits()) -> Path:
    """Lay what a .zip holds of a checkpoint into `folder` (new or empty); gives the folder that `load` opens.

    Raises CheckpointError, and leaves nothing behind, for code, links, paths that lead elsewhere, encrypted files,
    names that occur twice, more than `limits` allow, and archives that hold no checkpoint or several.
    """
    source = BytesIO(data) if isinstance(data, bytes) else data
    with _told(), zipfile.ZipFile(Guarded(source)) as archive:
        entries = _few(archive.infolist(), limits)
        found = [_zipped(archive, entry, limits) for entry in entries]
        return _laid([item for item in found if item], folder, limits)


def gather(files: Mapping[str, Content], folder: Path, limits: Limits = Limits()) -> Path:
    """The same for a folder that came file by file: its contents by their paths within it."""
    with _told():
        return _laid([_sent(name, content) for name, content in _few(list(files.items()), limits)], folder, limits)


class Guarded:
    """A file that refuses to give more at once than an honest archive's list of files takes.

    zipfile reads that list whole, as long as the archive says it is, and makes an object of every entry.
    """

    def __init__(self, file: File) -> None:
        self.file = file
        self.seek, self.tell = file.seek, file.tell

    def seekable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """At most DIRECTORY bytes."""
        if size > DIRECTORY:
            raise CheckpointError("The archive's list of files is far longer than a checkpoint's.")
        return self.file.read(size if size >= 0 else DIRECTORY)


@contextmanager
def _told() -> Iterator[None]:
    """Whatever an archive makes zipfile raise becomes a sentence."""
    try:
        yield
    except zipfile.LargeZipFile as error:
        raise CheckpointError("The archive is too large to be read.") from error
    except OSError as error:
        raise CheckpointError(f"The upload cannot be stored: {error.strerror or 'its end is missing'}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise CheckpointError("The upload is no .zip archive that can be read; it may be damaged.") from error


def _few(entries: Sequence[Entry], limits: Limits) -> Sequence[Entry]:
    if len(entries) > limits.files:
        raise CheckpointError(f"The upload holds {len(entries):,} files; {limits.files:,} are allowed.")
    return entries


def _sent(name: str, content: Content) -> Item:
    if isinstance(content, File):
        size = content.seek(0, 2)
        content.seek(0)
        return Item(_parts(name), size, lambda: _chunks(content))
    return Item(_parts(name), memoryview(content).nbytes, lambda: iter((bytes(content),)))


def _chunks(file: File) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


def _packed(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as file:
        yield from _chunks(file)


def _zipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits) -> Item | None:
    """A file of an archive; None for a folder."""
    parts = _parts(entry.orig_filename)  # `filename` ends at the first NUL
    item = Item(parts, entry.file_size, lambda: _packed(archive, entry))
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise CheckpointError(f"{item.name} is a link and no file. Pack the files themselves (zip follows links).")
    if entry.orig_filename.endswith(("/", "\\")):
        return None
    if entry.flag_bits & 0x41:
        raise CheckpointError(f"{item.name} is encrypted. Pack the files without a password.")
    if entry.compress_type not in PLAIN:
        raise CheckpointError(f"{item.name} is packed in an unusual way. Pack the files as a plain .zip.")
    if entry.file_size > SMALL and entry.file_size > limits.ratio * entry.compress_size:
        raise CheckpointError(
            f"{item.name} would grow from {entry.compress_size:,} to {entry.file_size:,} bytes, as no weights do."
        )
    return item


def _parts(name: str) -> tuple[str, ...]:
    """The folders and the file that a name leads through. Raises CheckpointError where it is not within the upload."""
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise CheckpointError(f"The upload holds {_shown(name)}, a name with characters that no name has.")
    path = name.replace("\\", "/")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    leads_out = path.startswith("/") or ".." in parts or any(":" in part or _reserved(part) for part in parts)
    if leads_out or not parts:
        raise CheckpointError(f"The upload holds {_shown(name)}, which leads out of its folder.")
    if len(parts) > DEEPEST or any(len(part.encode()) > LONGEST for part in parts):
        raise CheckpointError(f"The upload holds {_shown(name)}, which is too long or too deep.")
    return parts


def _reserved(part: str) -> bool:
    return RESERVED.fullmatch(part) is not None or not part.strip(". ")


def _shown(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:40]}...{name[-35:]}")


def _laid(items: Sequence[Item], folder: Path, limits: Limits) -> Path:
    """Judge all, then write what the checkpoint among them needs."""
    seen: set[str] = set()
    for item in items:
        key = "/".join(unicodedata.normalize("NFC", part).casefold().rstrip(". ") for part in item.parts)
        if key in seen:
            raise CheckpointError(f"The upload holds {item.name} twice.")
        seen.add(key)
        if is_program(item.parts[-1]):
            raise CheckpointError(f"The upload holds {item.name}, a program. Send the checkpoint's own files alone.")
    size = sum(item.size for item in items)
    if size > limits.size:
        raise CheckpointError(f"The upload unpacks to {size / 1e9:,.2f} GB; {limits.size / 1e9:,.2f} GB are allowed.")
    wanted = [item for item in items if is_needed(item.parts[-1])]
    root, folders = _checkpoint(wanted)
    chosen = [item for item in wanted if item.parts[:-1] in folders]
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(errno.EEXIST, "its folder is in use")
    place = folder if root else folder / TOP
    try:
        for item in chosen:
            _write(item, place.joinpath(*item.parts))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return place.joinpath(*root)


def _checkpoint(items: Sequence[Item]) -> tuple[Folder, set[Folder]]:
    """The folder to open, and those whose files it needs: an adapter stands on a model in another folder."""
    names: dict[Folder, set[str]] = {}
    for item in items:
        names.setdefault(item.parts[:-1], set()).add(item.parts[-1])
    models = {place for place, inside in names.items() if inside & {"ckpt.pt", "model.bin"} or _is_model(inside)}
    adapters = {place for place, inside in names.items() if "adapter_config.json" in inside}
    found = adapters or models
    if not found:
        raise CheckpointError("The upload holds no checkpoint: no folder with a config.json and weights beside it.")
    depth = min(map(len, found))
    highest = sorted(place for place in found if len(place) == depth)
    if len(highest) > 1:
        told = ", ".join(_shown("/".join(place)) for place in highest[:4])
        raise CheckpointError(f"The upload holds {len(highest)} checkpoints: {told}. Send one.")
    return highest[0], adapters | models if adapters else {highest[0]}


def _is_model(names: set[str]) -> bool:
    return "config.json" in names and any(name.endswith((".safetensors", ".bin")) for name in names)


def _write(item: Item, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("xb") as target:
        for chunk in item.content():
            written += len(chunk)
            if written > item.size:
                raise CheckpointError(f"{item.name} is larger than the upload says.")
            target.write(chunk)
    if written != item.size:
        raise CheckpointError(f"{item.name} is cut off: {written:,} of {item.size:,} bytes are there.")
