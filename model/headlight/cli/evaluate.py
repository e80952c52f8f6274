"""`headlight evaluate`, `headlight card` and `headlight extrapolate`: a model's measurements in three forms."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from headlight.checkpoints import Checkpoint, find_checkpoint, load
from headlight.cli.common import (
    CommandParser,
    add_device_option,
    add_folder_option,
    make_parser,
    model_folders,
    positive_int,
)
from headlight.cli.progress import log_to_stderr
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


def evaluate(arguments: Sequence[str]) -> int:
    """Measure a model on held-out texts and cloze tests."""
    parser = evaluation_parser(
        "headlight evaluate", "Measure a model: bits per byte or masked accuracy on texts, and cloze tests."
    )
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")
    options = parser.parse_args(list(arguments))
    if not options.text and not options.cloze and not options.task:
        parser.error("give --text FILE or --cloze FILE, or both, or --task NAME")
    report = measure(options)[1]
    print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2) if options.json else format_text(report))
    return 0


def card(arguments: Sequence[str]) -> int:
    """Write the measured part of a model card."""
    parser = evaluation_parser(
        "headlight card", "Write the measured part of a model card: numbers, what the heads attend to, samples."
    )
    options = parser.parse_args(list(arguments))
    print(model_card(*measure(options)), end="")
    return 0


def evaluation_parser(prog: str, description: str) -> argparse.ArgumentParser:
    """A parser for a model and the files to measure it on."""
    parser = CommandParser(prog=prog, description=description, epilog=INPUT_FORMATS, allow_abbrev=False)
    parser.add_argument(
        "model", metavar="MODEL", help="a name of `headlight models`, a folder, or an id of the Hugging Face Hub"
    )
    for flag, about in (("--text", "a held-out text (.xz too)"), ("--cloze", "sentences with accepted words")):
        parser.add_argument(flag, action="append", default=[], metavar="FILE", help=f"{about}; repeat for more")
    about = f"a recipe with examples of one's own, or one of {', '.join(sorted(EXAMPLE_TASKS))}"
    parser.add_argument("--task", metavar="NAME_OR_RECIPE", help=about)
    parser.add_argument("--examples", type=int, default=1000, metavar="N", help="how many (default 1000)")
    add_device_option(parser)
    add_folder_option(parser)
    return parser


def measure(options: argparse.Namespace) -> tuple[Checkpoint, Report]:
    """The model that the options name, and its measurements. Raises DataError if a file is missing."""
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
    """The model, the texts and the cloze tests that the options name. Raises DataError if a file is missing."""
    texts, cloze_tests = ([expand_path(name) for name in names] for names in (options.text, options.cloze))
    require_files([*texts, *cloze_tests])
    folder = find_checkpoint(options.model, model_folders(options), fetch=True)
    return load(folder, name=options.model, device=options.device), texts, cloze_tests


def extrapolate(arguments: Sequence[str]) -> int:
    """Measure models on texts longer than they were trained on, and on shuffled words."""
    options = _parser().parse_args(arguments)
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
    found = extrapolation(shlex.join(["headlight", "extrapolate", *arguments]), opened[0].model.config, measured)
    if options.out:
        with replacing(options.out) as file:
            file.write(json_bytes(asdict(found), indent=1))
    print(format_table(found))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("extrapolate", extrapolate)
    parser.add_argument(
        "model", nargs="+", metavar="MODEL", help="names or folders; the second of an encoding is the first's repeat"
    )
    parser.add_argument(
        "--text", action="append", required=True, metavar="FILE", help="a held-out text; repeat for more"
    )
    parser.add_argument("--windows", type=positive_int, default=300, metavar="N", help="of each text (default 300)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the numbers here, as JSON")
    add_device_option(parser)
    add_folder_option(parser)
    return parser


def _measure(name: str, checkpoint: Checkpoint, paths: Sequence[Path], windows: int) -> ModelLosses:
    separator = checkpoint.tokenizer.start_id if task_of(checkpoint.model.config).continues_text else None
    texts = [tokenize_source(TextSource(path), checkpoint.tokenizer, separator) for path in paths]
    return measure_losses(Path(name).name, checkpoint, texts, windows)


def _require_alike(names: Sequence[str], checkpoints: Sequence[Checkpoint]) -> None:
    """Raise DataError unless the models differ in their positional encoding alone."""
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
