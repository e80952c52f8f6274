"""Uploads for the browser tests: a tiny checkpoint as a zip, and hostile zips."""

import stat
import zipfile
from collections.abc import Mapping
from io import BytesIO

from tests.zips import zipped

Zip = dict[str, bytes]


def linked(files: Mapping[str, bytes]) -> bytes:
    """A zip whose config is a symlink to a file on the server."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(f"tiny/{name}")
            if name == "config.json":
                entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
                content = b"/etc/passwd"
            archive.writestr(entry, content)
    return packed.getvalue()


def hostile(files: Zip) -> dict[str, tuple[bytes, str]]:
    """Zips that must be refused, each with words of its error message."""
    weights = files["model.safetensors"]
    return {
        "a path that leads out": (zipped({**files, "../../escaped.json": b"{}"}), "leads out of its folder"),
        "a link": (linked(files), "is a link, not a file"),
        "code": (zipped({**files, "modeling_tiny.py": b"print('run')"}), "a program"),
        "a bomb": (zipped({**files, "model.safetensors": bytes(64 << 20)}), "weights never compress that much"),
        "weights that are cut off": (zipped({**files, "model.safetensors": weights[:-100]}), "cannot be read"),
        "no zip at all": (b"PK but no zip", "not a readable .zip archive"),
    }
