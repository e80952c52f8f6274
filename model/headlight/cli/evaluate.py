"""`headlight evaluate`, `headlight card` and `headlight extrapolate`: measurements of models, in three forms."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from headlight.checkpoints import Checkpoint, find_checkpoint, load
from headlight.cli.common import (
    add_device_option,
    add_folder_option,
    command,
    model_folders,
    positive_int,
)
from headlight.cli.terminal.progress import log_to_stderr
from headlight.data.corpus import TextSource, expand_path, require_files, tokenize_source
from headlight.data.examples import GeneratedTask
from headlight.data.text_tasks import EXAMPLE_TASKS, TextTask
from headlight.errors import DataError
from headlight.evaluation.length_extrapolation import Extrapolation, Loss, ModelLosses, extrapolation, measure_losses
from headlight.evaluation.report import Report, evaluate_model, evaluate_task, format_text, model_card
from headlight.file_writing import json_bytes, replacing
from headlight.tasks import require_token_task, task_of
from headlight.training.recipe import load_recipe

INPUT_FORMATS = (
    "Texts are UTF-8, with a line <|endoftext|> between documents. A line of a cloze test is SENTENCE | word word "
    "..., the sentence with one [MASK], or stopping before the word for a model that continues texts."
)


def add_evaluation_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for a model and the files to measure it on."""
    parser.add_argument(
        "model", metavar="MODEL", help="a name of `headlight models`, a folder, or an id of the Hugging Face Hub"
    )
    for flag, about in (("--text", "a held-out text (.xz too)"), ("--cloze", "sentences with accepted words")):
        parser.add_argument(flag, action="append", default=[], metavar="FILE", help=f"{about}; repeat for more")
    about = f"a recipe with your own examples, or one of {', '.join(sorted(EXAMPLE_TASKS))}"
    parser.add_argument("--task", metavar="NAME_OR_RECIPE", help=about)
    parser.add_argument("--examples", type=int, default=1000, metavar="N", help="how many (default 1000)")
    add_device_option(parser)
    add_folder_option(parser)


def _add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    add_evaluation_arguments(parser)
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")


@command(_add_evaluate_arguments, epilog=INPUT_FORMATS)
def evaluate(options: argparse.Namespace) -> int:
    """Measure a model: bits per byte or masked accuracy on texts, cloze tests, or the answers to a task."""
    if not options.text and not options.cloze and not options.task:
        raise DataError(
            "Give --text FILE or --cloze FILE, or both, or --task NAME_OR_RECIPE. See headlight evaluate --help."
        )
    report = measure(options)[1]
    print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2) if options.json else format_text(report))
    return 0


@command(add_evaluation_arguments, epilog=INPUT_FORMATS)
def card(options: argparse.Namespace) -> int:
    """Write the measured part of a model card: numbers, head metrics, samples."""
    print(model_card(*measure(options)), end="")
    return 0


def measure(options: argparse.Namespace) -> tuple[Checkpoint, Report]:
    """The model of the options, and its measurements. Raises DataError if a file is missing."""
    task = _task(options.task) if options.task else None
    checkpoint, texts, cloze_tests = open_evaluation(options)
    if task:
        return checkpoint, evaluate_task(checkpoint, options.model, task, options.examples)
    return checkpoint, evaluate_model(checkpoint, options.model, texts, cloze_tests, log_to_stderr)


def _task(name: str) -> GeneratedTask | TextTask:
    """A built-in task, or that of a recipe. Raises UnknownNameError, and DataError for a recipe without examples."""
    if not name.endswith(".toml"):
        return EXAMPLE_TASKS[name]
    task = load_recipe(Path(name)).check().example_task
    if task is None:
        raise DataError(f"The recipe {name} trains on running text; measure its model with --text FILE.")
    return task


def open_evaluation(options: argparse.Namespace) -> tuple[Checkpoint, list[Path], list[Path]]:
    """The model, texts and cloze tests of the options. Raises DataError if a file is missing."""
    texts, cloze_tests = ([expand_path(name) for name in names] for names in (options.text, options.cloze))
    require_files([*texts, *cloze_tests])
    folder = find_checkpoint(options.model, model_folders(options), fetch=True)
    return load(folder, name=options.model, device=options.device), texts, cloze_tests


def _add_extrapolate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        nargs="+",
        metavar="MODEL",
        help="names or folders; further models with the encoding of an earlier one are repeats with other seeds",
    )
    parser.add_argument(
        "--text", action="append", required=True, metavar="FILE", help="a held-out text; repeat for more"
    )
    parser.add_argument("--windows", type=positive_int, default=300, metavar="N", help="of each text (default 300)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the numbers here, as JSON")
    add_device_option(parser)
    add_folder_option(parser)


@command(_add_extrapolate_arguments)
def extrapolate(options: argparse.Namespace) -> int:
    """Measure models on texts longer than they were trained on, and on shuffled words."""
    paths = [expand_path(name) for name in options.text]
    require_files(paths)
    opened = [
        load(find_checkpoint(name, model_folders(options)), name=name, device=options.device) for name in options.model
    ]
    _require_alike(options.model, opened)
    measured = []
    for name, checkpoint in zip(options.model, opened, strict=True):
        log_to_stderr(f"Measuring {name} ...")
        measured.append(_measure(name, checkpoint, paths, options.windows))
    found = extrapolation(options.command_line, opened[0].model.config, measured)
    if options.out:
        with replacing(options.out) as file:
            file.write(json_bytes(asdict(found), indent=1))
    print(format_table(found))
    return 0


def _measure(name: str, checkpoint: Checkpoint, paths: Sequence[Path], windows: int) -> ModelLosses:
    separator = checkpoint.tokenizer.start_id if task_of(checkpoint.model.config).continues_text else None
    texts = [tokenize_source(TextSource(path), checkpoint.tokenizer, separator) for path in paths]
    return measure_losses(Path(name).name, checkpoint, texts, windows)


def _require_alike(names: Sequence[str], checkpoints: Sequence[Checkpoint]) -> None:
    """Raise DataError unless the models differ only in their positional encoding."""
    first = checkpoints[0].model.config
    for name, checkpoint in zip(names, checkpoints, strict=True):
        config = checkpoint.model.config
        require_token_task(config)
        if config.replace(positional_encoding=first.positional_encoding) != first:
            raise DataError(f"{names[0]} and {name} differ in more than their positional encoding.")


def format_table(found: Extrapolation) -> str:
    """The losses as a Markdown table."""
    head = ["model", *(f"{length} tokens" for length in found.lengths), f"{found.lengths[0]} shuffled"]
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    for one in (*found.models, *found.repeats):
        lines.append(f"| {' | '.join([one.name, *map(_format_loss, (*one.losses, one.shuffled))])} |")
    return "\n".join(lines)


def _format_loss(loss: Loss | None) -> str:
    return "undefined" if loss is None else f"{loss.mean:.3f} ± {loss.standard_error:.3f}"
