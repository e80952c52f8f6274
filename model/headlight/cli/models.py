"""`headlight models` and `headlight export`: the models that can be opened by name, and a model for transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headlight import checkpoints
from headlight.checkpoints import CatalogEntry, catalog, find_checkpoint, load
from headlight.checkpoints.load import require_new_folder
from headlight.cli.common import add_folder_option, make_parser


def models(arguments: Sequence[str]) -> int:
    """List the models that can be opened by name."""
    parser = make_parser("models", models)
    parser.add_argument("fetched", nargs="*", metavar="ID", help="models of the Hugging Face Hub to download first")
    add_folder_option(parser)
    options = parser.parse_args(arguments)
    for name in options.fetched:
        find_checkpoint(name, options.models, allow_paths=False, fetch=True)
    entries = catalog(options.models)
    if not entries:
        print("No models found. Name a folder with --models DIR or in HEADLIGHT_MODELS.")
    for entry in entries:
        print(_format_entry(entry))
    return 0


def _format_entry(entry: CatalogEntry) -> str:
    config = entry.config
    depth = " + ".join(str(config.num_layers(stack)) for stack in config.stacks)
    return (
        f"{entry.name:24} {config.architecture}, {depth} layers x {config.heads} heads, hidden size {config.d_model}, "
        f"{config.positional_encoding}, context {config.context_length}, {entry.size_bytes / 1e6:.1f} MB"
        f"{'' if entry.shipped else f', {entry.folder}'}"
    )


def export(arguments: Sequence[str]) -> int:
    """Write a model as a folder that the transformers library opens, if a family fits."""
    parser = make_parser("export", export)
    parser.add_argument("model", metavar="NAME_OR_FOLDER")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--force", action="store_true", help="write into a folder that holds other files")
    add_folder_option(parser)
    options = parser.parse_args(arguments)
    require_new_folder(options.folder, options.force)
    loaded = load(find_checkpoint(options.model, options.models, fetch=True), name=options.model, device="cpu")
    kind = checkpoints.export(options.folder, loaded.model, loaded.tokenizer)
    print(f"{options.folder} holds the model as {kind}.")
    return 0
