"""Validate an uploaded zip or folder and write it as a checkpoint folder.

All names are checked before the first byte is written, and bytes are counted while they are written.
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
from fnmatch import filter as filter_names
from io import BytesIO
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from headlight.checkpoints.file_rules import (
    ADAPTER_CONFIG,
    CONFIG,
    GGUF_PATTERNS,
    MODULES,
    PARTS,
    POOLING_FOLDER,
    SINGLE_FILES,
    TEMPLATE_FOLDER,
    is_checkpoint_file,
    is_program,
    may_be_weights,
    reject_other_formats,
)
from headlight.errors import CheckpointError

MAX_DIRECTORY_BYTES = 4 << 20  # size of a zip's central directory
CHUNK_BYTES = 1 << 20
RATIO_EXEMPT_BYTES = 1 << 20  # smaller files may have any compression ratio
MAX_FOLDER_DEPTH, MAX_NAME_BYTES = 8, 200  # levels of folders; bytes of one name
ALLOWED_COMPRESSIONS = (
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
)  # others may need gigabytes of memory before the first byte
DEFAULT_FOLDER = "upload"  # the folder of an upload whose files are in no folder
WINDOWS_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)\s*(\..*)?", re.IGNORECASE)  # reserved names
Entry = TypeVar("Entry")
Folder = tuple[str, ...]


@runtime_checkable
class BinaryFile(Protocol):
    """A seekable file open for reading bytes."""

    def read(self, size: int = -1, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def tell(self) -> int: ...


FileContent = bytes | bytearray | memoryview | BinaryFile


@dataclass(frozen=True)
class UploadLimits:
    """Limits of an upload: bytes when unpacked, number of files, compression ratio of a file."""

    max_bytes: int = 4 << 30
    max_files: int = 1_000
    max_compression_ratio: int = 100


@dataclass(frozen=True)
class UploadedFile:
    """A file of an upload: the parts of its path, its declared size in bytes, and its content in chunks."""

    parts: tuple[str, ...]
    size: int
    chunks: Callable[[], Iterator[bytes]]

    @property
    def quoted_path(self) -> str:
        """Its path in messages."""
        return _quoted("/".join(self.parts))


def extract_zip(data: BinaryFile | bytes, folder: Path, limits: UploadLimits = UploadLimits()) -> Path:
    """Write the checkpoint in a .zip into `folder` (new or empty); returns the folder that `load` opens.

    Raises CheckpointError, and leaves nothing behind, for code, links, paths that lead out of the folder, encrypted
    files, duplicate names, uploads beyond `limits`, and archives with no or several checkpoints.
    """
    source = BytesIO(data) if isinstance(data, bytes) else data
    with _checkpoint_errors(), zipfile.ZipFile(BoundedZipReader(source)) as archive:
        entries = _limit_file_count(archive.infolist(), limits)
        found = [_zip_entry(archive, entry, limits) for entry in entries]
        return _write_checkpoint([item for item in found if item], folder, limits)


def write_files(files: Mapping[str, FileContent], folder: Path, limits: UploadLimits = UploadLimits()) -> Path:
    """The same for a folder that was uploaded file by file: contents by path."""
    with _checkpoint_errors():
        return _write_checkpoint(
            [_uploaded_file(name, content) for name, content in _limit_file_count(list(files.items()), limits)],
            folder,
            limits,
        )


class BoundedZipReader:
    """A file whose reads are limited to MAX_DIRECTORY_BYTES each.

    zipfile reads the central directory in one piece, however long the archive claims it is, and makes an object per
    entry.
    """

    def __init__(self, file: BinaryFile) -> None:
        self.file = file
        self.seek, self.tell = file.seek, file.tell

    def seekable(self) -> bool:
        """True, as required by zipfile."""
        return True

    def read(self, size: int = -1) -> bytes:
        """At most MAX_DIRECTORY_BYTES. Raises CheckpointError if more are requested."""
        if size > MAX_DIRECTORY_BYTES:
            raise CheckpointError("The archive's list of files is far longer than a checkpoint's.")
        return self.file.read(size if size >= 0 else MAX_DIRECTORY_BYTES)


@contextmanager
def _checkpoint_errors() -> Iterator[None]:
    """Turn the errors of zipfile for a damaged archive into CheckpointError."""
    try:
        yield
    except zipfile.LargeZipFile as error:
        raise CheckpointError("The archive is too large to be read.") from error
    except OSError as error:
        why = error.strerror or "its end is missing"
        raise CheckpointError(f"The upload cannot be stored: {why}. Send it again, or one that is smaller.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise CheckpointError("The upload is not a readable .zip archive; it may be damaged.") from error


def _limit_file_count(entries: Sequence[Entry], limits: UploadLimits) -> Sequence[Entry]:
    if len(entries) > limits.max_files:
        raise CheckpointError(f"The upload holds {len(entries):,} files; {limits.max_files:,} are allowed.")
    return entries


def _uploaded_file(name: str, content: FileContent) -> UploadedFile:
    if isinstance(content, BinaryFile):
        size = content.seek(0, 2)
        content.seek(0)
        return UploadedFile(_safe_parts(name), size, lambda: _read_chunks(content))
    return UploadedFile(_safe_parts(name), memoryview(content).nbytes, lambda: iter((bytes(content),)))


def _read_chunks(file: BinaryFile) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _read_zip_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as file:
        yield from _read_chunks(file)


def _zip_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: UploadLimits) -> UploadedFile | None:
    """A file of an archive; None for a folder."""
    parts = _safe_parts(entry.orig_filename)  # `filename` ends at the first NUL
    item = UploadedFile(parts, entry.file_size, lambda: _read_zip_entry(archive, entry))
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise CheckpointError(
            f"{item.quoted_path} is a link, not a file. Pack the files themselves (zip follows links)."
        )
    if entry.orig_filename.endswith(("/", "\\")):
        return None
    if entry.flag_bits & 0x41:
        raise CheckpointError(f"{item.quoted_path} is encrypted. Pack the files without a password.")
    if entry.compress_type not in ALLOWED_COMPRESSIONS:
        raise CheckpointError(f"{item.quoted_path} is packed in an unusual way. Pack the files as a plain .zip.")
    if entry.file_size > RATIO_EXEMPT_BYTES and entry.file_size > limits.max_compression_ratio * entry.compress_size:
        raise CheckpointError(
            f"{item.quoted_path} would grow from {entry.compress_size:,} to {entry.file_size:,} "
            f"bytes; weights never compress that much."
        )
    return item


def _safe_parts(name: str) -> tuple[str, ...]:
    """The parts of a path. Raises CheckpointError if it leads out of the upload."""
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise CheckpointError(f"The upload holds {_quoted(name)}, a name with control characters.")
    path = name.replace("\\", "/")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    leads_out = path.startswith("/") or ".." in parts or any(":" in part or _is_reserved(part) for part in parts)
    if leads_out or not parts:
        raise CheckpointError(f"The upload holds {_quoted(name)}, which leads out of its folder.")
    if len(parts) > MAX_FOLDER_DEPTH or any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        raise CheckpointError(f"The upload holds {_quoted(name)}, which is too long or too deep.")
    return parts


def _is_reserved(part: str) -> bool:
    return WINDOWS_DEVICES.fullmatch(part) is not None or not part.strip(". ")


def _quoted(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:40]}...{name[-35:]}")


def _write_checkpoint(items: Sequence[UploadedFile], folder: Path, limits: UploadLimits) -> Path:
    """Check all files, then write those that the checkpoint needs."""
    seen: set[str] = set()
    for item in items:
        key = "/".join(unicodedata.normalize("NFC", part).casefold().rstrip(". ") for part in item.parts)
        if key in seen:
            raise CheckpointError(f"The upload holds {item.quoted_path} twice.")
        seen.add(key)
        if is_program(item.parts[-1]):
            raise CheckpointError(
                f"The upload holds {item.quoted_path}, a program. Send only the checkpoint's own files."
            )
    size = sum(item.size for item in items)
    if size > limits.max_bytes:
        raise CheckpointError(
            f"The upload unpacks to {size / 1e9:,.2f} GB; {limits.max_bytes / 1e9:,.2f} GB are allowed."
        )
    needed = [item for item in items if is_checkpoint_file(item.parts[-1])]
    root, folders = _find_checkpoint(needed, items)
    chosen = [item for item in needed if item.parts[:-1] in folders]
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(errno.EEXIST, "its folder is in use")
    target = folder if root else folder / DEFAULT_FOLDER
    try:
        for item in chosen:
            _write_file(item, target.joinpath(*item.parts))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return target.joinpath(*root)


def _find_checkpoint(items: Sequence[UploadedFile], sent: Sequence[UploadedFile]) -> tuple[Folder, set[Folder]]:
    """The folder to open, and all folders that it needs; `items` are those `sent` files that a checkpoint may have.

    An adapter needs the folder of its base model, a sentence encoder those of its transformer and its pooling, two
    models in one those of their tokenizers.
    """
    names: dict[Folder, set[str]] = {}
    for item in items:
        names.setdefault(item.parts[:-1], set()).add(item.parts[-1])
    models = {folder for folder, files in names.items() if _holds_model(files)}
    adapters = {place for place, inside in names.items() if ADAPTER_CONFIG in inside}
    found = adapters or models
    if not found:
        reject_other_formats("The upload", [item.parts[-1] for item in sent])
        raise CheckpointError("The upload holds no checkpoint: no folder with a config.json and weights beside it.")
    depth = min(map(len, found))
    shallowest = sorted(place for place in found if len(place) == depth)
    if len(shallowest) > 1:
        listed = ", ".join(_quoted("/".join(place)) for place in shallowest[:4])
        raise CheckpointError(f"The upload holds {len(shallowest)} checkpoints: {listed}. Send one.")
    root = shallowest[0]
    if root and root[-1].startswith("0_") and MODULES in names.get(root[:-1], ()):
        return root[:-1], {root[:-1], root, (*root[:-1], POOLING_FOLDER)}
    return root, adapters | models if adapters else {
        root,
        *((*root, inner) for inner in (POOLING_FOLDER, TEMPLATE_FOLDER, *PARTS)),
    }


def _holds_model(names: set[str]) -> bool:
    if names & set(SINGLE_FILES) or any(filter_names(names, pattern) for pattern in GGUF_PATTERNS):
        return True
    return CONFIG in names and any(map(may_be_weights, names))


def _write_file(item: UploadedFile, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    byte_count = 0
    with path.open("xb") as target:
        for chunk in item.chunks():
            byte_count += len(chunk)
            if byte_count > item.size:
                raise CheckpointError(f"{item.quoted_path} is larger than the upload states.")
            target.write(chunk)
    if byte_count != item.size:
        raise CheckpointError(f"{item.quoted_path} is cut off: {byte_count:,} of {item.size:,} bytes are there.")
