"""Computations step by step: each answer continues from the progress that the request sends back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from time import monotonic
from typing import TypeVar

import msgspec
import numpy as np

from headlight.attention_groups import attention_groups
from headlight.cancellation import check_cancelled
from headlight.config import Config
from headlight.errors import ConfigError, InputError
from headlight.tasks import task_of
from headlight.views.forms import layers_matrix
from headlight.views.kinds import ChangesView, Pick
from headlight.views.rows import Row, row
from headlight_app.explore.answers.analyses.row import Step

STEP_SECONDS = 0.5  # of work in one answer, so that its progress is visible
RANKED = 10  # of the largest numbers
DIGITS = 7  # of a number that is sent back; those of float32
NO_PROGRESS = "The progress is not one that this analysis has sent. Start it again."

Progress = TypeVar("Progress")


def require_heads(config: Config) -> None:
    """Raise ConfigError for a model without heads, or without an answer that they could change."""
    if not attention_groups(config):
        raise ConfigError("This model has no layers, so it has no heads to turn off.")
    if not task_of(config).predicts:
        raise ConfigError("This model ends without a head, so there is no answer that its heads could change.")


def read_progress(text: str, kind: type[Progress], begin: Progress) -> Progress:
    """The progress that a page sent back. Raises InputError for anything else."""
    if not text:
        return begin
    try:
        return msgspec.convert(json.loads(text), kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise InputError(NO_PROGRESS) from error


@dataclass(frozen=True)
class StepwiseMap:
    """A map of layers, computed a few cells at a time: what its cells are, and what they say.

    `batch` returns the numbers of a layer from a cell on, at least one. `things` are what the columns are.
    """

    title: str
    ranked: str
    things: str
    layers: int
    columns: tuple[str, ...]
    note: str
    titles: Callable[[int, int], str]
    details: Callable[[float], str]
    pick: Callable[[int, int], Pick]
    words: str

    def step(self, progress: str, batch: Callable[[int, int], Sequence[float]]) -> Step:
        """The map after half a second of work."""
        known, count = read_progress(progress, list[float], []), self.layers * len(self.columns)
        if len(known) > count:
            raise InputError(NO_PROGRESS)
        until = monotonic() + STEP_SECONDS
        while len(known) < count:
            check_cancelled()
            found = batch(*divmod(len(known), len(self.columns)))
            known = [*known, *(float(f"{number:.{DIGITS}g}") for number in found)]
            if monotonic() > until:
                break
        words = f"{len(known)} of {count} {self.things}; {self.words}"
        return Step((self._row(known),), json.dumps(known), len(known) / count, words)

    def _row(self, known: list[float]) -> Row:
        width = len(self.columns)
        values = np.full(self.layers * width, np.nan)
        values[: len(known)] = known
        table = layers_matrix(
            self.title,
            values.reshape(self.layers, width),
            self.columns,
            self.things.removesuffix("s"),
            name=self.titles,
            details=lambda value: "" if isnan(value) else self.details(value),
            pick=self.pick,
            note=self.note,
        )
        order = np.argsort(-np.abs(values[: len(known)]), kind="stable")[:RANKED].tolist()
        places = [divmod(place, width) for place in order]
        largest = ChangesView(
            self.ranked,
            tuple((self.titles(*place), known[number]) for place, number in zip(places, order, strict=True)),
            picks=tuple(self.pick(*place) for place in places),
            tables={},
        )
        return row(table, largest)
