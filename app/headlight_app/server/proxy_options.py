"""The options for a server behind a proxy or in a frame of another site."""

from __future__ import annotations

import argparse
import re

from headlight_app.access.origins import parse_authority, parse_origin

CHARACTER = r"[\w~@+-]|%[0-9a-fA-F]{2}"
BASE_PATH = re.compile(rf"(/(?:{CHARACTER})(?:{CHARACTER}|\.)*)*", re.ASCII)  # no segment is "." or ".."


def add_proxy_options(parser: argparse.ArgumentParser) -> None:
    """Add the options; invalid values are refused with a sentence."""
    parser.add_argument(
        "--allow-host",
        type=_host,
        action="append",
        default=[],
        metavar="NAME[:PORT]",
        help="a host name by which browsers reach this server, as behind a proxy; repeatable",
    )
    parser.add_argument(
        "--base-path",
        type=_base_path,
        default="",
        metavar="/PATH",
        help="serve the page below this path, for a proxy that passes it on (one that strips it needs nothing)",
    )
    parser.add_argument(
        "--trust-forwarded",
        action="store_true",
        help="believe X-Forwarded-Host, X-Forwarded-Proto and Forwarded, which a proxy in front sets on each request",
    )
    parser.add_argument(
        "--embed-in",
        type=_origin,
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a site that may show the page in a frame, such as https://moodle.example; repeatable",
    )


def _host(text: str) -> str:
    found = parse_authority(_ascii(text))
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a host; write NAME or NAME:PORT, such as lab.example")
    return str(found)


def _base_path(text: str) -> str:
    path = text.rstrip("/")
    if not BASE_PATH.fullmatch(path):
        raise argparse.ArgumentTypeError(f"{text!r} is not a path as browsers send it, such as /lab or /my%20lab")
    return path


def _origin(text: str) -> str:
    scheme, colon, name = text.partition("://")
    found = parse_origin(f"{scheme.lower()}{colon}{_ascii(name)}")
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not an origin; write https://NAME or https://NAME:PORT")
    scheme, host = found
    return f"{scheme}://{host}"


def _ascii(name: str) -> str:
    """A host name as browsers send it; unchanged if it is none."""
    try:
        return name if name.isascii() else name.encode("idna").decode()
    except UnicodeError:
        return name
