"""`headlight extrapolate`: losses beyond the trained length, of models that differ in their positional encoding."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from headlight.checkpoints import Checkpoint, find_checkpoint, load
from headlight.cli.common import add_device_option, add_folder_option, make_parser, positive_int
from headlight.cli.train import log_to_stderr
from headlight.data.corpus import TextSource, expand_path, require_files, tokenize_source
from headlight.errors import DataError
from headlight.evaluation.length_extrapolation import Extrapolation, Loss, ModelLosses, extrapolation, measure_losses
from headlight.tasks import require_token_task, task_of


def extrapolate(arguments: Sequence[str]) -> int:
    """Measure models on texts longer than they were trained on, and on shuffled words."""
    options = _parser().parse_args(arguments)
    paths = [expand_path(name) for name in options.text]
    require_files(paths)
    opened = [load(find_checkpoint(name, options.models), name=name, device=options.device) for name in options.model]
    _require_alike(options.model, opened)
    measured = []
    for name, checkpoint in zip(options.model, opened, strict=True):
        log_to_stderr(f"Measuring {name} ...")
        measured.append(_measure(name, checkpoint, paths, options.windows))
    found = extrapolation(shlex.join(["headlight", "extrapolate", *arguments]), opened[0].model.config, measured)
    if options.out:
        options.out.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
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
