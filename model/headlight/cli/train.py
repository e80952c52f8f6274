"""`headlight train`: train a model from a recipe, flags, or both; the same command resumes a stopped run."""

from __future__ import annotations

import argparse
import shlex
import signal
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import Field, asdict, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from headlight.cli.common import command
from headlight.cli.terminal.progress import log_of, log_to_stderr, training_bar
from headlight.config import Config
from headlight.config.flat_names import FLAT_NAMES
from headlight.data.corpus import TextSource, expand_path
from headlight.data.text_tasks import EXAMPLE_TASKS
from headlight.errors import DataError
from headlight.nn.attention import QK_NORMS
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.layers import FEED_FORWARDS, NORMS
from headlight.nn.output_heads import POOLINGS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.training.objectives import OBJECTIVES
from headlight.training.recipe import (
    MODEL_DEFAULTS,
    MODEL_FIELDS,
    Recipe,
    TokenizerOptions,
    TrainingOptions,
    load_recipe,
    override_model,
)
from headlight.training.run_dir import RunFolder, fork_run
from headlight.training.trainer import Trainer, in_millions, train_mean_of_seeds

SHARED_CPU_HINT = (
    "On a CPU shared with other programs, set OMP_WAIT_POLICY=passive in the environment: waiting threads then sleep "
    "instead of spinning, which is up to ten times as fast."
)
FLAG_CHOICES: dict[str, Iterable[str]] = {
    "positional_encoding": POSITIONAL_ENCODINGS,
    "attention_function": ATTENTION_FUNCTIONS,
    "norm": NORMS,
    "norm_placement": NORM_PLACEMENTS,
    "feed_forward": FEED_FORWARDS,
    "qk_norm": QK_NORMS,
    "pooling": POOLINGS,
}
TEXT_FORMAT = "Texts are UTF-8, with a line <|endoftext|> between documents."
FLAG_TYPES = {"int": int, "float": float, "str": str, "bool": bool}  # fields of other types can only be set in a recipe
FLAG_NAMES = {"folder": "tokenizer", "kind": "tokenizer_kind"}  # fields with a different flag name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one flag for each field of a recipe, which overrides the recipe's value."""
    parser.add_argument("recipe", nargs="?", type=Path, metavar="RECIPE.toml", help="what to train, on what, and how")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="the checkpoint; its folder run/ keeps the snapshots"
    )
    parser.add_argument("--force", action="store_true", help="write into a folder that contains other files")
    parser.add_argument(
        "--fork-from", type=Path, metavar="FOLDER", help="start from the snapshots of the run in another folder"
    )
    parser.add_argument(
        "--text", action="append", metavar="FILE[=EPOCHS]", help="a text to train on (.xz too); repeat for more"
    )
    parser.add_argument("--validation", action="append", metavar="FILE", help="a text to validate on; repeat for more")
    parser.add_argument(
        "--task", choices=sorted(EXAMPLE_TASKS), help="a built-in task, which has its own examples, instead of texts"
    )
    parser.add_argument(
        "--examples", action="append", metavar="FILE", help="a .tsv, .jsonl or .conll of examples; repeat for more"
    )
    parser.add_argument("--objective", choices=sorted(OBJECTIVES), help="the training objective (default causal)")
    tokenizer_group, model_group, training_group = map(parser.add_argument_group, ("tokenizer", "model", "training"))
    for part in fields(TokenizerOptions):
        _add_flag(tokenizer_group, part.name, str(part.type), part.metadata["help"], part.default)
    for name, part in _model_fields().items():
        if str(part.type) in FLAG_TYPES:
            names = ", ".join(sorted(FLAG_CHOICES.get(name, ())))
            _add_flag(model_group, name, str(part.type), names, MODEL_DEFAULTS.get(name, part.default))
    for part in fields(TrainingOptions):
        if str(part.type) in FLAG_TYPES:
            _add_flag(training_group, part.name, str(part.type), part.metadata["help"], part.default)


def _model_fields() -> dict[str, Field[Any]]:
    """The fields of a model by the names of their flags; the flag of a field in a group is its flat name."""
    named = {part.name: part for part in fields(Config) if part.name in MODEL_FIELDS}
    for name, path in FLAT_NAMES.items():
        group, _, inner = path.partition(".")
        named[name] = next(part for part in fields(getattr(Config, group)) if part.name == inner)
    return named


def _add_flag(group: Any, name: str, type_name: str, text: str, default: Any) -> None:
    flag = "--" + FLAG_NAMES.get(name, name).replace("_", "-")
    if default not in (None, "", 0, 0.0, False):
        text = f"{text} (default {default})".strip()
    if type_name == "bool":
        group.add_argument(flag, dest=name, action=argparse.BooleanOptionalAction, default=None, help=text)
    else:
        group.add_argument(flag, dest=name, type=FLAG_TYPES[type_name], metavar=type_name.upper(), help=text)


def recipe_from_options(options: argparse.Namespace) -> Recipe:
    """The recipe file overridden by the flags."""
    recipe = load_recipe(options.recipe) if options.recipe else Recipe()
    given = {name: value for name, value in vars(options).items() if value is not None}

    def given_for(names: Iterable[str]) -> dict[str, Any]:
        return {name: given[name] for name in names if name in given}

    if options.text:
        recipe = replace(recipe, texts=tuple(TextSource.parse(text) for text in options.text))
    if options.validation:
        recipe = replace(recipe, validation=tuple(expand_path(path) for path in options.validation))
    if options.examples:
        recipe = replace(recipe, examples=replace(recipe.examples, files=tuple(options.examples)))
    return replace(
        recipe,
        objective=options.objective or recipe.objective,
        task=options.task or recipe.task,
        tokenizer=replace(recipe.tokenizer, **given_for(asdict(recipe.tokenizer))),
        model=override_model(recipe.model, given_for(_model_fields())),
        training=replace(recipe.training, **given_for(asdict(recipe.training))),
    ).check()


class StopSignal:
    """Stops on Ctrl-C and SIGTERM: before training at once, during it after the step, the second time at once."""

    def __init__(self) -> None:
        self.signal_number = 0
        self.is_training = False

    def __enter__(self) -> StopSignal:
        self.previous_handlers = {
            number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.previous_handlers.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Whether a signal has arrived."""
        return self.signal_number > 0

    def _on_signal(self, number: int, frame: object) -> None:
        is_second, self.signal_number = self.signal_number > 0, number
        if is_second or not self.is_training:
            raise KeyboardInterrupt


@command(add_arguments, epilog=f"{SHARED_CPU_HINT} {TEXT_FORMAT}")
def train(options: argparse.Namespace) -> int:
    """Train a small model on texts or examples; the same command resumes a stopped run.

    The exit status is 0 at the end of the recipe, or 128 + the signal's number if stopped before.
    """
    recipe = recipe_from_options(options)
    if options.fork_from:
        fork_run(options.fork_from, options.out, options.force)
    with StopSignal() as stop_signal:
        try:
            with only_training(options.out), training_bar() as bar:
                show = bar.show if bar else None
                run_folder = RunFolder(recipe, options.out, log_of(bar), options.force, show)
                finished = _train(run_folder, stop_signal)
        except KeyboardInterrupt:
            log_to_stderr("Stopped; the same command resumes from the last snapshot.")
            finished = False
    if finished:
        log_to_stderr(
            f"Done. Try: headlight predict {_input_to_try(run_folder)} --model {shlex.quote(str(options.out))}"
        )
    return 0 if finished else 128 + stop_signal.signal_number


def _input_to_try(run_folder: RunFolder) -> str:
    """An example input for such a model; for a task, one that it was not trained on."""
    if run_folder.task is None:
        fills_masks = OBJECTIVES[run_folder.recipe.objective].config_values["output_head"] == "masked-language-model"
        return '"... [MASK] ..."' if fills_masks else '"..."'
    example = run_folder.task.held_out_examples(0, 1)[0]
    return "--image FILE" if example.drawing else shlex.quote(example.text)


@contextmanager
def only_training(folder: Path) -> Iterator[None]:
    """Lock a folder against other training runs. Raises DataError if one is writing into it."""
    name = sha256(str(folder.resolve()).encode()).hexdigest()[:32]
    try:
        with FileLock(Path(tempfile.gettempdir()) / f"headlight-training-{name}.lock", timeout=0):
            yield
    except Timeout as error:
        raise DataError(f"Another training run writes into {folder}. Wait for it, or give another --out.") from error


def _train(run_folder: RunFolder, stop_signal: StopSignal, waiting: tuple[Path, ...] = ()) -> bool:
    """Train a recipe, after the recipe that it starts from; `waiting` are those that depend on it. False if stopped."""
    recipe = run_folder.recipe
    start = expand_path(recipe.training.init_from)
    if start.suffix == ".toml" and not run_folder.is_begun:
        if start in waiting:
            raise DataError(f"The recipe {start} starts from itself; name a model's folder in its init_from.")
        run_folder.log(f"First {start}, in {run_folder.start_folder}:")
        first = replace(run_folder, recipe=load_recipe(start).check(), checkpoint_folder=run_folder.start_folder)
        if not _train(first, stop_signal, (*waiting, start)):
            return False
        training = replace(recipe.training, init_from=str(run_folder.start_folder))
        run_folder = replace(run_folder, recipe=replace(recipe, training=training))
    if recipe.training.seeds:
        stop_signal.is_training = True
        return train_mean_of_seeds(run_folder, stop_signal)
    trainer = Trainer(run_folder, stop_signal)
    parameters = sum(parameter.numel() for parameter in trainer.train_state.model.parameters())
    run_folder.log(
        f"{in_millions(parameters)} parameters on {trainer.train_state.device}, matrix products in "
        f"{str(trainer.train_state.precision).removeprefix('torch.')}."
    )
    stop_signal.is_training = True
    return trainer.train()
