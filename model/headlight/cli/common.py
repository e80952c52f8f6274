"""Shared by the commands: the options for a model and its input."""

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
from headlight.errors import CheckpointError, DataError, EditError, HeadlightError, TextError, shortened, suggestion
from headlight.sound.frames import process_sound
from headlight.sound.recording import read_recording
from headlight.text.chat import Chat
from headlight.text.languages import with_language
from headlight.text.tokenizer import TextPair, Tokenizer
from headlight.tracing.inputs import ModelInput, typed_separator
from headlight.tracing.interventions import native_edits
from headlight.tracing.live_edits import patched_paths
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.vision.image import process_image, read_image
from headlight.vision.shipped_images import find_image


class CommandParser(argparse.ArgumentParser):
    """An argument parser that raises HeadlightError with one sentence instead of printing usage and exiting."""

    def parse_args(self, *arguments: Any, **options: Any) -> Any:
        """Parse like argparse; the error for an unknown option names a similar one."""
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
    """A command: its name, its options, and its function, whose docstring describes the command."""

    name: str
    add_arguments: AddArguments
    run: Callable[[argparse.Namespace], int]
    epilog: str = HYPHENS

    @property
    def summary(self) -> str:
        """The first line of the command's description."""
        return (self.run.__doc__ or "").splitlines()[0]

    def parser(self) -> CommandParser:
        """A parser for the command's arguments."""
        parser = CommandParser(
            prog=f"headlight {self.name}", description=self.run.__doc__, allow_abbrev=False, epilog=self.epilog
        )
        self.add_arguments(parser)
        return parser

    def __call__(self, arguments: Sequence[str]) -> int:
        """Run with command-line arguments, which the options also contain as `command_line`."""
        options = self.parser().parse_args(list(arguments))
        options.command_line = shlex.join(["headlight", self.name, *arguments])
        return self.run(options)


def command(add_arguments: AddArguments, epilog: str = HYPHENS) -> Callable[[Callable[..., int]], Command]:
    """Decorator: turns a function of the options into the command with its name."""
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
    """The model that the options name.

    Says on standard error that some weights are not finite, and which layers have other numbers in the checkpoint.
    """
    loaded = load(
        find_checkpoint(options.model, model_folders(options), fetch=True), name=options.model, device=options.device
    )
    nonfinite = checkpoints.describe_nonfinite(checkpoints.find_nonfinite(loaded))
    for note in filter(None, (nonfinite, loaded.model.config.recurrence.describe())):
        print(f"headlight: {note}", file=sys.stderr)
    return loaded


def warn_of_overflow(traced: Trace) -> None:
    """Print a warning on standard error about computed numbers that are not finite, even if all weights are."""
    if traced.overflow_note:
        print(f"headlight: {traced.overflow_note}", file=sys.stderr)


def tell_of_segments(traced: Trace, tokenizer: Tokenizer) -> None:
    """Say on standard error that a separator inside a text does not begin a second text."""
    if name := typed_separator(traced.text, traced.config, tokenizer):
        print(f"headlight: {name} in a text does not begin a second text; give one with --pair TEXT.", file=sys.stderr)


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Add TEXT, --pair, --chat, --image, --audio, --target and the languages of a translation."""
    parser.add_argument("text", metavar="TEXT", nargs="?")
    parser.add_argument(
        "--chat", action="store_true",
        help="TEXT is a chat of lines that begin with system:, user: or assistant:, for the model's template",
    )  # fmt: skip
    parser.add_argument("--pair", metavar="TEXT", help="a second text, for a model of pairs: a hypothesis, a passage")
    parser.add_argument(
        "--image", metavar="FILE", help="an image or a shipped one's name, for a model that reads images"
    )
    parser.add_argument("--audio", metavar="FILE", help="a recording or a shipped one's name, for a model of sounds")
    parser.add_argument("--target", help="the decoder's text, or how it begins, for an encoder-decoder")
    parser.add_argument("--source-language", metavar="TOKEN", help="of the TEXT, such as eng_Latn, __en__ or en_XX")
    parser.add_argument("--target-language", metavar="TOKEN", help="of the decoder's text")


def add_texts_option(parser: argparse.ArgumentParser) -> None:
    """Add --texts."""
    parser.add_argument("--texts", type=Path, metavar="FILE", help="instead of TEXT: a file with one text per line")


def each_input(options: argparse.Namespace) -> list[argparse.Namespace]:
    """The options with TEXT, or a copy for each non-empty line of --texts.

    Raises DataError for a file that cannot be read or contains no text.
    """
    if options.texts is None:
        return [options]
    if any(given is not None for given in (options.text, options.image, options.audio)):
        raise TextError("Give a TEXT, an --image, an --audio, or many texts with --texts FILE; one of the four.")
    try:
        lines = options.texts.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else f"cannot be read: {error.strerror}"
        raise DataError(f"{options.texts} {reason}.") from error
    texts = [line for line in lines if line.strip()]
    if not texts:
        raise DataError(f"{options.texts} contains no text; write one on each line.")
    return [argparse.Namespace(**vars(options) | {"text": text}) for text in texts]


def read_input(options: argparse.Namespace, loaded: Checkpoint) -> tuple[ModelInput, ModelInput | None]:
    """The input of the decoder or only stack, and the encoder's input for an encoder-decoder."""
    if sum(given is not None for given in (options.text, options.image, options.audio)) != 1:
        raise TextError("Give a TEXT, an image with --image FILE or a recording with --audio FILE; one of the three.")
    config, languages = loaded.model.config, loaded.tokenizer.languages
    if (options.target or options.target_language) is not None and not config.has_cross_attention:
        raise TextError("--target is for encoder-decoder models; this model reads one text.")
    given: ModelInput = with_language(options.text or "", options.source_language, languages)
    if options.pair is not None:
        if options.text is None:
            raise TextError("--pair is the second of two texts; give the first one as TEXT.")
        given = TextPair(str(given), options.pair)
    if options.chat:
        if options.text is None or options.pair is not None:
            raise TextError("--chat reads TEXT as messages; it is not for images, recordings or pairs of texts.")
        given = Chat.from_text(options.text)
    if options.image is not None:
        given = process_image(read_image(find_image(options.image)), config.image)
    elif options.audio is not None:
        given = process_sound(read_recording(find_image(options.audio)), config.sound)
    target = with_language(options.target or "", options.target_language, languages)
    return (target, given) if config.has_cross_attention else (given, None)


def add_edit_option(parser: argparse.ArgumentParser) -> None:
    """Add --edit and --patch-from."""
    parser.add_argument("--edit", action="append", default=[], help="such as decoder.1.self.weights[3]=set:0")
    parser.add_argument(
        "--patch-from", metavar="TEXT",
        help="the run B of patches such as --edit 'decoder.2.residual[5]=from:B[3]': another text, or image",
    )  # fmt: skip


def run_edited(options: argparse.Namespace, loaded: Checkpoint, keep: Sequence[str], **more: Any) -> Trace:
    """The trace of the input with the edits of the options; records the paths in `keep`.

    Patches take their values from the run of --patch-from, which is not edited. `more` are arguments of `run`.
    """
    model, tokenizer = loaded.model, loaded.tokenizer
    text, source = read_input(options, loaded)
    runs = {}
    if options.patch_from is not None:
        paths = patched_paths(native_edits(model.config, options.edit))
        if not paths:
            raise EditError("--patch-from names the run B of a patch, but no --edit takes a value from B.")
        other_text, other_source = read_input(other_input(options, options.patch_from), loaded)
        runs["B"] = run(model, tokenizer, other_text, source=other_source, keep=paths)
    traced = run(model, tokenizer, text, options.edit, source=source, keep=keep, runs=runs, **more)
    warn_of_overflow(traced)
    tell_of_segments(traced, tokenizer)
    return traced


def other_input(options: argparse.Namespace, text: str) -> argparse.Namespace:
    """The options with another TEXT, or another file for --image or --audio."""
    name = next((name for name in ("image", "audio") if getattr(options, name) is not None), "text")
    return argparse.Namespace(**vars(options) | {name: text})


def run_input(options: argparse.Namespace, keep: Sequence[str]) -> tuple[Checkpoint, Trace]:
    """The named model, and the trace of its input with the edits; records the paths in `keep`."""
    loaded = open_model(options)
    return loaded, run_edited(options, loaded, keep)


def positive_int(text: str) -> int:
    """Parse an argument as a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def token_position(text: str) -> int:
    """Parse an argument as a token's index."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text!r} is not a token position (a whole number from 0)")
    return int(text)
