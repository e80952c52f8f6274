"""The files of a folder as a zip."""

import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path


def files_of(folder: Path) -> dict[str, bytes]:
    """The contents of a folder's files by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def zipped(files: Mapping[str, bytes], top: str = "tiny") -> bytes:
    """Files as a zip, inside the folder `top` or at the root if it is empty."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{top}/{name}" if top else name, content)
    return packed.getvalue()
