"""The command line of the backend. Every command reports a failure as one sentence, without a traceback."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

import shtab

from headlight.cli.check.command import check, exercises
from headlight.cli.common import Command, command
from headlight.cli.completion import completion_script
from headlight.cli.evaluate import card, evaluate, extrapolate
from headlight.cli.heads import metrics, patching
from headlight.cli.lens import lens
from headlight.cli.lesson import lesson
from headlight.cli.models import export, models
from headlight.cli.pairs import ledger, similarity
from headlight.cli.predict import predict
from headlight.cli.trace import open_attention, trace
from headlight.cli.train import train
from headlight.cli.why import copying, rankings, sinks, without
from headlight.errors import HeadlightError
from headlight.registry import Registry


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(shtab.SUPPORTED_SHELLS))


COMMANDS: Registry[Command] = Registry(
    "command",
    {
        each.name: each
        for each in (
            trace, predict, metrics, patching, ledger, sinks, rankings, without, copying, similarity, open_attention,
            models, train, lens, evaluate, export, card, extrapolate, check, exercises, lesson,
        )
    },
)  # fmt: skip


def main(arguments: Sequence[str], more: Iterable[Command] = ()) -> int:
    """Run one command, or one of `more`, which need the page's package.

    Returns its exit status, or 2 with a sentence on standard error if it fails.
    """
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            print(usage(more))
            return 0
        return _known(more)[arguments[0]](arguments[1:])
    except HeadlightError as error:
        print(f"headlight: {error}", file=sys.stderr)
        return 2


def _known(more: Iterable[Command]) -> Registry[Command]:
    """All commands, with the one that completes them."""
    known = Registry("command", COMMANDS | {each.name: each for each in more})

    @command(_add_arguments)
    def completion(options: argparse.Namespace) -> int:
        """Print a script for shell completion of commands, options, and names of models and tasks."""
        print(completion_script(options.shell, known.values()))
        return 0

    known[completion.name] = completion
    return known


def usage(more: Iterable[Command] = ()) -> str:
    """The commands, each with the first line of its description."""
    lines = [f"  headlight {name:11} {each.summary}" for name, each in _known(more).items()]
    return "\n".join(["Usage: headlight COMMAND ... (each command explains its options with --help)", *lines])
