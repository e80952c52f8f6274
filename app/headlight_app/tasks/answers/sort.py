"""Sort: the number predicted for each place, and the tokens that it was found by looking at."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headlight.views.kinds import Verdict
from headlight.views.words import visible
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.explore.answers.layer_analysis import answer_number
from headlight_app.inference.resolved_question import ResolvedQuestion
from headlight_app.tasks.answers.alignment import alignment
from headlight_app.tasks.answers.labels import best_label, label_shares, label_tables
from headlight_app.tasks.answers.shown_weights import READS, attention_of_kind, shown_weights


def sort(resolved: ResolvedQuestion, state: State) -> Views:
    """Lines from each answer to what it looked at, and how many are right. Raises TextError."""
    found, read = label_shares(resolved), resolved.trace.text.token_texts
    now, was = ([best_label(resolved, row) for row in rows] for rows in (found.after, found.before))
    missed = missed_numbers(read, now)
    right = 0 if missed is None else len(read) - len(missed)
    wanted = missed or {}
    notes = tuple(
        answer_note(was[place], now[place], wanted.get(place, ""), answer_number(resolved.config, float(shares.max())))
        for place, shares in enumerate(found.after)
    )
    places = tuple(("text", place) for place in range(len(read)))
    group = attention_of_kind(resolved.config, "self")
    view = alignment(
        shown_weights(resolved, group, state),
        tuple(read),
        tuple(now),
        "was found by looking at",
        notes=notes,
        wrong=tuple(wanted),
        read_places=places,
        places=places,
        picks=tuple({"pinned": (place,)} for place in range(len(read))),
    )
    misread = read_words(resolved.question.text, [text.strip() for text in read])
    is_right = not misread and right == len(read)
    views = (view,) if group else ()  # a model without layers has no attention
    verdict = misread or verdict_words(right, len(read), is_marked=bool(views))
    return *views, Verdict(verdict, is_right, tables=label_tables(resolved, found))


def missed_numbers(read: Sequence[str], answers: Sequence[str]) -> dict[int, str] | None:
    """The right number of each place whose answer is another; None if some of what was read is no number."""
    if not all(re.fullmatch(r"\s*[0-9]+\s*", text) for text in read):
        return None
    places = enumerate(zip(answers, sorted(map(int, read)), strict=True))
    return {
        place: str(number)
        for place, (answer, number) in places
        if not answer.strip().isdecimal() or int(answer) != number
    }


def read_words(typed: str, read: Sequence[str]) -> str:
    """A note if the numbers that were read differ from the typed ones; else empty."""
    if typed.split() == list(read):
        return ""
    unknown = ", where [UNK] is unknown text" if "[UNK]" in read else ""
    return (
        "These are not the numbers you typed. The model only knows integers from 0 to 99, so it read "
        f"{', '.join(map(visible, read))}{unknown}."
    )


def answer_note(before: str, after: str, wanted: str, number: str) -> str:
    """What a change has altered, else what a wrong answer should be, else the answer's number."""
    return f"was {before}" if before != after else f"not {wanted}" if wanted else number


def verdict_words(right: int, count: int, *, is_marked: bool) -> str:
    """How many places are right."""
    if right == count:
        return "The one number is right." if count == 1 else f"All {count} numbers are in order."
    return f"{right} of {count} places are right.{' The others are marked.' if is_marked else ''}"


ANALYSIS = Analysis("Sort", reads=READS, compute=sort)
