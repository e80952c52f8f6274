"""Uploads: those that open belong to their visitor, the others are deleted."""

import shutil
from io import BytesIO
from pathlib import Path

import pytest

from headlight.config import Config
from headlight.errors import CheckpointError, HeadlightError
from headlight_app.access.uploads import upload_store
from headlight_app.compare.contract import CompareRequest
from headlight_app.contract.question import Question
from headlight_app.engine.client import ask
from headlight_app.engine.models import available_models, own_models, own_titles
from headlight_app.explore.contract import ExplorePageRequest
from headlight_app.inference import open_models
from headlight_app.models.answers import opening
from headlight_app.models.contract import OpenCheckpointRequest
from headlight_app.models.upload import open_path, upload_file, upload_folder
from tests.families.gguf_files import SIZES, small, write
from tests.zips import files_of, zipped

pytestmark = pytest.mark.usefixtures("anna")


def packed(folder: Path, **more: bytes) -> BytesIO:
    """The files of a folder and additional files as a zip."""
    return BytesIO(zipped(files_of(folder) | more, top=""))


def config_of(name: str) -> Config:
    """The config of a model; raises if it does not open."""
    ask(OpenCheckpointRequest(model=name))
    return next(entry.config for entry in available_models() if entry.name == name)


def uploads_on_disk(folder: Path) -> int:
    """The number of uploads on disk."""
    return len(list(folder.glob("headlight-stored-*/*")))


def test_a_zip_has_its_file_name_for_a_title(toys: Path, tmp_path: Path) -> None:
    checkpoint = upload_file("my tiny model.zip", packed(toys / "next"))
    assert checkpoint.title == "my tiny model" and "my-tiny-model" in checkpoint.name
    assert [card.title for card in own_models()] == ["my tiny model"]
    assert uploads_on_disk(tmp_path) == 1


def test_a_gguf_file_is_a_checkpoint_by_itself(tmp_path: Path) -> None:
    model = ("llama", "LlamaForCausalLM", SIZES)
    content = write(small(model), "llama", tmp_path / "made").read_bytes()
    checkpoint = upload_file("my model.gguf", BytesIO(content))
    assert checkpoint.title == "my model" and config_of(checkpoint.name).positional_encoding == "rope"
    with pytest.raises(HeadlightError, match="cut off in its header"):
        upload_file("half.gguf", BytesIO(content[:200]))


def test_a_folder_has_its_name_for_a_title(toys: Path) -> None:
    checkpoint = upload_folder({f"tiny/{name}": BytesIO(content) for name, content in files_of(toys / "next").items()})
    assert checkpoint.title == "tiny"
    assert (
        upload_folder({name: BytesIO(content) for name, content in files_of(toys / "next").items()}).title == "my model"
    )


@pytest.mark.parametrize("name", [".", "/", "", "a\0b", "a\nb", "..", "\u202e"])
def test_a_name_that_is_none_gets_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(HeadlightError):
        upload_folder({name: BytesIO(b"{}")})
    with pytest.raises(HeadlightError):
        upload_file(f"{name}.gguf", BytesIO(b"{}"))
    assert uploads_on_disk(tmp_path) == 0


def test_the_texts_beside_a_checkpoint_come_along(toys: Path) -> None:
    examples = b'[{"text": "7 3 5", "hint": "Point at the first number."}]'
    checkpoint = upload_file("a.zip", packed(toys / "next", **{"examples.json": examples}))
    opening = ask(ExplorePageRequest(model=checkpoint.name)).answer.opening
    assert (opening.text, opening.hint) == ("7 3 5", "Point at the first number.")


def test_a_second_upload_stands_beside_the_first_until_that_is_removed(toys: Path, tmp_path: Path) -> None:
    first = upload_file("a.zip", packed(toys / "next"))
    second = upload_file("b.zip", packed(toys / "masked"))
    assert upload_store().owned_by("anna") == (first, second)
    assert [card.name for card in own_models()] == [first.name, second.name]
    assert own_titles() == {first.name: "a (your upload)", second.name: "b (your upload)"}
    assert {first.folder, second.folder} <= {key[0] for key in open_models.model_pool().models}, "both are open already"
    upload_store().remove("anna", first.name)
    assert not first.folder.exists() and uploads_on_disk(tmp_path) == 1
    assert config_of(second.name) == config_of("masked")
    with pytest.raises(CheckpointError, match="uploads belong to the browser that sent them"):
        ask(OpenCheckpointRequest(model=first.name))


def test_two_training_steps_are_compared(toys: Path) -> None:
    sides = [upload_file(f"step-{number}.zip", packed(toys / "next")) for number in (100, 200)]
    one, other = (Question(model=side.name, text="the cat sat") for side in sides)
    left, right = ask(CompareRequest(sides=(one, other))).answer.sides
    assert left.tokens == right.tokens


def test_what_is_sent_beyond_a_visitors_room_is_refused_before_it_is_written(toys: Path, tmp_path: Path) -> None:
    sent = packed(toys / "next")
    upload_store().visitor_limit = len(sent.getvalue()) - 1
    with pytest.raises(CheckpointError, match=r"and this one has 1 MB\. Remove one below"):
        upload_file("a.zip", sent)
    assert uploads_on_disk(tmp_path) == 0


def test_an_upload_that_does_not_open_is_deleted_and_the_last_one_stays(toys: Path, tmp_path: Path) -> None:
    kept = upload_file("a.zip", packed(toys / "next"))
    files = files_of(toys / "next")
    for broken in (
        {**files, "model.safetensors": files["model.safetensors"][:-50]},
        {**files, "config.json": b'{"model_type": "mamba"}'},
        {**files, "tokenizer.json": b"{}"},
    ):
        with pytest.raises(HeadlightError) as refused:
            upload_file("b.zip", BytesIO(zipped(broken, top="")))
        assert str(tmp_path) not in str(refused.value)
    assert upload_store().owned_by("anna") == (kept,) and uploads_on_disk(tmp_path) == 1


def test_a_shared_server_opens_no_path(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckpointError, match="shared server"):
        open_path(str(toys / "next"))
    monkeypatch.setenv("HEADLIGHT_SHARED", "0")
    checkpoint = open_path(f'  "{toys / "next"}" ')
    assert own_titles() == {checkpoint.name: "next (opened from your disk)"}
    assert checkpoint.upload_dir is None and config_of(checkpoint.name) == config_of("next")
    kept = upload_store().owned_by("anna")
    for text in ("", "../next", "./next", str(toys / "nothing"), "x" * 9_999, "/a\0b", "/etc"):
        with pytest.raises(HeadlightError):
            open_path(text)
    assert upload_store().owned_by("anna") == kept


@pytest.mark.parametrize("offered", [True, False])
def test_a_hub_id_is_downloaded_into_the_cache(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: bool
) -> None:
    cache = tmp_path / "cache"

    def download(name: str, folder: Path) -> Path:
        assert (name, folder) == ("somebody/tiny", cache)
        place = cache / "models--somebody--tiny" / "snapshots" / "0123"
        shutil.copytree(toys / "next", place)
        return place

    monkeypatch.setattr(opening, "download_model", download)
    for variable, value in (
        ("HF_HUB_CACHE", str(cache)),
        ("HEADLIGHT_SHARED", "0"),
        ("HEADLIGHT_CACHE", str(int(offered))),
    ):
        monkeypatch.setenv(variable, value)
    checkpoint = open_path("somebody/tiny")
    assert config_of(checkpoint.name) == config_of("next")
    names = [entry.name for entry in available_models()]
    assert names.count(checkpoint.name) == 1
    assert (checkpoint.name == "somebody/tiny") is offered
    assert checkpoint.title == "somebody/tiny", "the title is not the hash in the cache"


def test_a_hub_id_that_cannot_be_downloaded_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(name: str, folder: Path) -> Path:
        raise CheckpointError(f"The Hugging Face Hub cannot be reached for {name!r}.")

    monkeypatch.setattr(opening, "download_model", download)
    monkeypatch.setenv("HEADLIGHT_SHARED", "0")
    with pytest.raises(HeadlightError, match="cannot be reached"):
        open_path("gpt2")
    monkeypatch.setenv("HEADLIGHT_SHARED", "1")
    with pytest.raises(CheckpointError, match="shared server"):
        open_path("gpt2")
