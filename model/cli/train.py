"""`headlight train`: a recipe, flags, or both; the same command again goes on after a stop."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from model.cli.parser import Parser
from model.config import Config
from model.data.corpus import Source, expand
from model.nn.attention import QUERY_NORMS
from model.nn.attention_functions import KERNELS
from model.nn.block import PLACEMENTS
from model.nn.feedforward import FEEDFORWARDS
from model.nn.norms import NORMS
from model.nn.positional_encodings import POSITIONS
from model.training.objectives import OBJECTIVES
from model.training.recipe import DECIDED, MODEL, Recipe, TokenizerPart, TrainingPart, changed, load, model_of
from model.training.run_dir import Workspace, branch
from model.training.trainer import Run

SHARED = (
    "On a processor that others use too, start with OMP_WAIT_POLICY=passive in the environment: threads then sleep "
    "instead of spinning while they wait for each other, which is up to ten times as fast."
)
PARTS: dict[str, Iterable[str]] = {
    "position": POSITIONS, "kernel": KERNELS, "norm": NORMS, "placement": PLACEMENTS, "feedforward": FEEDFORWARDS,
    "query_norm": QUERY_NORMS,
}  # fmt: skip
OF_OTHERS = ("encoder_layers", "encoder_heads", "encoder_inner", "start_token")  # of no use with these objectives
TEXTS = "Texts are UTF-8, with a line <|endoftext|> between documents."
TYPES = {"int": int, "float": float, "str": str}
RENAMED = {
    "folder": "tokenizer",
    "kind": "tokenizer_kind",
    "size": "vocabulary",
}  # flags whose field's name says too little by itself


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags; one for each field of a recipe, so that whatever a recipe says a flag can override."""
    parser.add_argument("recipe", nargs="?", type=Path, metavar="RECIPE.toml", help="what to train, on what, and how")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="where the checkpoint goes; its folder run/ keeps the saves",
    )
    parser.add_argument("--branch", type=Path, metavar="FOLDER", help="begin where the run in another folder stands")
    parser.add_argument(
        "--text", action="append", metavar="FILE[=PASSES]", help="a text to learn from (.xz too); repeat for more"
    )
    parser.add_argument("--valid", action="append", metavar="FILE", help="a text to measure on; repeat for more")
    parser.add_argument("--objective", choices=sorted(OBJECTIVES), help="what the model learns (default causal)")
    group = parser.add_argument_group("tokenizer")
    for part in fields(TokenizerPart):
        _add(group, part.name, str(part.type), part.metadata["help"], part.default)
    group = parser.add_argument_group("model")
    for part in fields(Config):
        if part.name not in (*DECIDED, *OF_OTHERS) and str(part.type) in (*TYPES, "bool"):  # the rest is for a recipe
            names = ", ".join(sorted(PARTS.get(part.name, ())))
            _add(group, part.name, str(part.type), names, MODEL.get(part.name, part.default))
    group = parser.add_argument_group("training")
    for part in fields(TrainingPart):
        _add(group, part.name, str(part.type), part.metadata["help"], part.default)


def _add(group: Any, name: str, kind: str, text: str, default: Any) -> None:
    flag = "--" + RENAMED.get(name, name).replace("_", "-")
    if default not in (None, "", 0, 0.0, False):
        text = f"{text} (default {default})".strip()
    if kind == "bool":
        group.add_argument(flag, dest=name, action=argparse.BooleanOptionalAction, default=None, help=text)
    else:
        group.add_argument(flag, dest=name, type=TYPES[kind], metavar=kind.upper(), help=text)


def recipe_of(options: argparse.Namespace) -> Recipe:
    """The recipe's file with the flags laid over it."""
    recipe = load(options.recipe) if options.recipe else Recipe()
    given = {name: value for name, value in vars(options).items() if value is not None}

    def chosen(part: Any) -> dict[str, Any]:
        return {one.name: given[one.name] for one in fields(part) if one.name in given}

    if options.text:
        recipe = replace(recipe, texts=tuple(Source.parse(text) for text in options.text))
    if options.valid:
        recipe = replace(recipe, valid=tuple(expand(path) for path in options.valid))
    return replace(
        recipe,
        objective=options.objective or recipe.objective,
        tokenizer=changed(recipe.tokenizer, chosen(TokenizerPart), "flags"),
        model=model_of(recipe.model, chosen(Config)),
        training=changed(recipe.training, chosen(TrainingPart), "flags"),
    ).check()


class Interrupt:
    """Ctrl-C and SIGTERM end what prepares a run at once, and a running one after its step; a second one at once."""

    def __init__(self) -> None:
        self.asked = 0
        self.running = False

    def __enter__(self) -> Interrupt:
        self.before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Whether a stop was asked for."""
        return self.asked > 0

    def _note(self, number: int, frame: object) -> None:
        again, self.asked = self.asked > 0, number
        if again or not self.running:
            raise KeyboardInterrupt


def say(text: str) -> None:
    """A line to the person who watches."""
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Trains; 0 at the end of the recipe, 128 + the signal's number if stopped before."""
    parser = Parser(prog="headlight train", description=__doc__, epilog=f"{SHARED} {TEXTS}", allow_abbrev=False)
    add_arguments(parser)
    options = parser.parse_args(list(arguments))
    recipe = recipe_of(options)
    if options.branch:
        branch(options.branch, options.out)
    with Interrupt() as interrupt:
        try:
            finished = _train(Workspace(recipe, options.out, say), interrupt)
        except KeyboardInterrupt:
            say("Stopped at once; the same command goes on from the last save.")
            finished = False
    if finished:
        say(f"Done. Try: headlight predict ... --model {options.out}")
    return 0 if finished else 128 + interrupt.asked


def _train(workspace: Workspace, interrupt: Interrupt) -> bool:
    run = Run(workspace, interrupt)
    size = sum(parameter.numel() for parameter in run.learner.model.parameters()) / 1e6
    say(f"{size:.2f} M parameters on {run.learner.device}, multiplied in {run.learner.precision}.")
    interrupt.running = True
    return run.train()
