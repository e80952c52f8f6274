"""Writes a model as a live page."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path

from headlight.checkpoints import load
from headlight.checkpoints.catalog import read_metadata
from headlight.checkpoints.source import display_name
from headlight.file_writing import replacing
from headlight.live.rounding import rounding_cost
from headlight.live.weights import Precision
from headlight.origin import headlight_version
from headlight_app.engine.job import EngineRequest, VisitorFolder
from headlight_app.inference.context import answering
from headlight_app.inference.open_models import find_model
from headlight_app.live.document import Provenance, live_document
from headlight_app.live.model_file import model_file
from headlight_app.live.page_data import live_page


def write_page(folder: Path, out: Path, precision: Precision) -> int:
    """Write the page of the checkpoint in a folder; returns its bytes. It names no folder of this machine.

    Raises HeadlightError, with the reason, for a model that cannot become one.
    """
    name = display_name(folder)
    checkpoint = load(folder, name=name, device="cpu")
    packed = model_file(checkpoint, name, precision)
    with answering(EngineRequest("", b"", checkpoints=(VisitorFolder(name, name, str(folder)),))):
        page = live_page(find_model(name), packed.encodings)
    texts = [example["text"] for example in page["data"]["examples"]]
    cost = "" if precision == "float32" else rounding_cost(checkpoint, precision, texts)
    origin = checkpoint.model.origin
    provenance = Provenance(
        model=name,
        licence=read_metadata(folder, name).licence,
        sha256=origin.sha256 if origin else "",
        precision="; ".join(filter(None, (precision, cost))),
        command=shlex.join(["headlight", "live", name, "--weights", precision, "--out", out.name]),
        version=f"Headlight {headlight_version()}",
        date=datetime.now(UTC).date().isoformat(),
    )
    content = live_document(page, packed, provenance).encode("utf-8")
    with replacing(out) as file:
        file.write(content)
    return len(content)
