"""What the engine does with a checkpoint that somebody brings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from app.models.opening import handle_download, handle_extract
from app.ui.wire_format import unpack
from model.errors import CheckpointError


@pytest.fixture
def body(toys: Path, tmp_path: Path) -> dict[str, Any]:
    """A request to lay out the files of a toy, which were sent."""
    files = sorted((toys / "next").iterdir())
    (tmp_path / "sent").mkdir()
    for number, file in enumerate(files):
        shutil.copy(file, tmp_path / "sent" / str(number))
    (tmp_path / "laid").mkdir()
    names = [f"tiny/{file.name}" for file in files]
    return {"sent": str(tmp_path / "sent"), "folder": str(tmp_path / "laid"), "names": names, "max_bytes": 1 << 30}


def test_files_are_laid_out_under_their_names(body: dict[str, Any], toys: Path) -> None:
    folder = Path(unpack(handle_extract(body))[0]["folder"])
    assert folder.is_relative_to(body["folder"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in (toys / "next").iterdir()
    }
    assert not Path(body["sent"]).exists(), "they are not kept twice"


@pytest.mark.parametrize("change", [{"names": [""]}, {"max_bytes": 10}])
def test_what_is_refused_is_not_kept(body: dict[str, Any], change: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError):
        handle_extract(body | change)
    assert not Path(body["sent"]).exists()


@pytest.mark.parametrize("name", ["../next", "/etc", "a b", ""])
def test_what_is_no_id_is_not_asked_for(name: str) -> None:
    with pytest.raises(CheckpointError, match="nor the id of a model"):
        handle_download({"model": name})
