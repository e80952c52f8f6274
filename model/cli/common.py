"""What the verbs of the command line share: how a model and its input are named and opened."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from model import checkpoints
from model.checkpoints import Checkpoint, find_checkpoint, load
from model.cli.parser import CommandParser
from model.errors import TextError
from model.nn.transformer import Transformer
from model.vision.image import ProcessedImage, process_image, read_image

WORDS = ("language-model", "masked-language-model")  # heads whose logits are over the vocabulary


def make_parser(verb: str, action: Callable[[list[str]], int]) -> argparse.ArgumentParser:
    return CommandParser(
        prog=f"headlight {verb}", description=action.__doc__, allow_abbrev=False, epilog="-- ends the options."
    )


def add_folder_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", action="append", default=[], metavar="DIR", help="look for models here, too")


def add_model_options(parser: argparse.ArgumentParser, usual: str = "") -> None:
    about = f"or an id of the Hugging Face Hub{usual}"
    parser.add_argument("--model", required=not usual, metavar="NAME_OR_FOLDER", help=about)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps (default auto)")
    add_folder_option(parser)


def open_model(options: argparse.Namespace) -> Checkpoint:
    loaded = load(find_checkpoint(options.model, options.models, fetch=True), name=options.model, device=options.device)
    if note := checkpoints.describe_nonfinite(checkpoints.find_nonfinite(loaded)):
        print(f"headlight: {note}", file=sys.stderr)
    return loaded


def read_input(options: argparse.Namespace, model: Transformer) -> tuple[str | ProcessedImage, str | None]:
    """What the answering stack reads, and what the encoder of an encoder-decoder does."""
    if (options.text is None) == (options.image is None):
        raise TextError("Give a TEXT, or a picture with --image FILE; one of the two.")
    if options.target is not None and not model.config.has_cross_attention:
        raise TextError("--target is for encoder-decoder models; this model reads one text.")
    if options.image is not None:
        return process_image(read_image(options.image), model.config.image), None
    return (options.target or "", options.text) if model.config.has_cross_attention else (options.text, None)


def require_language(model: Transformer) -> None:
    if model.config.has_cross_attention:
        raise TextError("This is an encoder-decoder, which reads two texts; predict is for models that read one.")
    if model.config.output_head not in WORDS:
        raise TextError(f"This model predicts no words of a text: its output head is {model.config.output_head!r}.")


def positive_int(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no whole number above 0")
    return int(word)


def token_position(word: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) < 10):
        raise argparse.ArgumentTypeError(f"{word!r} is no token's place; one is a whole number from 0")
    return int(word)
