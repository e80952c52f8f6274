"""`headlight models`: the models that can be opened by name."""

from __future__ import annotations

from collections.abc import Sequence

from headlight.checkpoints import CatalogEntry, catalog, find_checkpoint
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
