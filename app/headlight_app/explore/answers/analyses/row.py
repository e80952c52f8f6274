"""The row of an analysis: all that is said about it, what it depends on, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

from headlight.attention_groups import AttentionGroup
from headlight.config import Config
from headlight.registry import Registry
from headlight.views.kinds import View
from headlight.views.rows import Row
from headlight_app.contract.parts import Candidate
from headlight_app.contract.state import State
from headlight_app.inference.resolved_question import ResolvedQuestion

Views = tuple[Row | View | str, ...]


@dataclass(frozen=True)
class Step:
    """What is shown after a step of a long computation, and the `progress` from which the next step continues.

    `done` is the share of the work that is done, 1 at the end, and `words` describe the progress.
    """

    views: Views
    progress: str
    done: float
    words: str


@dataclass(frozen=True)
class Program:
    """Lines of Python that compute an analysis, and its command before the common options, empty if there is none."""

    python: tuple[str, ...]
    command: tuple[str, ...] = ()
    keeps_patches: bool = True
    more_inputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class HeadsOff:
    """Heads that are switched off, and the likeliest answers with and without them, of one token or `of_whole_text`."""

    heads: tuple[tuple[AttentionGroup, int, int], ...]
    before: Candidate
    after: Candidate
    of_whole_text: bool

    @property
    def changes_answer(self) -> bool:
        """Whether another answer is the likeliest without them."""
        return self.before.id != self.after.id


@dataclass(frozen=True)
class Analysis:
    """One analysis: a tab within Layers, the answer to a task, or an explanation beside the panels.

    `lesson` explains in a few sentences what it shows.

    `reads` names the fields of the State on which it depends: the page offers a choice of the answer for
    `target_token`, and of the attention for `attention`. With the kinds of patches in `reads_head_of` it depends on the
    chosen head too. `compute` returns what it shows at once, or `pause_at_once` milliseconds after the last choice.
    `compute_long` returns more, computed in the lane for long work, and asked for after `pause` milliseconds without
    another choice, so that an analysis that runs the model again is not asked for while one types; it depends on
    `long_reads`, or without them on the same fields. `step` returns more
    step by step, once the button titled `start` is pressed; `of_unpatched`: the run without patches, so that patches
    made by clicks do not change it. Models for which it does not `exist` do not list it. `of_likeliest`: it analyses
    the likeliest answer. The lesson is empty if it depends on the model. `offered` are the words of the button that
    opens it beside the prediction once heads that change the answer much are switched off; empty if it explains
    nothing then.
    """

    title: str
    lesson: str = ""
    reads: tuple[str, ...] = ()
    reads_head_of: tuple[str, ...] = ()
    long_reads: tuple[str, ...] = ()
    compute: Callable[[ResolvedQuestion, State], Views] | None = None
    pause_at_once: int = 0
    compute_long: Callable[[ResolvedQuestion, State], Views] | None = None
    pause: int = 0
    start: str = ""
    step: Callable[[ResolvedQuestion, State, str], Step] | None = None
    of_unpatched: bool = False
    exists: Callable[[Config], bool] = lambda config: True
    of_likeliest: bool = False
    offered: Callable[[HeadsOff], str] = lambda off: ""
    programs: Callable[[ResolvedQuestion, State], Iterator[Program]] = lambda resolved, state: iter(())


def table_of(kind: str, package: str, names: Sequence[str]) -> Registry[Analysis]:
    """The analyses of a package: the module of each name has its row, `ANALYSIS`."""
    return Registry(kind, {name: import_module(f"{package}.{name}").ANALYSIS for name in names})
