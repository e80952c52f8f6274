"""The tasks to begin with, in which attention is easy to read: the guided start and the page Tasks lead there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass

from headlight.registry import Registry


@dataclass(frozen=True)
class FirstTask:
    """A task with what it shows, and the model that shows it."""

    title: str
    model: str
    shows: str


FIRST_TASKS: Registry[FirstTask] = Registry(
    "task to begin with",
    {
        "translate": FirstTask(
            "Translate", "translate", "where lines lead from each word to the source words that it looks at"
        ),
        "describe": FirstTask(
            "Describe", "caption", "where each word lights the parts of the picture that it looks at"
        ),
    },
)


def first_tasks_json(models: Collection[str]) -> list[dict[str, str]]:
    """The tasks whose model is among these, as JSON for the browser."""
    return [{"name": name, **asdict(row)} for name, row in FIRST_TASKS.items() if row.model in models]
