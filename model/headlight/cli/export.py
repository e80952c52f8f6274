"""`headlight export`: a checkpoint as a folder that the transformers library opens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headlight import checkpoints
from headlight.checkpoints import find_checkpoint, load
from headlight.cli.common import add_folder_option, make_parser


def export(arguments: Sequence[str]) -> int:
    """Write a model as a folder that the transformers library opens, if a family fits."""
    parser = make_parser("export", export)
    parser.add_argument("model", metavar="NAME_OR_FOLDER")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    add_folder_option(parser)
    options = parser.parse_args(arguments)
    loaded = load(find_checkpoint(options.model, options.models, fetch=True), name=options.model, device="cpu")
    kind = checkpoints.export(options.folder, loaded.model, loaded.tokenizer)
    print(f"{options.folder} holds the model as {kind}.")
    return 0
