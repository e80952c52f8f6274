"""`headlight open`: the attention in an .npz file, in a browser; the page's own command opens checkpoints."""

from __future__ import annotations

import argparse
import tempfile
import webbrowser
from pathlib import Path

from headlight.cli.common import Command
from headlight.rendering.show import open_file

_FILE_HELP = "of headlight trace, or of headlight.show; a .gguf or a checkpoint's folder opens on the page"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.npz", help=_FILE_HELP)
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="write the page there and open no browser")


def _open(options: argparse.Namespace) -> int:
    """Show the attention in an .npz file in a browser, or write it as an HTML page."""
    view = open_file(options.file)
    if options.out is not None:
        view.save(options.out)
        return 0
    page = Path(tempfile.mkdtemp(prefix="headlight-")) / f"{options.file.stem}.html"
    view.save(page)
    shown = webbrowser.open(page.as_uri())
    print(page if shown else f"{page} (no browser could be started; open this file in one)")
    return 0


open_attention = Command("open", _add_arguments, _open)
