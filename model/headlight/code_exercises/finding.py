"""What a check has found: passed or not, what was given, what it looks like, and what to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rung = Literal[1, 2, 3]


@dataclass(frozen=True, kw_only=True)
class Hints:
    """A ladder of three rungs: a nudge, the concrete step, and the code."""

    nudge: str
    concrete: str
    show_me: str


@dataclass(frozen=True)
class Diagnosis:
    """What a wrong answer looks like (a sentence that follows "It looks as if"), and the way out of it."""

    looks_like: str
    hints: Hints


class CheckFailed(Exception):
    """A solution that is not right: what was given and came out, and what that looks like where it is recognized."""

    def __init__(self, given: str, *diagnoses: Diagnosis) -> None:
        super().__init__(given)
        self.given, self.diagnoses = given, diagnoses


class NothingToCheck(CheckFailed):
    """A solution that is not written yet or cannot be built, so that further checks would only say the same."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of one check of one exercise. `note` is what a solution that passed may know besides."""

    exercise: str
    check: str
    passed: bool
    note: str = ""
    given: str = ""
    diagnoses: tuple[Diagnosis, ...] = ()
