"""A visitor brings a checkpoint: what opens is theirs, what does not is not kept."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from app.access.uploads import upload_store
from app.models import upload as subject
from app.models.upload import open_path, upload_folder, upload_zip
from app.services import open_models
from app.services.trace_cache import trace_cache
from model.errors import CheckpointError, HeadlightError


@pytest.fixture(autouse=True)
def anna(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Anna is asking, of a server that nobody has sent anything yet; gives the folder of its uploads."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for module in (subject, open_models):
        monkeypatch.setattr(module, "current_visitor", lambda: "anna")
    for store in (upload_store, open_models.model_pool, trace_cache):
        store.cache_clear()
    yield tmp_path
    upload_store().close()
    upload_store.cache_clear()


def files_of(toys: Path, name: str = "next") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (toys / name).iterdir()}


def zipped(files: dict[str, bytes]) -> BytesIO:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed


def left(folder: Path) -> int:
    """How many uploads lie on disk."""
    return len(list(folder.glob("headlight-uploads-*/*")))


def test_a_zip_is_called_as_its_file_is(toys: Path, anna: Path) -> None:
    guest = upload_zip("my tiny model.zip", zipped(files_of(toys)))
    assert guest.title == "my tiny model" and "my-tiny-model" in guest.name
    assert [card.title for card in open_models.own_models()] == ["my tiny model"]
    assert left(anna) == 1


def test_a_folder_is_called_as_it_is(toys: Path) -> None:
    guest = upload_folder({f"tiny/{name}": content for name, content in files_of(toys).items()})
    assert guest.title == "tiny"
    assert upload_folder(dict(files_of(toys))).title == "my model"


def test_the_next_upload_takes_the_place_of_the_last(toys: Path, anna: Path) -> None:
    first = upload_zip("a.zip", zipped(files_of(toys)))
    second = upload_zip("b.zip", zipped(files_of(toys, "masked")))
    assert upload_store().owned_by("anna") == (second,)
    assert not first.folder.exists() and left(anna) == 1
    assert {key[0] for key in open_models.model_pool().models} == {second.folder}


def test_what_unpacks_and_does_not_open_is_not_kept_and_the_last_one_stays(toys: Path, anna: Path) -> None:
    kept = upload_zip("a.zip", zipped(files_of(toys)))
    files = files_of(toys)
    for broken in (
        {**files, "model.safetensors": files["model.safetensors"][:-50]},
        {**files, "config.json": b'{"model_type": "mamba"}'},
        {**files, "tokenizer.json": b"{}"},
    ):
        with pytest.raises(HeadlightError) as refused:
            upload_zip("b.zip", zipped(broken))
        assert str(anna) not in str(refused.value)
    assert upload_store().owned_by("anna") == (kept,) and left(anna) == 1


def test_a_path_opens_on_ones_own_machine_alone(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckpointError, match="shared server"):
        open_path(str(toys / "next"))
    monkeypatch.setenv("HEADLIGHT_SHARED", "0")
    guest = open_path(f'  "{toys / "next"}" ')
    assert guest.upload_dir is None and open_models.open_checkpoint(guest.name)
    kept = upload_store().owned_by("anna")
    for text in ("", "../next", "./next", str(toys / "nothing"), "x" * 9_999, "/a\0b", "/etc"):
        with pytest.raises(HeadlightError):
            open_path(text)
    assert upload_store().owned_by("anna") == kept


@pytest.mark.parametrize("offered", [True, False])
def test_an_id_is_fetched_into_the_cache(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: bool
) -> None:
    cache = tmp_path / "cache"

    def download(name: str, folder: Path) -> Path:
        assert (name, folder) == ("somebody/tiny", cache)
        place = cache / "models--somebody--tiny" / "snapshots" / "0123"
        shutil.copytree(toys / "next", place)
        return place

    monkeypatch.setattr(subject, "download_model", download)
    for variable, value in (
        ("HF_HUB_CACHE", str(cache)),
        ("HEADLIGHT_SHARED", "0"),
        ("HEADLIGHT_CACHE", str(int(offered))),
    ):
        monkeypatch.setenv(variable, value)
    guest = open_path("somebody/tiny")
    assert open_models.open_checkpoint(guest.name).model.config == open_models.open_checkpoint("next").model.config
    names = [entry.name for entry in open_models.available_models()]
    assert names.count(guest.name) == 1
    assert (guest.name == "somebody/tiny") is offered


def test_an_id_that_cannot_be_fetched_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(name: str, folder: Path) -> Path:
        raise CheckpointError(f"The Hugging Face Hub cannot be reached for {name!r}.")

    monkeypatch.setattr(subject, "download_model", download)
    monkeypatch.setenv("HEADLIGHT_SHARED", "0")
    with pytest.raises(CheckpointError, match="cannot be reached"):
        open_path("gpt2")
    monkeypatch.setenv("HEADLIGHT_SHARED", "1")
    with pytest.raises(CheckpointError, match="shared server"):
        open_path("gpt2")
