"""How the engine opens a visitor's checkpoint."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from headlight.errors import CheckpointError
from headlight_app.models.answers.opening import answer_download, answer_extract_upload
from headlight_app.models.contract import DownloadRequest, ExtractUploadRequest


@pytest.fixture
def asked(toys: Path, tmp_path: Path) -> ExtractUploadRequest:
    """A request to unpack the uploaded files of a toy."""
    files = sorted((toys / "next").iterdir())
    (tmp_path / "sent").mkdir()
    for number, file in enumerate(files):
        shutil.copy(file, tmp_path / "sent" / str(number))
    (tmp_path / "laid").mkdir()
    names = tuple(f"tiny/{file.name}" for file in files)
    sent, folder = str(tmp_path / "sent"), str(tmp_path / "laid")
    return ExtractUploadRequest(sent=sent, folder=folder, names=names, max_bytes=1 << 30)


def test_files_are_laid_out_under_their_names(asked: ExtractUploadRequest, toys: Path) -> None:
    folder = Path(answer_extract_upload(asked).answer.folder)
    assert folder.is_relative_to(asked.folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in (toys / "next").iterdir()
    }
    assert not Path(asked.sent).exists(), "the sent files are deleted"


@pytest.mark.parametrize("change", [{"names": ("",)}, {"max_bytes": 10}])
def test_what_is_refused_is_not_kept(asked: ExtractUploadRequest, change: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError):
        answer_extract_upload(replace(asked, **change))
    assert not Path(asked.sent).exists()


@pytest.mark.parametrize("name", ["../next", "/etc", "a b", ""])
def test_what_is_no_id_is_not_asked_for(name: str) -> None:
    with pytest.raises(CheckpointError, match="nor the id of a model"):
        answer_download(DownloadRequest(hub_id=name))
