"""Runs the checks of an exercise on a solution, and reports their findings in sentences."""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill, indent

import torch

from headlight.code_exercises.diagnoses import CheckFailed, Diagnosis, Finding, NothingToCheck, Rung, diagnosis
from headlight.code_exercises.exercises import CODE_EXERCISES
from headlight.code_exercises.solution import Solution

LIBRARIES = tuple(
    f"{Path(path).resolve()}"
    for path in (sysconfig.get_path("stdlib"), Path(torch.__file__).parent, Path(__file__).parent)
)


def grade(name: str, solution: Solution) -> Iterator[Finding]:
    """A finding for each check of the exercise, up to the first failure that rules out all later checks.

    Raises UnknownNameError for an unknown exercise.
    """
    for check in CODE_EXERCISES[name].checks:
        note, given, is_last = "", "", False
        known: tuple[Diagnosis, ...] = ()
        try:
            note = check.run(CODE_EXERCISES[name].bind, solution)
        except NotImplementedError as error:
            given, known, is_last = describe_error(error), (NOT_WRITTEN,), True
        except CheckFailed as failed:
            given, known, is_last = failed.given, failed.diagnoses, isinstance(failed, NothingToCheck)
        except (Exception, SystemExit) as error:
            given, known = describe_error(error), _known_error(error)
        yield Finding(exercise=name, check=check.title, passed=not given, note=note, given=given, diagnoses=known)
        if is_last:
            return


def describe_error(error: BaseException) -> str:
    """The line of the learner's code and Python's error message, in one sentence."""
    message = f"{type(error).__name__}: {error}".partition("\n")[0][:300].rstrip(" .:")
    if isinstance(error, NotImplementedError):
        message = "this is not written yet"
    if isinstance(error, SyntaxError):
        return f"Line {error.lineno}, `{(error.text or '').strip()}`: {message}."
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_learners(frame.filename)]
    return f"Line {frames[-1].lineno}, `{frames[-1].line}`: {message}." if frames else f"{message}."


def _is_learners(file: str) -> bool:
    return not file.startswith("<frozen") and not str(Path(file).resolve()).startswith(LIBRARIES)


def _known_error(error: BaseException) -> tuple[Diagnosis, ...]:
    text = f"{type(error).__name__}: {error}"
    return tuple(diagnosis for pattern, diagnosis in KNOWN_ERRORS if re.search(pattern, text))[:1]


def _known(pattern: str, looks_like: str, nudge: str, concrete: str, show_me: str) -> tuple[str, Diagnosis]:
    return pattern, diagnosis(looks_like, nudge=nudge, concrete=concrete, show_me=show_me)


NOT_WRITTEN = diagnosis(
    "there is still a gap.",
    nudge="Begin with the shapes: what are the inputs and outputs?",
    concrete="Put your code in place of `raise NotImplementedError`; then check again.",
    show_me="scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))",
)
KNOWN_ERRORS = (
    _known(
        "NameError: name '(torch|math|nn|F|np)'",
        "a library is used but not imported.",
        "Which names does the file use that it does not define?",
        "Import it at the top of the file.",
        "import math\nimport torch\nfrom torch import nn",
    ),
    _known(
        "Boolean value of Tensor|truth value of",
        "a whole tensor is used as a condition, as in `if mask:`.",
        "What should an `if` do with a tensor of many numbers?",
        "Test whether there is a mask at all.",
        "if mask is not None:",
    ),
    _known(
        "inplace|in-place operation",
        "an input is changed in place. Code that uses it afterwards gets wrong numbers.",
        "Look for methods that end with an underscore, and for += and /=.",
        "Make a new tensor instead.",
        "scores = scores / math.sqrt(d_k)",
    ),
    _known(
        "view size is not compatible",
        "view is called on a transposed tensor, whose numbers in memory are no longer in the order of its axes.",
        "What does transpose do to the order of numbers in memory?",
        "Call contiguous() before view, or use reshape.",
        "x = x.transpose(1, 2).contiguous().view(batch, -1, d_model)",
    ),
    _known(
        "bool|Bool",
        "a mask of numbers is used, but True and False are needed.",
        "What is the dtype of the mask?",
        "Compare the mask with 0; that works for Booleans and for numbers.",
        'scores = scores.masked_fill(mask == 0, float("-inf"))',
    ),
    _known(
        "positional argument|unexpected keyword|missing",
        "the arguments differ from those of the exercise.",
        "Compare your first line with the first line of the task.",
        "Take the arguments in the order of the task, with the same defaults.",
        "def attention(query, key, value, mask=None, dropout=None):",
    ),
    _known(
        "must match|cannot be multiplied|Expected size|broadcast|invalid for input of size",
        "two shapes do not match on this line.",
        "Print the shapes of both tensors on the line before.",
        "Write the shape of each step beside it: scores are (batch, query, key), with heads (batch, head, "
        "query, key); a mask needs an axis of length 1 for each missing one.",
        "mask = mask[:, None, :]  # (batch, 1, key)",
    ),
)


WIDTH = 100
MARGIN = " " * 9


def format_findings(findings: Iterable[Finding], rung: Rung = 2) -> str:
    """A heading for each exercise, and a paragraph for each check. `rung` sets how much the hints tell."""
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
    return ["Headlight does not know this mistake.", hint]


def _wrap(text: str) -> str:
    """Indented; prose is wrapped, code (several lines) keeps its line breaks."""
    return indent(text if "\n" in text else fill(text, WIDTH - len(MARGIN)), MARGIN)


def check(solution: Solution, rung: Rung = 2) -> bool:
    """Print what is right and wrong in a function or class named like an exercise; for notebooks.

    `rung` is how much the hints tell: 1 a nudge, 2 the concrete step, 3 the code.
    """
    findings = list(grade(solution.__name__, solution))
    print(format_findings(findings, rung))
    return all(finding.passed for finding in findings)
