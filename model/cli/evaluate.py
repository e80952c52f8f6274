"""`headlight evaluate` and `headlight card`: how good a model is, as numbers and as a model card."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from model.checkpoints import Checkpoint, find_checkpoint, load
from model.cli.parser import CommandParser
from model.cli.train import log_to_stderr
from model.data.corpus import TextSource, expand_path, require_files
from model.evaluation.baselines import NgramStore
from model.evaluation.model_card import model_card as written
from model.evaluation.report import Report, evaluate_model, format_text

NGRAM_CACHE = Path("runs") / "baselines"
INPUT_FORMATS = (
    "Texts are UTF-8, with a line <|endoftext|> between documents. A line of a fill-in test is SENTENCE | word word "
    "..., the sentence with one [MASK], or stopping before the word for a model that continues texts."
)


def evaluate(arguments: Sequence[str]) -> int:
    """Prints what was measured, as lines or as JSON."""
    parser = _parser("evaluate", "Measure a model: bits per byte, hidden tokens found, sentences filled in.")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")
    options = parser.parse_args(list(arguments))
    if not options.text and not options.fill_in:
        parser.error("give --text FILE or --fill-in FILE, or both")
    _, report = _measure(options)
    print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2) if options.json else format_text(report))
    return 0


def card(arguments: Sequence[str]) -> int:
    """Prints Markdown."""
    parser = _parser("card", "Write the measured part of a model card: numbers, what the heads do, samples.")
    loaded, report = _measure(parser.parse_args(list(arguments)))
    print(written(loaded, report), end="")
    return 0


def _parser(verb: str, description: str) -> argparse.ArgumentParser:
    parser = CommandParser(prog=f"headlight {verb}", description=description, epilog=INPUT_FORMATS, allow_abbrev=False)
    parser.add_argument(
        "model", metavar="MODEL", help="a name of `headlight models`, a folder, or an id of the Hugging Face Hub"
    )
    for flag, about in (("--text", "a held-out text (.xz too)"), ("--fill-in", "sentences with accepted words")):
        parser.add_argument(flag, action="append", default=[], metavar="FILE", help=f"{about}; repeat for more")
    parser.add_argument(
        "--baselines", nargs="+", default=[], metavar="FILE[=PASSES]",
        help="texts that the model was trained on, and how often each counts: "
        "counting models of them are measured beside it",
    )  # fmt: skip
    parser.add_argument(
        "--cache", type=Path, default=NGRAM_CACHE, metavar="FOLDER", help=f"keeps the counts ({NGRAM_CACHE})"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps (default auto)")
    parser.add_argument("--models", action="append", default=[], metavar="DIR", help="look for models here, too")
    return parser


def _measure(options: argparse.Namespace) -> tuple[Checkpoint, Report]:
    sources = [TextSource.parse(text) for text in options.baselines]
    texts, tests = ([expand_path(name) for name in names] for names in (options.text, options.fill_in))
    require_files([*texts, *tests, *(source.path for source in sources)])
    for source in sources:
        if source.path.resolve() in [text.resolve() for text in texts]:
            log_to_stderr(f"{source.name} is measured on and counted, too: the counting models have seen its answers.")
    checkpoint = load(
        find_checkpoint(options.model, options.models, fetch=True), name=options.model, device=options.device
    )
    ngrams = NgramStore(options.cache, checkpoint.tokenizer, sources, log_to_stderr) if sources else None
    return checkpoint, evaluate_model(checkpoint, options.model, texts, tests, ngrams, log_to_stderr)
