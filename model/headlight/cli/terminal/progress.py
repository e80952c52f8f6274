"""The progress of a training run: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from headlight.data.corpus import Log
from headlight.training.run_dir import StepReport


def log_to_stderr(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


@dataclass
class TrainingBar:
    """The progress bar of a run; the next run resets it. Lines are printed above it."""

    bar: Progress
    run: TaskID | None = None

    def log(self, text: str) -> None:
        """Print a line above the bar, unchanged."""
        self.bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, report: StepReport) -> None:
        """Move the bar to a step."""
        if self.run is not None and report.fraction < self.bar.tasks[0].completed:
            self.bar.remove_task(self.run)
            self.run = None
        if self.run is None:
            self.run = self.bar.add_task("", total=1.0, text="")
        validation = "" if report.validation is None else f"  validation {report.validation:.3f}"
        text = f"step {report.step:,}  loss {report.loss:.3f}{validation}"
        self.bar.update(self.run, completed=report.fraction, text=text)


@contextmanager
def training_bar() -> Iterator[TrainingBar | None]:
    """A bar on standard error within the context; None if that is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield None
        return
    columns = (TextColumn("{task.fields[text]}"), BarColumn(), TimeRemainingColumn(), TextColumn("left"))
    with Progress(*columns, console=console, transient=True) as bar:
        yield TrainingBar(bar)


def log_of(bar: TrainingBar | None) -> Log:
    """The function that prints lines."""
    return bar.log if bar else log_to_stderr
