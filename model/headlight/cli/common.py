"""Shared by the commands: options that name a model, and its input."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from headlight import checkpoints
from headlight.checkpoints import Checkpoint, find_checkpoint, load
from headlight.checkpoints.load import DEVICE_COUNTS
from headlight.errors import CheckpointError, HeadlightError, TextError, shortened, suggestion
from headlight.nn.transformer import Transformer
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.vision.image import ProcessedImage, process_image, read_image
from headlight.vision.shipped_images import find_image


class CommandParser(argparse.ArgumentParser):
    """An argument parser that raises HeadlightError with one sentence instead of printing usage and exiting."""

    def parse_args(self, *arguments: Any, **options: Any) -> Any:
        """As argparse does; of an unknown option it says which one is like it."""
        namespace, unknown = self.parse_known_args(*arguments, **options)
        if unknown:
            near = suggestion(unknown[0].partition("=")[0], self._option_string_actions)
            raise HeadlightError(f"{self.prog} does not know {shortened(unknown[0])!r}.{near} See {self.prog} --help.")
        return namespace

    def error(self, message: str) -> NoReturn:
        """Raise HeadlightError with argparse's message."""
        raise HeadlightError(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.")


AddArguments = Callable[[argparse.ArgumentParser], None]
HYPHENS = "Put -- before an argument that begins with a hyphen, so that it is not read as an option."


@dataclass(frozen=True)
class Command:
    """A command of the shell: its name, its options, and what runs with them; the docstring of that describes it."""

    name: str
    add_arguments: AddArguments
    run: Callable[[argparse.Namespace], int]
    epilog: str = HYPHENS

    @property
    def summary(self) -> str:
        """The first line of its description."""
        return (self.run.__doc__ or "").splitlines()[0]

    def parser(self) -> CommandParser:
        """A parser of its arguments."""
        parser = CommandParser(
            prog=f"headlight {self.name}", description=self.run.__doc__, allow_abbrev=False, epilog=self.epilog
        )
        self.add_arguments(parser)
        return parser

    def __call__(self, arguments: Sequence[str]) -> int:
        """Run with arguments as a shell gives them; the options have them as `command_line`, too."""
        options = self.parser().parse_args(list(arguments))
        options.command_line = shlex.join(["headlight", self.name, *arguments])
        return self.run(options)


def command(add_arguments: AddArguments, epilog: str = HYPHENS) -> Callable[[Callable[..., int]], Command]:
    """Makes a function of the options the command of its name."""
    return lambda run: Command(run.__name__, add_arguments, run, epilog)


def add_folder_option(parser: argparse.ArgumentParser) -> None:
    """Add --models."""
    parser.add_argument("--models", action="append", default=[], metavar="DIR", help="look for models here, too")


def add_device_option(parser: argparse.ArgumentParser) -> None:
    """Add --device."""
    parser.add_argument("--device", default="auto", help=f"auto, {', '.join(DEVICE_COUNTS)} (default auto)")


def add_model_options(parser: argparse.ArgumentParser, default: str = "") -> None:
    """Add --model, which is required unless the help can name a default, --device and --models."""
    about = f"or an id of the Hugging Face Hub{default}"
    parser.add_argument("--model", required=not default, metavar="NAME_OR_FOLDER", help=about)
    add_device_option(parser)
    add_folder_option(parser)


def model_folders(options: argparse.Namespace) -> list[str]:
    """The folders of --models. Raises CheckpointError for one that does not exist."""
    folders: list[str] = options.models
    for folder in folders:
        if not Path(folder).is_dir():
            raise CheckpointError(f"There is no folder {folder!r} to look for models in.")
    return folders


def open_model(options: argparse.Namespace) -> Checkpoint:
    """The model that the options name; prints a warning on standard error if some weights are not finite."""
    loaded = load(
        find_checkpoint(options.model, model_folders(options), fetch=True), name=options.model, device=options.device
    )
    if note := checkpoints.describe_nonfinite(checkpoints.find_nonfinite(loaded)):
        print(f"headlight: {note}", file=sys.stderr)
    return loaded


def warn_of_overflow(traced: Trace) -> None:
    """Print a warning on standard error where numbers are not finite; all weights may be."""
    if traced.overflow_note:
        print(f"headlight: {traced.overflow_note}", file=sys.stderr)


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Add TEXT, --image and --target."""
    parser.add_argument("text", metavar="TEXT", nargs="?")
    parser.add_argument(
        "--image", metavar="FILE", help="an image or a shipped one's name, for a model that reads images"
    )
    parser.add_argument("--target", help="the decoder's text, or how it begins, for an encoder-decoder")


def read_input(
    options: argparse.Namespace, model: Transformer
) -> tuple[str | ProcessedImage, str | ProcessedImage | None]:
    """The input of the decoder or only stack, and the encoder's input of an encoder-decoder."""
    if (options.text is None) == (options.image is None):
        raise TextError("Give a TEXT, or an image with --image FILE; one of the two.")
    if options.target is not None and not model.config.has_cross_attention:
        raise TextError("--target is for encoder-decoder models; this model reads one text.")
    if options.image is not None:
        image = process_image(read_image(find_image(options.image)), model.config.image)
        return (options.target or "", image) if model.config.has_cross_attention else (image, None)
    return (options.target or "", options.text) if model.config.has_cross_attention else (options.text, None)


def add_edit_option(parser: argparse.ArgumentParser) -> None:
    """Add --edit."""
    parser.add_argument("--edit", action="append", default=[], help="such as decoder.1.self.weights[3]=set:0")


def run_input(options: argparse.Namespace, keep: Sequence[str]) -> tuple[Checkpoint, Trace]:
    """The model that was named, and the trace of its input with the edits, which keeps the paths of `keep`."""
    loaded = open_model(options)
    text, source = read_input(options, loaded.model)
    trace = run(loaded.model, loaded.tokenizer, text, options.edit, source=source, keep=keep)
    warn_of_overflow(trace)
    return loaded, trace


def positive_int(text: str) -> int:
    """An argument that is a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def token_position(text: str) -> int:
    """An argument that is a token's index."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text!r} is not a token position (a whole number from 0)")
    return int(text)
