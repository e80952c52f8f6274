"""Models and traces kept between questions, and which visitors may use them."""

import os
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from headlight.checkpoints import load, save
from headlight.errors import CheckpointError
from headlight_app.access.uploads import VisitorCheckpoint, upload_store
from headlight_app.access.visitor import cookie_name, new_cookie, visitor_id
from headlight_app.engine.job import EngineRequest, VisitorFolder
from headlight_app.inference import model_listing, open_models
from headlight_app.inference.context import answering
from headlight_app.inference.model_pool import ModelPool
from headlight_app.inference.resolved_question import resolve
from headlight_app.room.rooms import Rooms
from headlight_app.server import routes
from headlight_app.server.middleware import VisitorMiddleware
from tests.app.asking import ask_route, ask_worker, make_question

pytestmark = pytest.mark.usefixtures("anna")

ANNA, BEN = "anna", "ben"
OFF = "decoder.1.self.weights[3]=set:0"


def bring(visitor: str, toy: Path) -> VisitorCheckpoint:
    def lay(root: Path, max_bytes: int) -> Path:
        shutil.copytree(toy, root / "model")
        return root / "model"

    return upload_store().add_upload(visitor, toy.name, lay)


def asked_by(visitor: str) -> AbstractContextManager[None]:
    """Context in which a worker answers a visitor, with that visitor's uploads."""
    brought = upload_store().owned_by(visitor)
    folders = tuple(VisitorFolder(one.name, one.title, str(one.folder)) for one in brought)
    return answering(EngineRequest("", b"", folders))


def test_an_upload_opens_for_its_visitor_alone(toys: Path) -> None:
    upload = bring(ANNA, toys / "next")
    question = make_question(upload.name, "the cat sat")
    with asked_by(ANNA):
        assert upload.name in {entry.name for entry in open_models.available_models()}
        assert len(resolve(question).logits(2))
        assert resolve(question).position_profile(8, "decoder")
    for other in (BEN, ""):
        with asked_by(other):
            assert upload.name not in {entry.name for entry in open_models.available_models()}
            with pytest.raises(CheckpointError, match="There is no model"):
                resolve(question)
            with pytest.raises(CheckpointError):
                open_models.open_checkpoint(upload.name)


def test_a_route_finds_an_upload_by_the_cookie_of_its_request(toys: Path) -> None:
    app = Starlette(routes=routes.routes(Rooms()), middleware=[Middleware(VisitorMiddleware)])

    def ask(client: TestClient, model: str) -> dict[str, Any]:
        return ask_route(client, model=model, text="the cat sat")[0]

    cookie = new_cookie()
    with TestClient(app, cookies={cookie_name(): cookie}) as anna, TestClient(app) as ben:
        upload = bring(visitor_id(cookie), toys / "next")
        assert ask(anna, upload.name)["tokens"]
        for stranger in (ben, TestClient(app, cookies={cookie_name(): visitor_id(cookie)})):
            assert "uploads belong to the browser" in ask(stranger, upload.name)["error"]
        assert "no model" in ask(ben, "upload")["error"]


def test_a_removed_upload_opens_for_nobody_and_others_stay(toys: Path) -> None:
    upload = bring(ANNA, toys / "next")
    question = make_question(upload.name, "the cat sat")
    with asked_by(ANNA):
        assert resolve(question).trace
    kept = resolve(make_question("next", "the cat sat")).trace
    still_travelling = asked_by(ANNA)
    upload_store().remove(ANNA, upload.name)
    assert not upload.folder.exists()
    assert resolve(make_question("next", "the cat sat")).trace is kept
    for request in (still_travelling, asked_by(ANNA)):
        with request:
            assert upload.name not in {entry.name for entry in open_models.available_models()}
            for ask in (open_models.open_checkpoint, lambda name: resolve(make_question(name, "the cat sat")).trace):
                with pytest.raises(CheckpointError, match="There is no model"):
                    ask(upload.name)


def test_a_folder_of_ones_own_machine_opens_by_its_path_once_admitted(toys: Path) -> None:
    path = str(toys / "next")
    with asked_by(ANNA), pytest.raises(CheckpointError, match="There is no model"):
        open_models.open_checkpoint(path)
    upload_store().add_folder(ANNA, toys / "next")
    with asked_by(ANNA):
        assert open_models.open_checkpoint(path).model.config == open_models.open_checkpoint("next").model.config
    with asked_by(BEN), pytest.raises(CheckpointError, match="There is no model"):
        open_models.open_checkpoint(path)


def test_a_model_trained_anew_is_not_the_one_that_was_opened(toys: Path, tmp_path: Path) -> None:
    folder = tmp_path / "more" / "fresh"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HEADLIGHT_MODELS", str(folder.parent))
        with pytest.raises(CheckpointError):
            open_models.open_checkpoint("fresh")
        shutil.copytree(toys / "next", folder)
        first = open_models.open_checkpoint("fresh")
        weights = folder / "model.safetensors"
        shutil.copystat(toys / "next" / "config.json", weights)
        weights.touch()
        assert open_models.open_checkpoint("fresh") is not first
        shutil.rmtree(folder)
        with pytest.raises(CheckpointError):
            open_models.open_checkpoint("fresh")


def test_what_is_broken_is_listed_with_what_is_wrong_and_not_offered(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HEADLIGHT_MODELS", str(tmp_path))
        (tmp_path / "broken").mkdir()
        (tmp_path / "broken" / "config.json").write_text('{"model_type": "mamba"}')
        (tmp_path / "broken" / "model.safetensors").write_bytes(b"")
        (card,) = [card for card in model_listing.listed_models(refresh=True) if card.name == "broken"]
        assert "mamba" in card.metadata.error
        assert "broken" not in {entry.name for entry in open_models.available_models()}
        with pytest.raises(CheckpointError, match="mamba"):
            open_models.open_checkpoint("broken")
    model_listing.listed_models(refresh=True)


def test_a_listing_reads_each_folder_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model_listing.listed_models(refresh=True)
    monkeypatch.setattr(model_listing, "read_metadata", None)
    assert len(model_listing.listed_models(refresh=True)) >= 4


def test_a_question_keeps_to_its_model_and_the_next_one_finds_the_folder_as_it_is_now(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    shutil.copytree(toys / "next", tmp_path / "next")
    model_listing.listed_models(refresh=True)
    resolved = resolve(make_question("next", "the cat sat"))
    before = resolved.location.modified
    os.utime(tmp_path / "next" / "config.json", ns=(0, before + 1_000))
    assert resolved.as_trained.location.modified == before and len(resolved.logits(0))
    assert resolve(make_question("next", "the cat sat")).location.modified > before


def test_an_answer_looks_for_its_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    find_folder = open_models._find_folder

    def count(model: str) -> tuple[Path, str]:
        looked.append(model)
        return find_folder(model)

    monkeypatch.setattr(open_models, "_find_folder", count)
    question: dict[str, Any] = {"model": "next", "text": "the cat sat", "edits": [OFF], "scale": "off"}
    for route in ("trace", "head_view", "export_page", "logit_attribution", "generate"):
        ask_worker(route, **question)
        assert looked == ["next"], route
        looked.clear()


def test_on_a_shared_server_links_that_lead_out_are_not_offered(toys: Path, tmp_path: Path) -> None:
    shutil.copytree(toys / "next", tmp_path / "served" / "linked")
    (tmp_path / "served" / "linked" / "model.safetensors").unlink()
    (tmp_path / "served" / "linked" / "model.safetensors").symlink_to(toys / "next" / "model.safetensors")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HEADLIGHT_MODELS", str(tmp_path / "served"))
        for shared, offered in (("1", False), ("0", True)):
            patched.setenv("HEADLIGHT_SHARED", shared)
            assert ("linked" in {card.name for card in model_listing.listed_models(refresh=True)}) is offered
    model_listing.listed_models(refresh=True)


def test_a_model_beyond_the_limit_is_refused_by_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    models = ModelPool(100)
    monkeypatch.setattr(open_models, "model_pool", lambda: models)
    with pytest.raises(CheckpointError, match=r"of memory; .* are allowed here"):
        open_models.open_checkpoint("next")


def test_models_stay_within_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    models = ModelPool(int(model_listing.folder_metadata(*_place("next")).memory_bytes * 2.5))
    monkeypatch.setattr(open_models, "model_pool", lambda: models)
    for name in ("next", "masked", "mood", "both") * 2:
        question = make_question(name, "the cat sat", source="the dog lay")
        assert np.isfinite(resolve(question).logits(0)).all()
        assert models.reserved_bytes <= models.budget


def test_weights_that_are_no_numbers_open_and_are_told(toys: Path, tmp_path: Path) -> None:
    checkpoint = load(toys / "next")
    with torch.no_grad():
        next(checkpoint.model.parameters())[0, 0] = float("nan")
    save(tmp_path / "ill" / "sick", checkpoint.model, checkpoint.tokenizer)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HEADLIGHT_MODELS", str(tmp_path / "ill"))
        model_listing.listed_models(refresh=True)
        assert "NaN or infinite weights" in open_models.nonfinite_warning("sick")
    model_listing.listed_models(refresh=True)
    assert open_models.nonfinite_warning("next") == ""


def test_a_sentence_calls_an_upload_as_its_visitor_does(toys: Path) -> None:
    upload = bring(ANNA, toys / "next")
    (upload.folder / "config.json").write_text('{"model_type": "mamba"}')
    with asked_by(ANNA), pytest.raises(CheckpointError, match=r"^next: .*mamba"):
        open_models.open_checkpoint(upload.name)


def _place(name: str) -> tuple[Path, int, str]:
    card = next(card for card in model_listing.listed_models() if card.name == name)
    return card.folder, model_listing.modification_time(card.folder), card.title
