"""Writes models as live pages."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from headlight.checkpoints import Checkpoint, load
from headlight.checkpoints.catalog import read_metadata
from headlight.checkpoints.source import display_name
from headlight.file_writing import replacing, write_files
from headlight.live.rounding import rounding_cost
from headlight.live.weights import Precision
from headlight.origin import headlight_version
from headlight_app.engine.job import EngineRequest, VisitorFolder
from headlight_app.inference.context import answering
from headlight_app.inference.open_models import find_model
from headlight_app.live.document import InDocument, LiveModel, Provenance, live_document
from headlight_app.live.model_file import model_file, packed
from headlight_app.live.page_data import live_page
from headlight_app.live.site import site_files
from headlight_app.ui.component import Data


def write_page(folder: Path, out: Path, precision: Precision, *, link: str = "") -> int:
    """Write the page of the checkpoint in a folder as one file; returns its bytes. It names no folder of this machine.

    The page opens with what the parameters of `link` show, as Explore's do. Raises HeadlightError, with the reason, for
    a model that cannot become one.
    """
    with replacing(out) as file:  # first, so that a wrong place is told before a minute has passed
        name = display_name(folder)
        model = _live_model(folder, name, precision, _command([name], precision, "--out", out), link)
        content = live_document(model, InDocument()).encode("utf-8")
        file.write(content)
    return len(content)


def write_site(folders: Sequence[Path], out: Path, precision: Precision) -> int:
    """Write the pages of checkpoints as the files of a site, all or none; returns the bytes of all together."""
    names = [*map(display_name, folders)]
    command = _command(names, precision, "--site", out)
    files = site_files([_live_model(*each, precision, command) for each in zip(folders, names, strict=True)])
    write_files(out, files)
    return sum(map(len, files.values()))


def _command(names: Sequence[str], precision: Precision, option: str, out: Path) -> str:
    """The command that writes the same, but for what a file opens with."""
    words = [*names, "--weights", precision, option, out.name or out.resolve().name]
    return shlex.join(["headlight", "live", *words])


def _live_model(folder: Path, name: str, precision: Precision, command: str, link: str = "") -> LiveModel:
    checkpoint = load(folder, name=name, device="cpu")
    made = model_file(checkpoint, name, precision)
    with answering(EngineRequest("", b"", checkpoints=(VisitorFolder(name, name, str(folder)),))):
        page = live_page(find_model(name), made.encodings) | {"link": link}
    origin = checkpoint.model.origin
    provenance = Provenance(
        model=name,
        licence=read_metadata(folder, name).licence,
        sha256=origin.sha256 if origin else "",
        precision=_told(checkpoint, precision, page),
        command=command,
        version=f"Headlight {headlight_version()}",
        date=datetime.now(UTC).date().isoformat(),
    )
    encoded = packed(json.dumps(page, separators=(",", ":")).encode("utf-8"))
    return LiveModel({"page": encoded, "model": made.model, "weights": made.weights}, provenance)


def _told(checkpoint: Checkpoint, precision: Precision, page: Data) -> str:
    """A precision, and what it costs on the examples that the page offers."""
    texts = [example["text"] for example in page["data"]["examples"]]
    cost = "" if precision == "float32" else rounding_cost(checkpoint, precision, texts)
    return "; ".join(filter(None, (precision, cost)))
