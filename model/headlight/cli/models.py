"""`headlight models` lists the models that can be opened by name; `headlight export` writes one for transformers."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from headlight import checkpoints
from headlight.checkpoints import CatalogEntry, catalog, find_checkpoint, load
from headlight.checkpoints.load import require_new_folder
from headlight.checkpoints.refusals import OPEN_FAMILIES
from headlight.cli.common import add_folder_option, command, model_folders
from headlight.errors import counted


def _add_models_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fetched", nargs="*", metavar="ID", help="models of the Hugging Face Hub to download first")
    add_folder_option(parser)
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")
    parser.add_argument("--families", action="store_true", help="list the supported families of checkpoints instead")


@command(_add_models_arguments)
def models(options: argparse.Namespace) -> int:
    """List the models that can be opened by name."""
    if options.families:
        print(json.dumps(OPEN_FAMILIES) if options.json else "\n".join(OPEN_FAMILIES))
        return 0
    folders = model_folders(options)
    for name in options.fetched:
        find_checkpoint(name, folders, allow_paths=False, fetch=True)
    entries = catalog(folders)
    if options.json:
        print(json.dumps([_entry_json(entry) for entry in entries], indent=1))  # in ASCII
        return 0
    if not entries:
        print("No models found. Name a folder with --models DIR or in HEADLIGHT_MODELS.")
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        print(_format_entry(entry, width))
    return 0


def _format_entry(entry: CatalogEntry, width: int) -> str:
    config = entry.config
    layers = [config.num_layers(stack) for stack in config.stacks]
    depth = counted(layers[0], "layer") if len(layers) == 1 else f"{' + '.join(map(str, layers))} layers"
    if config.has_recurrence:
        depth += f" ({', '.join(map(str, config.recurrence.numbers_in_file))} in the checkpoint)"
    return (
        f"{entry.name:{width}} {config.architecture}, {depth} x {counted(config.heads, 'head')}, "
        f"hidden size {config.d_model}, {config.positional_encoding}, context {config.context_length}, "
        f"{entry.size_bytes / 1e6:.1f} MB{'' if entry.shipped else f', {entry.folder}'}"
    )


def _entry_json(entry: CatalogEntry) -> dict[str, object]:
    config = entry.config
    return {
        "name": entry.name,
        "folder": str(entry.folder),
        "shipped": entry.shipped,
        "bytes": entry.size_bytes,
        "architecture": config.architecture,
        "layers": {stack: config.num_layers(stack) for stack in config.stacks},
        "heads": config.heads,
        "d_model": config.d_model,
        "positional_encoding": config.positional_encoding,
        "context_length": config.context_length,
        "output_head": config.output_head,
    }


def _add_export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="NAME_OR_FOLDER")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--force", action="store_true", help="write into a folder that contains other files")
    add_folder_option(parser)


@command(_add_export_arguments)
def export(options: argparse.Namespace) -> int:
    """Write a model as a folder for the transformers library, if a family fits."""
    require_new_folder(options.folder, options.force)
    loaded = load(find_checkpoint(options.model, model_folders(options), fetch=True), name=options.model, device="cpu")
    kind = checkpoints.export(options.folder, loaded.model, loaded.tokenizer)
    print(f"{options.folder} contains the model as {kind}.")
    return 0
