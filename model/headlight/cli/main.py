"""The command line of the backend. Every command reports a failure in one sentence, never with a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from headlight.cli.check import check, exercises
from headlight.cli.evaluate import card, evaluate, extrapolate
from headlight.cli.ledger import ledger
from headlight.cli.models import export, models
from headlight.cli.open import open_attention
from headlight.cli.predict import predict
from headlight.cli.trace import trace
from headlight.cli.train import train
from headlight.cli.why import rankings, sinks, without
from headlight.errors import HeadlightError
from headlight.registry import Registry

COMMANDS: Registry[Callable[[Sequence[str]], int]] = Registry(
    "command",
    {
        "trace": trace,
        "predict": predict,
        "ledger": ledger,
        "sinks": sinks,
        "rankings": rankings,
        "without": without,
        "open": open_attention,
        "models": models,
        "train": train,
        "evaluate": evaluate,
        "export": export,
        "card": card,
        "extrapolate": extrapolate,
        "check": check,
        "exercises": exercises,
    },
)


def main(arguments: Sequence[str]) -> int:
    """Run one command with its arguments; the exit status is 0, or 2 with a sentence on standard error."""
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            print(usage())
            return 0
        return COMMANDS[arguments[0]](arguments[1:])
    except HeadlightError as error:
        print(f"headlight: {error}", file=sys.stderr)
        return 2


def usage() -> str:
    """The commands, each with the first line of its docstring."""
    lines = [
        f"  headlight {command:11} {(action.__doc__ or '').splitlines()[0]}" for command, action in COMMANDS.items()
    ]
    return "\n".join(["Usage: headlight COMMAND ... (each command explains its options with --help)", *lines])
