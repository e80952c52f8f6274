"""`headlight lens`: fits a tuned lens to a model, and measures the loss of both lenses at each layer."""

from __future__ import annotations

import argparse
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from headlight.analysis.lenses.tuned_lens import LensLosses, TunedLens, loss_unit, write_tuned_lens
from headlight.checkpoints import find_checkpoint, load
from headlight.cli.common import add_device_option, add_folder_option, command, model_folders, positive_int
from headlight.cli.terminal.progress import log_to_stderr
from headlight.cli.train import SHARED_CPU_HINT, TEXT_FORMAT, StopSignal, only_training
from headlight.data.corpus import TextSource, TokenizedText, expand_path, require_files, tokenize_source
from headlight.errors import ConfigError
from headlight.nn.transformer import Transformer
from headlight.tasks import require_token_task, task_of
from headlight.text.tokenizer import Tokenizer
from headlight.training.objectives import TEXT_OBJECTIVES, TextObjective
from headlight.training.run_dir import RUN_FOLDER
from headlight.training.tuned_lens import LensFit, LensOptions, measure_lens

HELD_OUT = 0.05  # the share of each text, at its end, that is held out without --validation
SNAPSHOT = Path(RUN_FOLDER, "tuned_lens.pt")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a name of `headlight models`, or a folder")
    parser.add_argument(
        "--text", action="append", required=True, metavar="FILE[=EPOCHS]", help="a text to fit on; repeat for more"
    )
    parser.add_argument(
        "--validation", action="append", default=[], metavar="FILE", help="a text to measure on (default: the ends)"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write it (default: the model's folder)")
    parser.add_argument("--steps", type=positive_int, default=LensOptions.steps, help="default %(default)s")
    add_device_option(parser)
    add_folder_option(parser)


@command(_add_arguments, epilog=f"{SHARED_CPU_HINT} {TEXT_FORMAT}")
def lens(options: argparse.Namespace) -> int:
    """Fit a tuned lens: for each layer the affine map whose answers are closest to the model's own.

    The same command resumes a stopped run.
    """
    folder = find_checkpoint(options.model, model_folders(options), fetch=True)
    opened = load(folder, name=options.model, device=options.device)
    objective, held_out = _read_texts(options, opened.model, opened.tokenizer)
    out = options.out or folder
    with only_training(out), StopSignal() as stop_signal:
        fit = LensFit(opened.model, objective, LensOptions(options.steps))
        stop_signal.is_training = True
        if not fit.run(out / SNAPSHOT, log_to_stderr, stop_signal):
            log_to_stderr(f"Stopped at step {fit.step}; the same command resumes from the last snapshot.")
            return 128 + stop_signal.signal_number
        found = measure_lens(opened.model, fit.lens, objective, held_out)
        losses = LensLosses(options.command_line, tuple(text.name for text in held_out), **found)
        write_tuned_lens(out, replace(fit.lens, losses=losses))
        (out / SNAPSHOT).unlink()
        with suppress(OSError):  # files of an earlier training may be in it
            (out / RUN_FOLDER).rmdir()
    print(format_losses(replace(fit.lens, losses=losses), loss_unit(opened.model.config)))
    return 0


def _read_texts(
    options: argparse.Namespace, model: Transformer, tokenizer: Tokenizer
) -> tuple[TextObjective, list[TokenizedText]]:
    """The sampler of training texts, and the texts to measure on. Raises ConfigError if a model reads no such text."""
    config, task = model.config, task_of(model.config)
    require_token_task(config)
    if config.has_cross_attention:
        raise ConfigError("A tuned lens is fitted on running text; this model reads two texts, or an image.")
    sources = [TextSource.parse(text) for text in options.text]
    held_out = [TextSource(expand_path(name)) for name in options.validation]
    require_files([source.path for source in (*sources, *held_out)])
    kind = TEXT_OBJECTIVES["masked" if task.fills_masks else "causal"]
    separator = tokenizer.start_id if kind.separates_documents else None
    read, measured = ([tokenize_source(each, tokenizer, separator) for each in some] for some in (sources, held_out))
    if not measured:
        read, measured = ([_part(text, end) for text in read] for end in (False, True))
    return kind(tokenizer, read, {}), measured


def _part(text: TokenizedText, end: bool) -> TokenizedText:
    """The held-out end of a text, or the part before it."""
    cut = round(len(text.ids) * (1 - HELD_OUT))
    start, stop = (cut, len(text.ids)) if end else (0, cut)
    lines, documents = (
        each[(each >= start) & (each < stop)] - start for each in (text.line_starts, text.document_starts)
    )
    count = round(text.byte_count * (stop - start) / max(1, len(text.ids)))
    return replace(text, ids=text.ids[start:stop], line_starts=lines, document_starts=documents, byte_count=count)


def format_losses(lens: TunedLens, unit: str) -> str:
    """The losses of both lenses as a Markdown table, with their `loss_unit`."""
    losses = lens.losses
    assert losses is not None
    lines = ["| bits lost | logit lens | tuned lens |", "|---|---:|---:|"]
    for depth, (plain, tuned) in enumerate(zip(losses.logit_lens, losses.tuned_lens, strict=True)):
        lines.append(f"| {f'after layer {depth - 1}' if depth else 'embedding'} | {plain:.3f} | {tuned:.3f} |")
    return "\n".join((*lines, "", f"The whole model needs {losses.bits_per_byte:.3f}. The numbers are {unit}."))
