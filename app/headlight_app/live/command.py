"""`headlight live MODEL --out page.html` writes a model as a page that lives in one file, `--site FOLDER` as a site."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headlight.checkpoints import find_checkpoint
from headlight.cli.common import add_folder_option, command, model_folders
from headlight.errors import HeadlightError

LARGE = 60_000_000  # bytes of a file that a reader fetches again at each visit
PRECISIONS = {"float16": "half the size", "int8": "a quarter, less exact", "float32": "as exact as here"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="NAME_OR_FOLDER")
    written = parser.add_mutually_exclusive_group(required=True)
    written.add_argument("--out", type=Path, metavar="FILE.html", help="the page to write, with one model")
    about = "the folder of a site, for any static host; of several models, a reader chooses one"
    written.add_argument("--site", type=Path, metavar="FOLDER", help=about)
    told = ", ".join(f"{name} ({about})" for name, about in PRECISIONS.items())
    parser.add_argument("--weights", default="float16", choices=tuple(PRECISIONS), help=f"{told}; default float16")
    add_folder_option(parser)


@command(_add_arguments)
def live(options: argparse.Namespace) -> int:
    """Write models as pages that run them in a browser, without a server: as one HTML file, or as a static site."""
    from headlight_app.live.write import write_page, write_site  # torch.export and the page's code

    if options.out and len(options.names) > 1:
        raise HeadlightError(f"A file holds one model; write these {len(options.names)} as a site, with --site FOLDER.")
    folders = [find_checkpoint(name, model_folders(options), fetch=True) for name in options.names]
    if options.site:
        size = write_site(folders, options.site, options.weights)
        print(
            f"{options.site} is written: {size / 1e6:.1f} MB. Put it on any web server, and open its index.html there."
        )
        return 0
    size = write_page(folders[0], options.out, options.weights)
    print(f"{options.out} is written: {size / 1e6:.1f} MB. Open it in a browser.")
    if size > LARGE:
        print("headlight: This is large for one file; with --site FOLDER a browser keeps the model.", file=sys.stderr)
    return 0
