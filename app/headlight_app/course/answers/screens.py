"""The answers of the Course: the rows of a chapter, and the results of a screen for a learner's inputs."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from functools import lru_cache

import msgspec
from cachetools import LRUCache

from headlight.course.chapters import CHAPTERS, CORE_PATH, ENTRIES, SAME, find_screen
from headlight.course.controls import Control, ModelControl, RecordingControl
from headlight.course.modalities.sound_screen import hear_recording
from headlight.course.screen import Chapter, Screen
from headlight.course.symbols import symbols_of
from headlight.course.withholding import Asked, withhold
from headlight.errors import InputError
from headlight.views.encoding import plain
from headlight.views.rows import Row
from headlight_app.contract.reply import Reply
from headlight_app.course import contract
from headlight_app.course.contract import (
    AskedQuestion,
    ChapterAnswer,
    ChapterRequest,
    ContentsEntry,
    RunRequest,
    ScreenAnswer,
    ScreenCode,
    ScreenLink,
    ScreenRequest,
    ScreenRow,
    ScreenTitle,
    SymbolRow,
)
from headlight_app.inference.context import current_request
from headlight_app.inference.images import own_file
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.inference.source_code import source_of

_Run = tuple[str, str, str, tuple[tuple[str, str], ...]]  # visitor, chapter, screen, inputs


def answer_chapter(request: ChapterRequest) -> Reply[ChapterAnswer]:
    """The contents of the course, and the rows of one chapter: the first if none is named."""
    name = request.chapter or next(iter(CHAPTERS))
    answer = ChapterAnswer(
        contents=tuple(_contents_entry(each, chapter) for each, chapter in CHAPTERS.items()),
        entries=ENTRIES,
        same=SAME,
        chapter=name,
        screens=tuple(_screen_row(name, each, screen) for each, screen in CHAPTERS[name].screens.items()),
    )
    return Reply(answer)


def answer_screen(request: ScreenRequest) -> Reply[ScreenAnswer]:
    """The results of a screen for its inputs. Raises HeadlightError.

    The screen's own row decides whether it is a long run, not the route of the request.
    """
    screen = find_screen(request.chapter, request.screen)
    if screen.is_long and not isinstance(request, RunRequest):
        raise InputError(f"The screen {request.screen!r} runs for seconds. Press Run, or use the route course_run.")
    values = screen.parse(request.inputs)
    named = dict(values)  # links contain the name of a model
    for name, control in screen.controls.items():
        if isinstance(control, RecordingControl) and values[name] is not None:
            values[name] = hear_recording(own_file(values[name]))
    for name, model_control in screen.model_controls.items():
        values[name] = open_checkpoint(values[name], request.device)
        model_control.require(values[name].model.config)
    needs_files = any(isinstance(control, ModelControl | RecordingControl) for control in screen.controls.values())
    if screen.is_long and not needs_files:
        run = (current_request().visitor, request.chapter, request.screen, tuple(sorted(request.inputs.items())))
        if not request.tries or run not in _kept_rows():  # a request without tries is a new run
            _kept_rows()[run] = screen.rows(**values)
        rows = _kept_rows()[run]
    else:
        rows = screen.rows(**values)
    can_ask = any(row.question for row in rows)
    if not request.asks:
        rows, questions = tuple(replace(row, question=None) for row in rows), list[AskedQuestion]()
    else:
        rows, asked = withhold(rows, request.tries)
        questions = list(map(_asked_question, asked))
    links = screen.links(named)  # only for inputs that could be computed
    answer = ScreenAnswer(
        rows=tuple(map(plain, rows)),
        links=links,
        can_ask=can_ask,
        answered=tuple(questions[:-1]),
        question=questions[-1] if questions else None,
    )
    return Reply(answer)


@lru_cache(maxsize=1)
def _kept_rows() -> LRUCache[_Run, tuple[Row, ...]]:
    """The rows of long screens, by visitor and inputs: another try at a question must not run them again."""
    return LRUCache(16)


def _asked_question(asked: Asked) -> AskedQuestion:
    """The state of a question after the tries."""
    seen = {name: getattr(asked.question, name) for name in ("kind", "text", "options", "rows", "columns")}
    return msgspec.convert({"place": asked.place} | seen | asdict(asked.mark), AskedQuestion)


def answer_run(request: RunRequest) -> Reply[ScreenAnswer]:
    """The same for a screen that runs for seconds."""
    return answer_screen(request)


def _contents_entry(name: str, chapter: Chapter) -> ContentsEntry:
    screens = (
        ScreenTitle(
            name=each,
            title=screen.title,
            about=screen.about,
            minutes=screen.minutes,
            core=CORE_PATH.index(f"{name}/{each}") + 1 if f"{name}/{each}" in CORE_PATH else 0,
        )
        for each, screen in chapter.screens.items()
    )
    return ContentsEntry(name=name, title=chapter.title, summary=chapter.summary, screens=tuple(screens))


def _screen_row(chapter: str, name: str, screen: Screen) -> ScreenRow:
    return ScreenRow(
        name=name,
        title=screen.title,
        lesson=screen.lesson,
        formulas=screen.formulas,
        symbols=tuple(
            SymbolRow(latex=each.latex, name=each.name, words=each.words)
            for each in symbols_of(f"{chapter}/{name}", screen.formulas)
        ),
        controls=tuple(_control_row(each, control) for each, control in screen.controls.items()),
        code=tuple(ScreenCode(name=part.__qualname__, code=source_of(part)) for part in screen.code),
        is_long=screen.is_long,
        see_also=tuple(msgspec.convert(link, ScreenLink, from_attributes=True) for link in screen.see_also),
    )


def _control_row(name: str, control: Control) -> contract.Control:
    values = {each.name: plain(getattr(control, each.name)) for each in fields(control)}
    row: contract.Control = msgspec.convert({"kind": control.kind, "name": name} | values, contract.Control)
    return row
