"""`headlight open`: the attention in an .npz file, in a browser."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from headlight.cli.common import make_parser
from headlight.rendering.show import open_file


def open_attention(arguments: Sequence[str]) -> int:
    """Show the attention in an .npz file in a browser, or write it as an HTML page."""
    parser = make_parser("open", open_attention)
    parser.add_argument("file", type=Path, metavar="FILE.npz", help="of headlight trace, or of headlight.show")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="write the page there and open no browser")
    options = parser.parse_args(arguments)
    view = open_file(options.file)
    if options.out is not None:
        view.save(options.out)
        return 0
    page = Path(tempfile.mkdtemp(prefix="headlight-")) / f"{options.file.stem}.html"
    view.save(page)
    shown = webbrowser.open(page.as_uri())
    print(page if shown else f"{page} (no browser could be started; open this file in one)")
    return 0
