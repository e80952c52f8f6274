"""Examples from a user's files: the columns of text and answer, and how a row of each kind is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headlight.data.examples import Example
from headlight.data.rows import Row
from headlight.data.text_tasks import TargetKind, TextTask, tagged_example


@dataclass(frozen=True)
class ExampleFiles:
    """Files of examples, and the names of the columns (in JSON lines: of the keys) to read.

    Columns without names are named as in ROWS_OF for the kind of answer.
    """

    files: tuple[str, ...] = ()
    text: str = ""
    answer: str = ""
    columns: tuple[str, ...] = ()  # for a TSV file without a header line


def read_labelled(row: Row, text: str, answer: str) -> Example:
    """A text and its label."""
    return Example(row.text(text), row.label(answer))


def read_tagged(row: Row, text: str, answer: str) -> Example:
    """Words, and the label of each, without the prefixes B- and I-, as in `tagged_example`."""
    words, labels = row.words(text), [label.removeprefix("B-").removeprefix("I-") for label in row.words(answer)]
    if len(words) != len(labels):
        raise row.fault(f"has {len(words)} words and {len(labels)} labels; each word needs one")
    for at, part in enumerate((*words, *labels)):
        if not part.strip() or (at >= len(words) and len(part.split()) > 1):
            raise row.fault(f"has {part!r} where a word or its label is wanted")
    return tagged_example(words, labels)


def read_pair(row: Row, text: str, answer: str) -> Example:
    """A text, and the text that the model should write for it."""
    return Example(row.text(text), row.text(answer))


class Rows(NamedTuple):
    """The reader of rows with one kind of answer, and their usual columns."""

    read: Callable[[Row, str, str], Example]
    text: str
    answer: str


ROWS_OF: Mapping[TargetKind, Rows] = {
    TargetKind.LABEL: Rows(read_labelled, "text", "label"),
    TargetKind.WORD_LABELS: Rows(read_tagged, "text", "labels"),
    TargetKind.TEXT: Rows(read_pair, "source", "target"),
}


def own_task(source: ExampleFiles, target: TargetKind, validation: tuple[Path, ...] = ()) -> TextTask:
    """The task of a user's example files."""
    rows = ROWS_OF[target]
    text_column, answer_column = source.text or rows.text, source.answer or rows.answer

    def read(row: Row) -> Example:
        return rows.read(row, text_column, answer_column)

    name = ", ".join(Path(file).name for file in source.files)
    return TextTask(name, source.files, read, target, columns=source.columns, validation=validation)
