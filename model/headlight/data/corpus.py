"""Text files as arrays of token ids, cached so that a resumed run starts in seconds."""

from __future__ import annotations

import json
import lzma
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path

import numpy as np

from headlight.array_types import Int, Shaped
from headlight.errors import DataError, shortened
from headlight.file_writing import make_folder, replacing
from headlight.text.tokenizer import END_OF_TEXT, Tokenizer


def require_files(paths: Iterable[Path]) -> None:
    """Raise a DataError that names the first missing file, before any other work starts."""
    for path in paths:
        if not os.path.isfile(path):  # also for names that no system can have
            raise DataError(f"There is no file {shortened(str(path), 300)}.")


Log = Callable[[str], None]
Document = list[str]
LINES_PER_BATCH = 20_000
MAX_EPOCHS = 1_000
MAX_LINE = 1 << 26  # characters, in memory at once
MAX_RATIO = 100  # unpacked characters for each byte in an .xz file; those of texts have 3 to 10
CACHE_FORMAT = 2  # of the cached files
CACHED_ARRAYS = ("ids", "line_starts", "document_starts")


@dataclass(frozen=True)
class TextSource:
    """A text file, and its number of repetitions per epoch."""

    path: Path
    epochs: float = 1.0

    @classmethod
    def parse(cls, text: str) -> TextSource:
        """A source from `path` or `path=epochs`. Raises DataError if `epochs` is not a positive number."""
        path, equals, epochs = text.rpartition("=")
        if not equals:
            return cls(expand_path(text))
        try:
            number = float(epochs)
        except ValueError:
            return cls(expand_path(text))  # the "=" is part of the path
        if not 0 < number <= MAX_EPOCHS:
            wanted = f"give a positive number up to {MAX_EPOCHS:,}, as in 'text.txt=3'"
            raise DataError(f"{text!r} asks for {epochs} epochs; {wanted}.")
        return cls(expand_path(path), number)

    @property
    def name(self) -> str:
        """The file's name without its suffixes."""
        return self.path.name.removesuffix(".xz").removesuffix(".txt")


def expand_path(text: str) -> Path:
    """A path with its `$VARIABLES` replaced. Raises DataError if one is not set."""
    path = os.path.expanduser(os.path.expandvars(text))
    if path.startswith("$"):
        name = path[1:].split("/")[0].strip("{}")
        raise DataError(f"{text} names the folder ${name}, which is not set. Say: export {name}=/path/to/texts")
    return Path(path)


def read_documents(path: Path) -> Iterator[Document]:
    """The documents of a text file (.xz too), each a list of its lines, separated by a line `<|endoftext|>`."""
    lines: Document = []
    for line in read_lines(path):
        if line.strip() != END_OF_TEXT:
            lines.append(line)
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a text file (.xz too), without line breaks.

    Raises DataError if it cannot be read, has a line of over MAX_LINE characters, or unpacks to far more than a text.
    """
    try:
        with _open_text(path) as file:
            room = max(MAX_LINE, MAX_RATIO * path.stat().st_size)  # without .xz, it has more than its own size
            while line := file.readline(MAX_LINE + 1):
                room -= len(line)
                if len(line) > MAX_LINE:
                    raise DataError(f"{path} has a line of over {MAX_LINE:,} characters; break it.")
                if room < 0:
                    raise DataError(f"{path} unpacks to over {MAX_RATIO} times its size, unlike any text; unpack it.")
                yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except (OSError, EOFError, MemoryError, lzma.LZMAError) as error:
        raise DataError(f"The text {path} cannot be read: {error}.") from error


def _open_text(path: Path) -> TextIOWrapper:
    if path.suffix == ".xz":
        return TextIOWrapper(lzma.open(path), encoding="utf-8", newline="\n")
    return open(path, encoding="utf-8", newline="\n")


def text_mixture(sources: Sequence[TextSource]) -> Iterator[str]:
    """The documents of one epoch, for training a tokenizer."""
    for source in sources:
        pending = 0.0
        for document in read_documents(source.path):
            pending += source.epochs
            for _ in range(int(pending)):
                yield "\n".join(document)
            pending -= int(pending)


@dataclass(frozen=True)
class TokenizedText:
    """One text as token ids.

    `line_starts` and `document_starts` are the indices of their first tokens (a separator belongs to the document after
    it, but not to that document's first line); `byte_count` is the text's length in UTF-8, before or after
    normalization by the tokenizer, whichever is less.
    """

    name: str
    epochs: float
    ids: Shaped[np.ndarray, " token"]
    line_starts: Int[np.ndarray, " line"]
    document_starts: Int[np.ndarray, " document"]
    byte_count: int


def tokenize_source(source: TextSource, tokenizer: Tokenizer, separator: int | None) -> TokenizedText:
    """A text file as token ids, with `separator`, if given, before each document."""
    dtype = np.uint16 if tokenizer.vocabulary_size <= 2**16 else np.uint32
    id_chunks, length_chunks = [np.zeros(0, dtype)], [np.zeros(0, np.int64)]
    starts_document: list[bool] = []
    byte_count = 0
    lines = _marked_lines(source.path)
    while batch := list(islice(lines, LINES_PER_BATCH)):
        rows = tokenizer.encode_batch([line for line, _ in batch])
        if separator is not None:
            rows = [[separator, *row] if first else row for row, (_, first) in zip(rows, batch, strict=True)]
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        id_chunks.append(np.fromiter(chain.from_iterable(rows), dtype, int(lengths.sum())))
        length_chunks.append(lengths)
        starts_document.extend(first for _, first in batch)
        byte_count += sum(_counted_bytes(line, tokenizer) for line, _ in batch)
    lengths, is_first = np.concatenate(length_chunks), np.array(starts_document, dtype=bool)
    offsets = np.cumsum(lengths) - lengths
    separators = is_first if separator is not None else np.zeros_like(is_first)
    nonempty = lengths > separators
    if not nonempty.any():
        raise DataError(f"The text {source.path} is empty.")
    line_starts = (offsets + separators)[nonempty]
    return TokenizedText(
        source.name, source.epochs, np.concatenate(id_chunks), line_starts, offsets[is_first], byte_count
    )


def _marked_lines(path: Path) -> Iterator[tuple[str, bool]]:
    """All lines, each with whether it is its document's first; all but a document's last line end in a line break."""
    for document in read_documents(path):
        last = len(document) - 1
        for index, line in enumerate(document):
            yield line if index == last else line + "\n", index == 0


def _counted_bytes(line: str, tokenizer: Tokenizer) -> int:
    """The number of bytes before or after normalization, whichever is less.

    Bytes that the tokenizer drops are not predicted, and bytes that it adds are not in the text.
    """
    return min(len(form.encode("utf-8", "replace")) for form in (line, tokenizer.normalize(line)))


def tokenize_cached(
    source: TextSource, tokenizer: Tokenizer, separator: int | None, folder: Path, log: Log
) -> TokenizedText:
    """`tokenize_source` with a cache in `folder`, valid until the file changes."""
    stem = folder / f"{source.name}-{zlib.crc32(str(source.path.resolve()).encode()):08x}"
    note_path = stem.with_name(stem.name + ".json")
    require_files([source.path])
    file_stat = source.path.stat()
    stamp = {
        "format": CACHE_FORMAT,
        "bytes": file_stat.st_size,
        "changed": file_stat.st_mtime_ns,
        "vocabulary_size": tokenizer.vocabulary_size,
        "separator": separator,
    }
    if note_path.is_file():
        known = json.loads(note_path.read_text(encoding="utf-8"))
        if known["stamp"] == stamp:
            return _read_cached(source, stem, known["byte_count"])
    log(f"Encoding {source.path.name} ...")
    tokens = tokenize_source(source, tokenizer, separator)
    make_folder(folder)
    note_path.unlink(missing_ok=True)  # written again once all arrays are new
    for part in CACHED_ARRAYS:
        with replacing(stem.with_name(f"{stem.name}.{part}.npy")) as file:
            np.save(file, getattr(tokens, part))
    note_path.write_text(json.dumps({"stamp": stamp, "byte_count": tokens.byte_count}), encoding="utf-8")
    return tokens


def _read_cached(source: TextSource, stem: Path, byte_count: int) -> TokenizedText:
    def array(part: str) -> np.ndarray:
        found: np.ndarray = np.load(stem.with_name(f"{stem.name}.{part}.npy"), mmap_mode="r")
        return found

    ids, line_starts, document_starts = map(array, CACHED_ARRAYS)
    return TokenizedText(source.name, source.epochs, ids, line_starts, document_starts, byte_count)
