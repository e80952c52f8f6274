"""`headlight evaluate` and `headlight card`: a model's measurements, as numbers and as a model card."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from headlight.checkpoints import Checkpoint, find_checkpoint, load
from headlight.cli.common import add_device_option, add_folder_option
from headlight.cli.parser import CommandParser
from headlight.cli.train import log_to_stderr
from headlight.data.corpus import expand_path, require_files
from headlight.data.tasks import EXAMPLE_TASKS
from headlight.evaluation.model_card import model_card
from headlight.evaluation.report import Report, evaluate_model, evaluate_task, format_text

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
    parser.add_argument("--task", choices=sorted(EXAMPLE_TASKS), help="a task with examples of its own")
    parser.add_argument("--examples", type=int, default=1000, metavar="N", help="how many (default 1000)")
    add_device_option(parser)
    add_folder_option(parser)
    return parser


def measure(options: argparse.Namespace) -> tuple[Checkpoint, Report]:
    """The model that the options name, and its measurements. Raises DataError if a file is missing."""
    checkpoint, texts, cloze_tests = open_evaluation(options)
    if options.task:
        return checkpoint, evaluate_task(checkpoint, options.model, EXAMPLE_TASKS[options.task], options.examples)
    return checkpoint, evaluate_model(checkpoint, options.model, texts, cloze_tests, log_to_stderr)


def open_evaluation(options: argparse.Namespace) -> tuple[Checkpoint, list[Path], list[Path]]:
    """The model, the texts and the cloze tests that the options name. Raises DataError if a file is missing."""
    texts, cloze_tests = ([expand_path(name) for name in names] for names in (options.text, options.cloze))
    require_files([*texts, *cloze_tests])
    folder = find_checkpoint(options.model, options.models, fetch=True)
    return load(folder, name=options.model, device=options.device), texts, cloze_tests
