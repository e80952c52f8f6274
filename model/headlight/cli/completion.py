"""`headlight completion`: a script for shell completion of commands, options, and names of models and tasks."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import shtab

from headlight.checkpoints import catalog
from headlight.cli.common import Command, CommandParser
from headlight.data.text_tasks import EXAMPLE_TASKS


def completion_script(shell: str, commands: Iterable[Command]) -> str:
    """The completion script for a shell that shtab supports."""
    root = CommandParser(prog="headlight", add_help=False)
    parsers = root.add_subparsers()
    for each in commands:
        parser = parsers.add_parser(each.name, help=each.summary, description=each.run.__doc__)
        each.add_arguments(parser)
        for action in parser._actions:
            _complete(action)
    return shtab.complete(root, shell)


def _complete(action: argparse.Action) -> None:
    """Add the choices of a value; this parser only generates the script and parses nothing."""
    choices = {"model": [entry.name for entry in catalog()], "task": sorted(EXAMPLE_TASKS)}
    if action.dest in choices and not action.choices:
        action.choices = choices[action.dest]
    elif action.dest == "models":
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif action.type is Path or action.metavar == "FILE":
        action.complete = shtab.FILE  # type: ignore[attr-defined]
