"""`python -m headlight.cli.check.process FILE [EXERCISE ...]`: runs a learner's file, prints each finding as JSON.

The lines are signed with the key on standard input. Only `headlight check` starts it, on the learner's own machine. An
import contract keeps it out of every server.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import torch

from headlight.cli.check.signed_lines import SignedLines
from headlight.code_exercises.exercises import CODE_EXERCISES
from headlight.code_exercises.grade import describe_error, grade


def _signed_output() -> SignedLines:
    """Standard output, signed with the key on standard input; what is printed from now on goes to standard error."""
    key, lines = sys.stdin.buffer.read(), os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return SignedLines(lines, key.strip())


def main(arguments: Sequence[str]) -> None:
    """Load the file and grade the exercises that it solves, or the named ones."""
    torch.set_num_threads(1)  # the tensors are tiny, so threads would only slow each other down
    lines, path, names = _signed_output(), Path(arguments[0]), arguments[1:]

    def tell(**event: object) -> None:
        lines.write(event)

    tell(doing="being read")
    try:
        module = _load(path)
    except (Exception, SystemExit) as error:
        tell(problem=f"{path.name} cannot be read. {describe_error(error)}")
        return
    missing = [name for name in names or CODE_EXERCISES if not callable(getattr(module, name, None))]
    found = [name for name in names or CODE_EXERCISES if name not in missing]
    if missing and (names or not found):
        tell(problem=_describe_missing(path, missing, module))
        return
    for name in found:
        tell(doing=f"{name} was checked")
        for finding in grade(name, getattr(module, name)):
            tell(finding=asdict(finding))
    tell(done=True)


def _load(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.parent))  # for imports from the file's own folder
    spec = importlib.util.spec_from_file_location("solution", path)
    if spec is None or spec.loader is None:
        raise ImportError("only a file that ends with .py can be checked")
    module = importlib.util.module_from_spec(spec)
    sys.modules["solution"] = module  # expected by dataclasses and pickle
    spec.loader.exec_module(module)
    return module


def _describe_missing(path: Path, missing: Sequence[str], module: ModuleType) -> str:
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == "solution"]
    return f"{path.name} has no {' and no '.join(missing)}. It defines {', '.join(own) or 'nothing'}."


if __name__ == "__main__":
    main(sys.argv[1:])
