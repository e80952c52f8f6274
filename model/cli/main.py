"""The command line of the backend: trace, predict, models, train. Each verb prints sentences, never a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from model.cli import evaluate as evaluation
from model.cli import train as training
from model.cli.export import export
from model.cli.models import models
from model.cli.predict import predict
from model.cli.trace import trace
from model.errors import HeadlightError
from model.registry import Registry


def main(arguments: Sequence[str]) -> int:
    """Run one verb with its arguments; gives the exit status: 0, or 2 with a sentence on standard error."""
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            print(usage())
            return 0
        return COMMANDS[arguments[0]](list(arguments[1:]))
    except HeadlightError as error:
        print(f"headlight: {error}", file=sys.stderr)
        return 2


def usage() -> str:
    """The verbs, a line each."""
    lines = [
        f"  headlight {command:8} {(action.__doc__ or '').splitlines()[0]}" for command, action in COMMANDS.items()
    ]
    return "\n".join(["Usage: headlight VERB ... (each verb explains itself with --help)", *lines])


def train(arguments: list[str]) -> int:
    """Train a small model on text files."""
    return training.main(arguments)


def evaluate(arguments: list[str]) -> int:
    """Measure a model on held-out texts and fill-in tests."""
    return evaluation.evaluate(arguments)


def card(arguments: list[str]) -> int:
    """Write the measured part of a model card."""
    return evaluation.card(arguments)


COMMANDS: Registry[Callable[[list[str]], int]] = Registry(
    "verb",
    {
        "trace": trace,
        "predict": predict,
        "models": models,
        "train": train,
        "evaluate": evaluate,
        "export": export,
        "card": card,
    },
)
