"""The routes of the Course: the rows of a chapter, and what a screen computes from a learner's inputs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from app.ui.wire_format import pack
from app.worker.images import own_file
from app.worker.open_models import open_checkpoint
from app.worker.source_code import source_of
from model.course.chapters import CHAPTERS
from model.course.controls import Control, RecordingControl
from model.course.modalities.recording import decode_recording
from model.course.pictures import plain
from model.course.screen import Screen
from model.errors import InputError


def handle_chapter(body: dict[str, Any]) -> bytes:
    """The contents of the course, and what its rows say of one chapter: the first, where none is named."""
    name = str(body.get("chapter") or "") or next(iter(CHAPTERS))
    chapter = CHAPTERS[name]
    contents = [
        {
            "name": each,
            "title": row.title,
            "summary": row.summary,
            "screens": [{"name": screen, "title": one.title} for screen, one in row.screens.items()],
        }
        for each, row in CHAPTERS.items()
    ]
    screens = [{"name": each} | _screen_payload(screen) for each, screen in chapter.screens.items()]
    return pack({"contents": contents, "chapter": name, "screens": screens})


def handle_screen(body: dict[str, Any]) -> bytes:
    """What a screen shows for its `inputs`, texts by the names of its controls. Raises HeadlightError."""
    screen = CHAPTERS[str(body.get("chapter"))].screens[str(body.get("screen"))]
    inputs = body.get("inputs")
    if not isinstance(inputs, dict) or not all(isinstance(text, str) for text in inputs.values()):
        raise InputError("The inputs of a screen are texts by the names of its controls.")
    values = screen.parse(inputs)
    links = screen.links(values)
    for name, control in screen.controls.items():
        if isinstance(control, RecordingControl) and values[name] is not None:
            values[name] = decode_recording(own_file(values[name]))
    for name, control in screen.model_controls.items():
        values[name] = open_checkpoint(values[name], str(body.get("device") or "auto"))
        control.require(values[name].model.config)
    return pack({"rows": plain(screen.compute(**values)), "links": links})


def handle_run(body: dict[str, Any]) -> bytes:
    """The same of a screen that runs for seconds."""
    return handle_screen(body)


def _screen_payload(screen: Screen) -> dict[str, Any]:
    return {
        "title": screen.title,
        "lesson": screen.lesson,
        "formulas": screen.formulas,
        "controls": [{"name": name} | _control_payload(control) for name, control in screen.controls.items()],
        "code": [{"name": part.__qualname__, "code": source_of(part)} for part in screen.code],
        "is_long": screen.is_long,
        "see_also": plain(screen.see_also),
        "model_controls": list(screen.model_controls),
    }


def _control_payload(control: Control) -> dict[str, Any]:
    return {"kind": control.kind} | {each.name: plain(getattr(control, each.name)) for each in fields(control)}
