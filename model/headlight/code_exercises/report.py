"""Findings as sentences for the person who wrote the solution."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill, indent

from headlight.code_exercises.exercises import CODE_EXERCISES
from headlight.code_exercises.finding import Diagnosis, Finding, Rung
from headlight.code_exercises.grade import grade
from headlight.code_exercises.solution import Solution

WIDTH = 100
MARGIN = " " * 9


def format_findings(findings: Iterable[Finding], rung: Rung = 2) -> str:
    """A heading for each exercise, and a paragraph for each check. `rung` says how much the hints tell."""
    lines: list[str] = []
    told: set[str] = set()
    exercise = ""
    for finding in findings:
        if finding.exercise != exercise:
            exercise = finding.exercise
            lines += ["", exercise] if lines else [exercise]
        lines.append(f"  {'right' if finding.passed else 'WRONG'}  {finding.check}")
        lines += [_wrap(text) for text in (finding.note, finding.given, *_explanations(finding, rung, told)) if text]
    return "\n".join(lines)


def _explanations(finding: Finding, rung: Rung, told: set[str]) -> list[str]:
    if finding.passed:
        return []
    if not finding.diagnoses:
        return _ladder_of_exercise(finding, rung, told)
    return [text for diagnosis in finding.diagnoses for text in _explain(diagnosis, rung, told)]


def _explain(diagnosis: Diagnosis, rung: Rung, told: set[str]) -> list[str]:
    if diagnosis.looks_like in told:
        return ["The same as above."]
    told.add(diagnosis.looks_like)
    if rung == 1:
        return [diagnosis.hints.nudge]
    code = [diagnosis.hints.show_me] if rung == 3 else []
    return [f"It looks as if {diagnosis.looks_like}", f"Try this: {diagnosis.hints.concrete}", *code]


def _ladder_of_exercise(finding: Finding, rung: Rung, told: set[str]) -> list[str]:
    hints = CODE_EXERCISES[finding.exercise].hints
    hint = {1: hints.nudge, 2: hints.concrete, 3: hints.show_me}[rung]
    if hint in told:
        return []
    told.add(hint)
    return ["This is no mistake that Headlight knows.", hint]


def _wrap(text: str) -> str:
    """Indented; prose is wrapped, code (several lines) keeps its own."""
    return indent(text if "\n" in text else fill(text, WIDTH - len(MARGIN)), MARGIN)


def check(solution: Solution, rung: Rung = 2) -> bool:
    """Print what is right and wrong of a function or class with the name of an exercise; for notebooks.

    `rung` is how much the hints tell: 1 a nudge, 2 the concrete step, 3 the code.
    """
    findings = list(grade(solution.__name__, solution))
    print(format_findings(findings, rung))
    return all(finding.passed for finding in findings)
