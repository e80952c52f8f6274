"""Answers to show: what a model made of a text, beside what counts as right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HELD_OUT, HAND_WRITTEN = "held-out examples", "hand-written sentences"


@dataclass(frozen=True)
class Sample:
    """A text, the answer given, and all answers that are right."""

    text: str
    answer: str
    right: tuple[str, ...]


def sample_table(samples: Sequence[Sample], read: str = "text") -> str:
    """The samples as a Markdown table; `read` is the heading above what was read."""
    lines = [f"| {read} | answer | right |", "|---|---|---|"]
    for sample in samples:
        right = "yes" if sample.answer in sample.right else f"no: {' / '.join(sample.right)}"
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in (sample.text, sample.answer, right)) + " |")
    return "\n".join(lines)
