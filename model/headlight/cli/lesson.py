"""`headlight lesson`: checks lessons, and makes a table of grades from hand-ins."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from headlight.checkpoints import Checkpoint, find_checkpoint, load
from headlight.cli.common import add_device_option, add_folder_option, command, model_folders
from headlight.errors import HeadlightError
from headlight.lessons.check import check_text
from headlight.lessons.hand_in import collect, head_of_grades, line_of_grade
from headlight.lessons.lesson_file import Fault, read_text
from headlight.registry import Registry


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = "; ".join(f"{name}: {action.__doc__}" for name, action in ACTIONS.items())
    parser.add_argument("action", choices=tuple(ACTIONS), help=actions)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="lessons (.md) or hand-ins (.json)")
    parser.add_argument("--model", default="", help="check: use this model instead of the lesson's own")
    add_device_option(parser)
    add_folder_option(parser)


@command(_add_arguments, epilog="The format of a lesson: model/headlight/lessons/README.md.")
def lesson(options: argparse.Namespace) -> int:
    """Check lessons, or make a table of grades (CSV) from files that learners have handed in.

    Grades are recomputed: the model runs on each learner's own text. A wrong digest shows that a file was damaged or
    edited. The digest contains no secret, so anyone can recompute it after an edit, and it does not prove who answered.
    The exit status is 0, 1 if a lesson has a fault or a file a problem, and 2 if nothing could be done.
    """
    return ACTIONS[options.action](options)


def _check(options: argparse.Namespace) -> int:
    """print one sentence per fault in lessons"""
    has_fault = False
    for file in options.files:
        try:
            faults = check_text(file.stem, read_text(file), _opener(options), options.model)
        except HeadlightError as error:
            faults = (Fault(1, str(error)),)
        for fault in faults:
            print(f"{file}:{fault.line}: {fault.sentence}")
        has_fault = has_fault or bool(faults)
        if not faults:
            print(f"{file}: nothing is wrong.")
    return int(has_fault)


def _collect(options: argparse.Namespace) -> int:
    """print the grades of hand-ins as a table"""
    print(head_of_grades(), end="")
    has_problem = False
    for grade in collect(options.files, _opener(options, allow_paths=False)):  # the files are of learners
        print(line_of_grade(grade), end="")
        has_problem = has_problem or bool(grade.problem)
    return int(has_problem)


def _opener(options: argparse.Namespace, *, allow_paths: bool = True) -> Callable[[str], Checkpoint]:
    """Opens models by name, each once; by path only if allowed."""
    folders = model_folders(options)

    @lru_cache(maxsize=4)
    def opened(name: str) -> Checkpoint:
        return load(find_checkpoint(name, folders, allow_paths=allow_paths), name=name, device=options.device)

    return opened


ACTIONS: Registry[Callable[[argparse.Namespace], int]] = Registry("action", {"check": _check, "collect": _collect})
