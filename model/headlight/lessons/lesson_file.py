"""Reading a lesson: Markdown with a header between lines of ---, a heading for each step, and `- key: text` lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from os import environ, pathsep
from pathlib import Path

from headlight.errors import DataError, suggestion
from headlight.lessons.lesson import HEADER, KEY, OWN_CHOICE, STEP, FieldRow, Lesson, Line, Step
from headlight.paths import assets_dir, read_regular
from headlight.registry import Registry

MAX_BYTES = 200_000
MAX_STEPS = 40  # each of which runs the model up to MAX_RUNS times for each text
FENCE = "---"


@dataclass(frozen=True, order=True)
class Fault:
    """A fault in a line, as a sentence; lines are counted from 1."""

    line: int
    sentence: str


@dataclass
class _Part:
    """A header or a step during reading."""

    title: str
    number: int
    lines: list[Line] = field(default_factory=list)
    prose: list[Line] = field(default_factory=list)


def read_lesson(name: str, text: str) -> tuple[Lesson, tuple[Fault, ...]]:
    """A lesson and the faults of its form; its questions are not computed."""
    lines = list(enumerate(text.splitlines(), 1))
    faults: list[Fault] = []
    end = next((at for at, line in lines[1:] if line.strip() == FENCE), 0) if text.startswith(FENCE) else 0
    if not end:
        faults.append(Fault(1, f"A lesson begins with a header between two lines of {FENCE}."))
    header = _Part("", 1)
    for number, line in lines[1 : end - 1] if end else ():
        _read_header_line(header, number, line, faults)
    intro, *steps = _parts(lines[end:], faults)
    for part, rows in ((header, HEADER), *((step, STEP) for step in steps)):
        faults += _counted(part, rows)
    faults += _header_faults(header)
    if not steps:
        faults.append(Fault(max(end, 1), "A lesson has steps; each begins with a line “## Title”."))
    if len(steps) > MAX_STEPS:
        faults.append(
            Fault(steps[MAX_STEPS].number, f"A lesson has at most {MAX_STEPS} steps; make two lessons of it.")
        )
    faults += [Fault(each.number, f"“{each.key}” belongs to a step, below a line “## Title”.") for each in intro.lines]
    made = tuple(Step(tuple(part.lines), part.title, part.number, tuple(part.prose)) for part in steps)
    return Lesson(tuple(header.lines), name, tuple(intro.prose), made), tuple(sorted(faults))


def _read_header_line(header: _Part, number: int, line: str, faults: list[Fault]) -> None:
    found = KEY.match(line.strip())
    if found:
        header.lines.append(Line(found[1], (found[2] or "").strip(), number))
    elif line.strip():
        faults.append(Fault(number, "A line of the header has the form “key: text”."))


def _parts(lines: list[tuple[int, str]], faults: list[Fault]) -> list[_Part]:
    """The part before the first heading, and a part for each heading."""
    parts = [_Part("", lines[0][0] if lines else 1)]
    goes_on = ""  # the kind of line that an indented or plain line continues
    for number, line in lines:
        part, stripped = parts[-1], line.strip()
        keyed = KEY.match(stripped[2:]) if line.startswith("- ") else None
        if line.startswith("#"):
            title = stripped.lstrip("#").strip()
            if not title:
                faults.append(Fault(number, "A step has a title after the # signs."))
            parts.append(_Part(title, number))
            goes_on = ""
        elif keyed:
            part.lines.append(Line(keyed[1], (keyed[2] or "").strip(), number))
            goes_on = "key"
        elif not stripped:
            goes_on = ""
        elif goes_on == "key" and line.startswith("  "):
            part.lines[-1] = _joined(part.lines[-1], stripped)
        elif goes_on == "prose":
            part.prose[-1] = _joined(part.prose[-1], stripped)
        else:
            part.prose.append(Line("", stripped, number))
            goes_on = "prose"
    return parts


def _joined(line: Line, more: str) -> Line:
    return Line(line.key, f"{line.text} {more}".strip(), line.number)


def _counted(part: _Part, rows: Registry[FieldRow]) -> Iterator[Fault]:
    """Keys that are unknown, occur too often, or have no text."""
    seen: Counter[str] = Counter()
    for line in part.lines:
        seen[line.key] += 1
        if line.key not in rows:
            near = suggestion(line.key, rows)
            yield Fault(line.number, f"There is no {rows.kind} “{line.key}”.{near} Known: {', '.join(rows)}.")
        elif not line.text:
            yield Fault(line.number, f"Nothing follows “{line.key}”: it takes {rows[line.key].description}.")
        elif seen[line.key] == rows[line.key].most + 1:
            yield Fault(line.number, f"“{line.key}” may occur here at most {rows[line.key].most} times.")


def _header_faults(header: _Part) -> Iterator[Fault]:
    given: Mapping[str, Line] = {line.key: line for line in header.lines}
    for key in ("title", "minutes", "version"):
        if key not in given:
            yield Fault(header.number, f"The header has no {key}: {HEADER[key].description}.")
    for key, most in (("minutes", 60), ("version", 999_999), ("place", 999_999)):
        line = given.get(key)
        if line and not (line.text.isascii() and line.text.isdecimal() and 1 <= int(line.text[:7]) <= most):
            yield Fault(
                line.number,
                f"“{line.text[:20]}” is not a valid value of {key}: it takes a whole number from 1 to {most:,}.",
            )
    if "model" in given and given["model"].text == OWN_CHOICE and "example" not in given:
        yield Fault(given["model"].number, f"A lesson with {OWN_CHOICE} also names an `example`, a shipped model.")


def parse_lesson(name: str, text: str) -> Lesson:
    """A lesson of valid form. Raises DataError with the first fault."""
    lesson, faults = read_lesson(name, text)
    if faults:
        raise DataError(f"The lesson {name!r} cannot be read. Line {faults[0].line}: {faults[0].sentence}")
    return lesson


def read_text(path: Path) -> str:
    """The text of a lesson's file. Raises DataError."""
    try:
        return read_regular(path, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not a text in UTF-8.") from None
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or 'no regular file'}.") from None


def lesson_folders() -> tuple[Path, ...]:
    """The folders of lessons: the shipped one, then those in HEADLIGHT_LESSONS."""
    own = environ.get("HEADLIGHT_LESSONS", "").split(pathsep)
    return (assets_dir() / "lessons", *(Path(each) for each in own if each))


def lessons() -> Registry[Lesson]:
    """All readable lessons, by file name without .md, in list order; the first of each name counts."""
    files = [path for folder in lesson_folders() for path in sorted(folder.glob("*.md"))]
    found = _readable(tuple((path, path.stat().st_mtime_ns) for path in files))
    return Registry("lesson", dict(sorted(found.items(), key=lambda row: (row[1].place, row[0]))))


@lru_cache(maxsize=4)
def _readable(files: tuple[tuple[Path, int], ...]) -> dict[str, Lesson]:
    found: dict[str, Lesson] = {}
    for path, _ in files:
        if path.stem == "README" or path.stem in found:
            continue
        try:
            found[path.stem] = parse_lesson(path.stem, read_text(path))
        except DataError:
            continue  # `headlight lesson check` reports the reason
    return found
