"""What may be shown of a screen before its questions are settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headlight.questions.kinds import Question
from headlight.questions.marking import Mark, mark
from headlight.views.rows import Row


@dataclass(frozen=True)
class Asked:
    """A question of a screen, the index of its row among the shown rows, and the outcome of its tries."""

    place: int
    question: Question
    mark: Mark


def withhold(rows: Sequence[Row], tries: Sequence[str]) -> tuple[tuple[Row, ...], tuple[Asked, ...]]:
    """The rows of a screen that may be shown, and its questions up to the first unsettled one.

    Until a question is settled, its row and those after it are left out, since they would give away the answer.
    """
    asked, end, rest = list[Asked](), len(rows), tuple(tries)
    for place, row in enumerate(rows):
        if row.question:
            settled = (count for count in range(len(rest)) if mark(row.question, rest[:count]).is_settled)
            used = next(settled, len(rest))
            found = mark(row.question, rest[:used])
            asked.append(Asked(place, row.question, found))
            rest = rest[used:]
            if not found.is_settled:
                end = place + row.question.shows_row
                break
    return tuple(replace(row, question=None) for row in rows[:end]), tuple(asked)
