"""A worksheet for a class: one printed page with figure, questions and link, and a second page with the answers."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template
from typing import cast

import numpy as np
import segno

from headlight.analysis.head_metrics import head_metrics, head_metrics_for, rows_with_pattern
from headlight.config import Config
from headlight.course.exercises import ATTENTION_FUNCTION_EXERCISES, MASK_EXERCISES, POSITIONAL_ENCODING_EXERCISES
from headlight.problem_types import problem_type_of
from headlight.registry import Exercise
from headlight.tasks import task_exercise
from headlight.text.chat import Chat
from headlight.views.words import percent, three_digits
from headlight.vision.patches import EncodedImage
from headlight_app.contract.state import State
from headlight_app.explore.answers.head_view import head_view
from headlight_app.explore.answers.quantities import shown_quantity
from headlight_app.explore.contract import ExportWorksheetRequest
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.head_selection import selected_attention, selected_heads
from headlight_app.inference.open_models import model_title
from headlight_app.inference.resolved_question import ResolvedQuestion

TEMPLATE = Path(__file__).with_name("worksheet.html")
MAX_EXERCISES = 3
LARGE_SHARE = 0.35  # minimum share of a head's attention for a pattern to describe the head
LEAST_ROWS = 3  # for a pattern of repeated words
MAX_ROWS = 6  # rows named in an answer
MAX_CODE = 900  # characters of a link whose QR code can be scanned from paper
MAX_NAMED = 3  # predictions of the model
LINES = 2  # to write on below each question


def worksheet(resolved: ResolvedQuestion, parts: ExportWorksheetRequest) -> str:
    """The page as HTML: it works offline, and every text on it can be edited before printing."""
    state = parts.state
    exercises = list(choose_exercises(resolved, state))[:MAX_EXERCISES]
    figure = base64.b64encode(parts.figure.encode("utf-8", "replace")).decode("ascii")
    fields = {
        "title": escape(_title(resolved, state)),
        "sentence": "".join(f'<p class="sentence" dir="auto">{escape(text)}</p>' for text in _texts(resolved)),
        "figure": f"data:image/svg+xml;base64,{figure}",
        "questions": "".join(_question(exercise.question) for exercise in exercises),
        "answers": "".join(f"<li contenteditable>{escape(exercise.answer)}</li>" for exercise in exercises),
        "likeliest": escape(_likeliest(resolved, state)),
        "link": escape(parts.link),
        "omitted": escape(parts.omitted),
        "code": link_code(parts.link),
        "line": escape(parts.line),
    }
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(fields)


def choose_exercises(resolved: ResolvedQuestion, state: State) -> Iterator[Exercise]:
    """Exercises that fit the view: on the head, on replaced parts, on the task, on the other parts."""
    group = selected_attention(resolved.config, state.attention)
    config, trained = (each.for_stack(group.stack) for each in (resolved.config, resolved.as_trained.config))
    rows = (
        head_exercise(resolved, state) or column_exercise(resolved, state),
        *_wiring(config, trained, group.kind),
        task_exercise(resolved.config),
        *_wiring(config, None, group.kind),
    )
    seen: list[Exercise] = []
    for exercise in rows:
        if exercise is not None and exercise not in seen:
            seen.append(exercise)
            yield exercise


def head_exercise(resolved: ResolvedQuestion, state: State) -> Exercise | None:
    """The exercise on the pattern with most of the head's attention, and its share here; None if there is none.

    A pattern counts if enough rows can show it: half of the rows, or three if only repeated words have it.
    """
    group = selected_attention(resolved.config, state.attention)
    heads = selected_heads(state, group)
    if resolved.is_long or group.kind != "self" or state.quantity != "weights" or len(heads) > 1:
        return None
    (layer, head), text = heads[0], resolved.trace.text_of_stack(group.stack)
    rows = {name: row for name, row in head_metrics_for(isinstance(text, EncodedImage)).items() if row.exercise}
    measured = head_metrics(resolved.trace, group.stack, group.kind)
    counts = rows_with_pattern(resolved.trace, group.stack, layer, head)
    least = {name: len(text.ids) / 2 if row.is_everywhere else LEAST_ROWS for name, row in rows.items()}
    shares = {name: float(measured[name][layer, head]) for name in rows if counts[name] >= least[name]}
    name = max(shares, key=lambda name: shares[name], default="")
    if not name or shares[name] < LARGE_SHARE:
        return None
    exercise, share = cast(Exercise, rows[name].exercise), shares[name]
    here = (
        f"Here layer {layer}, head {head} gives {percent(share, 0)} of its attention to {rows[name].description}: the "
        f"mean of the {counts[name]} rows of {len(text.ids)} that can look there."
    )
    return Exercise(exercise.question, f"{exercise.answer} {here}")


def column_exercise(resolved: ResolvedQuestion, state: State) -> Exercise | None:
    """An exercise on the column with the largest mean weight."""
    if resolved.is_long or shown_quantity(resolved, state) != "weights":
        return None
    view = head_view(resolved, state)
    weights = np.nan_to_num(view.values)
    column = int(weights.mean(0).argmax())
    rows = [label.strip() for label, row in zip(view.rows.labels, weights, strict=True) if row.argmax() == column]
    named = ", ".join(f"“{label}”" for label in rows[:MAX_ROWS]) + (" and others" if len(rows) > MAX_ROWS else "")
    return Exercise(
        "Each row shows where one token looks. Which column gets most attention over all rows? Which rows look there "
        "most, and why?",
        f"“{view.columns.labels[column].strip()}”: {percent(weights.mean(0)[column], 0)} of each row on average. Of "
        f"{len(weights)} rows {len(rows)} look there most{': ' * bool(rows)}{named}.",
    )


def _wiring(config: Config, trained: Config | None, kind: str) -> Iterator[Exercise | None]:
    """Exercises on mask, positional encoding and attention function; with `trained`, only on parts that differ from it.

    Attention to another text has neither a mask nor positions.
    """
    if kind == "self" and (trained is None or config.masks != trained.masks):
        yield from (MASK_EXERCISES.get(name.partition(":")[0]) for name in reversed(config.masks))
    if kind == "self" and (trained is None or config.positional_encoding != trained.positional_encoding):
        yield POSITIONAL_ENCODING_EXERCISES.get(config.positional_encoding)
    if trained is None or config.attention_function != trained.attention_function:
        yield ATTENTION_FUNCTION_EXERCISES.get(config.attention_function)


def link_code(link: str) -> str:
    """The QR code of a link as SVG; a sentence if the link is too long to scan."""
    if len(link) > MAX_CODE:
        return "<p>The link is too long for a QR code.</p>"
    written = io.BytesIO()
    segno.make(link, micro=False).save(written, kind="svg", light="#fff", xmldecl=False, omitsize=True)
    return written.getvalue().decode()


def _title(resolved: ResolvedQuestion, state: State) -> str:
    heads = selected_heads(state, selected_attention(resolved.config, state.attention))
    shown = f"layer {heads[0][0]}, head {heads[0][1]}" if len(heads) == 1 else f"{len(heads)} heads"
    return f"What does {model_title(resolved.question.model)} look at? {shown[:1].upper()}{shown[1:]}"


def _texts(resolved: ResolvedQuestion) -> list[str]:
    question = resolved.question
    if question.chat:
        return Chat.from_text(question.text).to_text().splitlines()
    return [text for text in (question.source, question.text, question.text_pair) if text]


def _question(question: str) -> str:
    lines = '<div class="line"></div>' * LINES
    return f"<li><p contenteditable>{escape(question)}</p>{lines}</li>"


def _likeliest(resolved: ResolvedQuestion, state: State) -> str:
    """The model's likeliest answers, or their scores, in a sentence."""
    found = predictions(resolved, state.query)[:1]
    if not found:
        return ""
    are_scores = not problem_type_of(resolved.config).is_probability
    named = ", ".join(
        f"“{one.text.strip()}” {three_digits(one.after) if are_scores else percent(one.after, 0)}"
        for one in found[0].candidates[:MAX_NAMED]
    )
    words = "The model's highest scores" if are_scores else "What the model finds likeliest"
    return f"{words} ({found[0].title.lower()}): {named}."
