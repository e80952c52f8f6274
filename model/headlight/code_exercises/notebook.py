"""The exercises as files with gaps: a Jupyter notebook (nbformat 4.5), or Python."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from textwrap import fill
from typing import Any

from headlight.code_exercises.exercises import CODE_EXERCISES, CodeExercise
from headlight.errors import HeadlightError

INTRODUCTION = """\
Write attention yourself, in four steps: a function, a module of one head, the function with a mask and dropout, and a
module of several heads. Each is checked against the code that Headlight runs. A wrong answer is compared with those
that well-known mistakes give, so that the check can tell which mistake it looks like."""
COMMENT_WIDTH = 100
IMPORTS = """\
import math

import torch
from torch import nn
"""
GAP = 'raise NotImplementedError("your code")'


def write_exercises(path: Path) -> None:
    """Write the gaps to a new file. Raises HeadlightError where it exists, or is neither .ipynb nor .py."""
    if path.suffix not in (".ipynb", ".py"):
        raise HeadlightError(f"{path} is neither a notebook (.ipynb) nor a Python file (.py).")
    text = notebook_text() if path.suffix == ".ipynb" else python_text()
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise HeadlightError(f"{path} exists already, and is left as it is. Name another file.") from None
    except OSError as error:
        raise HeadlightError(f"{path} cannot be written: {error.strerror}.") from error


def notebook_text() -> str:
    """The notebook as JSON."""
    cells = [
        _markdown("introduction", f"# Attention in your own code\n\n{INTRODUCTION}"),
        _code("imports", f"{IMPORTS}\nfrom headlight.code_exercises import check"),
    ]
    for name, exercise in CODE_EXERCISES.items():
        cells += [
            _markdown(f"{name}-task", _task_markdown(name, exercise)),
            _code(f"{name}-gap", starter(exercise)),
            _code(f"{name}-check", f"check({name})"),
        ]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def python_text() -> str:
    """The same gaps as a Python file, for `headlight check`."""
    parts = [f'"""Fill in the gaps, then run `headlight check` on this file."""\n\n{IMPORTS}']
    for exercise in CODE_EXERCISES.values():
        comment = "\n".join(
            fill(line, COMMENT_WIDTH, initial_indent="# ", subsequent_indent="# ")
            for line in (exercise.task, *exercise.arguments)
        )
        parts.append(f"{comment}\n{starter(exercise)}\n")
    return "\n\n".join(parts)


def starter(exercise: CodeExercise) -> str:
    """The first lines of a solution, with a gap in each body."""
    lines: list[str] = []
    for line in exercise.signature.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines += ["", line] if line.lstrip().startswith("def ") and len(lines) > 1 else [line]
        if line.lstrip().startswith("def __init__"):
            lines.append(f"{indent}    super().__init__()")
        if line.lstrip().startswith("def "):
            lines.append(f"{indent}    {GAP}")
    return "\n".join(lines)


def _task_markdown(name: str, exercise: CodeExercise) -> str:
    arguments = "\n".join(f"- {_as_code(argument)}" for argument in exercise.arguments)
    hints = (("A nudge", exercise.hints.nudge), ("What to do", exercise.hints.concrete))
    ladder = [f"<details><summary>{title}</summary>{escape(text)}</details>" for title, text in hints]
    code = f"<details><summary>Show me</summary><pre>{escape(exercise.hints.show_me)}</pre></details>"
    return "\n\n".join((f"## {exercise.title}: `{name}`", exercise.task, arguments, *ladder, code))


def _as_code(argument: str) -> str:
    name, _, rest = argument.partition(":")
    return f"`{name}`:{rest}"


def _markdown(identity: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": identity, "metadata": {}, "source": text}


def _code(identity: str, text: str) -> dict[str, Any]:
    run: dict[str, Any] = {"execution_count": None, "outputs": []}
    return {"cell_type": "code", "id": identity, "metadata": {}, "source": text} | run
