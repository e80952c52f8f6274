"""Rows of example files: TSV with named columns, JSON lines, or CoNLL columns (each .xz too)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from headlight.data.corpus import read_lines
from headlight.errors import DataError, counted, shortened
from headlight.registry import Registry

Lines = Iterator[tuple[int, str]]  # line number, from 1, and line
TAGGED_COLUMNS = ("text", "labels")  # the words and the tags of a CoNLL file


@dataclass(frozen=True)
class Row:
    """One row: its fields by column, and its file and lines, for sentences about it."""

    file: Path
    lines: tuple[int, ...]  # one per word of a sentence in CoNLL columns, else a single one
    fields: Mapping[str, Any]

    def fault(self, what: str, at: int = 0) -> DataError:
        """An error that names one of the row's lines: "Line 3 of pets.tsv has no label."."""
        return DataError(f"Line {self.lines[at]} of {self.file} {what}.")

    def text(self, column: str) -> str:
        """A text field without surrounding white space."""
        value = self._field(column)
        if not isinstance(value, str) or not value.strip():
            raise self.fault(f"has no text in {column!r} ({_shown(value)})")
        return value.strip()

    def label(self, column: str) -> str:
        """A label field: a text, an integer, or true or false."""
        value = self._field(column)
        return str(value) if isinstance(value, int) else self.text(column)

    def words(self, column: str) -> list[str]:
        """A field of several words: a list, or a text with spaces between them."""
        value = self._field(column)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            return list(value)
        return self.text(column).split()

    def _field(self, column: str) -> Any:
        if column not in self.fields:
            known = ", ".join(map(repr, self.fields)) or "none"
            raise self.fault(
                f"has no {column!r}; it has {known}. Under [examples], `text` and `answer` name the columns to read"
            )
        return self.fields[column]


def read_rows(path: Path, columns: Sequence[str] = (), comment: str | None = None) -> Iterator[Row]:
    """The rows of a file. `columns` names the columns of a TSV file without a header line.

    Lines that start with `comment` are skipped. Raises DataError with file and line number if a row cannot be read.
    """
    suffix = Path(path.name.removesuffix(".xz")).suffix
    if suffix not in ROW_READERS:
        raise DataError(f"Examples are read from files that end in {', '.join(ROW_READERS)}; {path} does not.")
    lines = ((at, line) for at, line in _numbered(path) if comment is None or not line.startswith(comment))
    return ROW_READERS[suffix](path, lines, columns)


def _numbered(path: Path) -> Lines:
    """The lines, numbered from 1, without a byte order mark before the first."""
    for number, line in enumerate(read_lines(path), 1):
        yield number, line.removeprefix("\ufeff") if number == 1 else line


def _read_tsv(path: Path, lines: Lines, columns: Sequence[str]) -> Iterator[Row]:
    for number, line in lines:
        fields = line.split("\t")
        if not columns:
            columns = [field.strip() for field in fields]
            if len(set(columns)) < len(columns) or "" in columns:
                raise DataError(f"Line {number} of {path} should name the columns, each once; it is {_shown(line)}.")
        elif line.strip():
            row = Row(path, (number,), dict(zip(columns, fields, strict=False)))
            if len(fields) != len(columns):
                named = f"{counted(len(columns), 'column')} ({', '.join(columns)})"
                raise row.fault(f"has {counted(len(fields), 'field')}, where tabs should part {named}")
            yield row


def _read_json_lines(path: Path, lines: Lines, columns: Sequence[str]) -> Iterator[Row]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            fields = msgspec.json.decode(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"Line {number} of {path} is not JSON: {error}.") from error
        if not isinstance(fields, dict):
            raise DataError(f"Line {number} of {path} is not a JSON object with a text and its answer.")
        yield Row(path, (number,), fields)


def _read_conll(path: Path, lines: Lines, columns: Sequence[str]) -> Iterator[Row]:
    """A word and its tag on each line, other columns in between; an empty line ends a sentence."""
    for _, sentence in groupby(lines, key=lambda line: bool(line[1].strip())):
        rows = [(number, *_word_and_tag(line)) for number, line in sentence]
        if named := [row for row in rows if row[1].strip()]:  # some words consist of a single space
            numbers, words, tags = map(list, zip(*named, strict=True))
            yield Row(path, tuple(numbers), dict(zip(TAGGED_COLUMNS, (words, tags), strict=True)))


def _word_and_tag(line: str) -> tuple[str, str]:
    """The first and the last column; a line with one column has only a tag."""
    first, *others = re.split(r"[ \t]", line.rstrip())
    return (first, others[-1]) if others else ("", first)


def _shown(value: Any) -> str:
    return f"it is {shortened(repr(value), 60)}"


ROW_READERS: Registry[Callable[[Path, Lines, Sequence[str]], Iterator[Row]]] = Registry(
    "file of examples", {".tsv": _read_tsv, ".jsonl": _read_json_lines, ".conll": _read_conll}
)
