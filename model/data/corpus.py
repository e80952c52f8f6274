"""Texts as tokens: read once, encoded once, and kept as arrays beside the run, so that a resume starts in seconds."""

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

from model.array_types import Int, Shaped
from model.errors import DataError
from model.text.tokenizer import DOCUMENT, Tokenizer


def require_files(paths: Iterable[Path]) -> None:
    """Raises DataError that names the first of some paths where no file lies: said at once, not after other work."""
    for path in paths:
        if not path.is_file():
            raise DataError(f"There is no file {path}.")


Say = Callable[[str], None]
Document = list[str]
LINES_AT_ONCE = 20_000


@dataclass(frozen=True)
class Source:
    """A text file, and how often an epoch passes over it."""

    path: Path
    weight: float = 1.0

    @classmethod
    def parse(cls, text: str) -> Source:
        """`path`, or `path=weight`. Raises DataError where the weight is no positive number."""
        path, equals, weight = text.rpartition("=")
        if not equals:
            return cls(expand(text))
        try:
            number = float(weight)
        except ValueError:
            return cls(expand(text))  # the "=" belongs to the path
        if not 0 < number < float("inf"):
            raise DataError(f"{text!r} asks for {weight} passes; give a positive number, as in 'text.txt=3'.")
        return cls(expand(path), number)

    @property
    def name(self) -> str:
        """The file's name without its endings; what tables call it."""
        return self.path.name.removesuffix(".xz").removesuffix(".txt")


def expand(text: str) -> Path:
    """A path with its `$VARIABLES` replaced. Raises DataError where one is not set."""
    path = os.path.expanduser(os.path.expandvars(text))
    if path.startswith("$"):
        name = path[1:].split("/")[0].strip("{}")
        raise DataError(f"{text} names the folder ${name}, which is not set. Say: export {name}=/path/to/texts")
    return Path(path)


def documents(path: Path) -> Iterator[Document]:
    """The documents of a text file (.xz too), each a list of its lines; a line `<|endoftext|>` stands between them."""
    lines: Document = []
    try:
        with _open(path) as file:
            for line in file:
                text = line.rstrip("\r\n")
                if text.strip() != DOCUMENT:
                    lines.append(text)
                elif lines:
                    yield lines
                    lines = []
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"The text {path} cannot be read: {error}.") from error
    if lines:
        yield lines


def _open(path: Path) -> TextIOWrapper:
    if path.suffix == ".xz":
        return TextIOWrapper(lzma.open(path), encoding="utf-8", newline="\n")
    return open(path, encoding="utf-8", newline="\n")


def mixed(sources: Sequence[Source]) -> Iterator[str]:
    """The lines of all texts in the share that they have of an epoch; what a tokenizer is trained on."""
    for source in sources:
        due = 0.0
        for document in documents(source.path):
            due += source.weight
            for _ in range(int(due)):
                yield "\n".join(document)
            due -= int(due)


@dataclass(frozen=True)
class Tokens:
    """One text as token numbers.

    `lines` and `documents` say at which token each line and document begins (a separator counts to the document
    it stands before, but not to its first line); `characters` is the text's length in UTF-8 bytes, before or
    after the tokenizer has normalized it, whichever is less.
    """

    name: str
    weight: float
    ids: Shaped[np.ndarray, " token"]
    lines: Int[np.ndarray, " line"]
    documents: Int[np.ndarray, " document"]
    characters: int


def encode(source: Source, tokenizer: Tokenizer, separator: int | None) -> Tokens:
    """A text file as tokens, with `separator` before each document where one is given."""
    kind = np.uint16 if tokenizer.size <= 2**16 else np.uint32
    parts: list[np.ndarray] = []
    lengths: list[np.ndarray] = []
    flags: list[bool] = []  # per run of tokens: does it begin a document?
    characters = 0
    stream = (
        (line if last else line + "\n", first)
        for document in documents(source.path)
        for line, first, last in _marked(document)
    )
    while batch := list(islice(stream, LINES_AT_ONCE)):
        rows = tokenizer.numbers([line for line, _ in batch])
        if separator is not None:
            rows = [[separator, *row] if first else row for row, (_, first) in zip(rows, batch, strict=True)]
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        parts.append(np.fromiter(chain.from_iterable(rows), kind, int(sizes.sum())))
        lengths.append(sizes)
        flags.extend(first for _, first in batch)
        characters += sum(_bytes(line, tokenizer) for line, _ in batch)
    sizes, begins = np.concatenate([np.zeros(0, np.int64), *lengths]), np.array(flags, dtype=bool)
    at = np.cumsum(sizes) - sizes
    lines = at + (begins if separator is not None else 0)
    used = sizes > (begins if separator is not None else 0)
    if not used.any():
        raise DataError(f"The text {source.path} is empty.")
    return Tokens(source.name, source.weight, np.concatenate(parts), lines[used], at[begins], characters)


def _bytes(line: str, tokenizer: Tokenizer) -> int:
    """What a tokenizer takes away (a curly quote's bytes) nobody has to expect; what it adds nobody has written."""
    return min(len(form.encode("utf-8", "replace")) for form in (line, tokenizer.normalized(line)))


def _marked(document: Document) -> Iterator[tuple[str, bool, bool]]:
    """Each line, and whether it is the document's first and its last."""
    end = len(document) - 1
    return ((line, index == 0, index == end) for index, line in enumerate(document))


def kept(source: Source, tokenizer: Tokenizer, separator: int | None, folder: Path, say: Say) -> Tokens:
    """The same as `encode`, kept in `folder` and read from there when the file has not changed since."""
    stem = folder / f"{source.name}-{zlib.crc32(str(source.path.resolve()).encode()):08x}"
    note = stem.with_name(stem.name + ".json")
    require_files([source.path])
    about = source.path.stat()
    stamp = {"bytes": about.st_size, "changed": about.st_mtime_ns, "vocabulary": tokenizer.size, "separator": separator}
    if note.is_file():
        known = json.loads(note.read_text())
        if known["stamp"] == stamp:
            return _read(source, stem, known["characters"])
    say(f"Encoding {source.path.name} ...")
    tokens = encode(source, tokenizer, separator)
    folder.mkdir(parents=True, exist_ok=True)
    note.unlink(missing_ok=True)  # until all parts are new
    for part in ("ids", "lines", "documents"):
        np.save(stem.with_name(f"{stem.name}.{part}.npy"), getattr(tokens, part))
    note.write_text(json.dumps({"stamp": stamp, "characters": tokens.characters}))
    return tokens


def _read(source: Source, stem: Path, characters: int) -> Tokens:
    def array(part: str) -> np.ndarray:
        found: np.ndarray = np.load(stem.with_name(f"{stem.name}.{part}.npy"), mmap_mode="r")
        return found

    return Tokens(source.name, source.weight, array("ids"), array("lines"), array("documents"), characters)
