"""`headlight live MODEL --out page.html` writes a model as a page that lives in one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from headlight.checkpoints import find_checkpoint
from headlight.cli.common import add_folder_option, command, model_folders

PRECISIONS = {"float16": "half the size", "int8": "a quarter, less exact", "float32": "as exact as here"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="NAME_OR_FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.html", help="the page to write")
    told = ", ".join(f"{name} ({about})" for name, about in PRECISIONS.items())
    parser.add_argument("--weights", default="float16", choices=tuple(PRECISIONS), help=f"{told}; default float16")
    add_folder_option(parser)


@command(_add_arguments)
def live(options: argparse.Namespace) -> int:
    """Write a model as one HTML file that runs it in a browser, without a server or a network."""
    from headlight_app.live.write import write_page  # torch.export and the page's code

    folder = find_checkpoint(options.model, model_folders(options), fetch=True)
    size = write_page(folder, options.out, options.weights)
    print(f"{options.out} is written: {size / 1e6:.1f} MB. Open it in a browser.")
    return 0
