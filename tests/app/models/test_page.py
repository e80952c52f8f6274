"""What the Models page says about a visitor's checkpoint."""

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from headlight_app.access.settings import settings
from headlight_app.access.uploads import UploadStore, VisitorCheckpoint
from headlight_app.contract.reply import Reply
from headlight_app.contract.request import Request
from headlight_app.engine import client, models
from headlight_app.engine.client import ask
from headlight_app.engine.models import listed_models
from headlight_app.models import page as subject
from headlight_app.models.contract import WeightReportAnswer, WeightReportRequest
from headlight_app.state.session import OPEN_EXPLORE
from tests.app.pages import alone


def test_what_is_wrong_with_its_weights_is_a_warning_and_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: Request[Any]) -> Reply[Any]:
        if not isinstance(request, WeightReportRequest):
            return ask(request)
        return Reply(WeightReportAnswer(notes=("3 tensors were loaded.",), warning="2 weights are no numbers."))

    monkeypatch.setattr(subject, "ask", answer)
    listed = listed_models()[0]
    at = alone("models", model=listed.name)
    at.session_state[subject.UPLOAD_RESULT] = (listed.name, "")
    at.run()
    assert _words(at.success) == [f"{listed.title} can be opened now.  \n3 tensors were loaded."]
    assert not at.info, "in this theme notes have the colour of warnings"
    assert _words(at.warning) == ["2 weights are no numbers."]


def test_the_message_of_success_opens_the_model() -> None:
    at = alone("models", model="masked")
    at.session_state[subject.UPLOAD_RESULT] = ("next", "")
    at.run()
    at.button("open_upload").click().run()
    assert at.session_state[OPEN_EXPLORE] and at.query_params["model"] == "next"


def test_of_two_model_cards_that_are_asked_for_at_once_one_is_shown() -> None:
    at = alone("models", model="next")
    for button in [button for button in at.button if str(button.key).startswith("model_card")][:2]:
        button.click()
    at.run()
    assert not at.exception and [card.type for card in at.get("dialog")] == ["dialog"]


def test_a_checkpoint_is_opened_once_however_often_the_page_runs_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    listed, may_go_on, asked = listed_models()[0], Event(), []

    def open_path(text: str) -> VisitorCheckpoint:
        asked.append(text)
        may_go_on.wait()
        return VisitorCheckpoint(listed.name, listed.title, Path(text))

    monkeypatch.setattr(subject, "open_path", open_path)
    monkeypatch.setattr(subject, "settings", lambda: replace(settings(), shared=False))
    at = alone("models", model=listed.name)
    at.button_group("upload_method").set_value("path").run()
    at.text_input[0].set_value("/my/model")
    next(button for button in at.button if button.label == "Open").click().run()
    for query in ("sto", "stories"):
        at.text_input("model_search").set_value(query).run()
        assert _words(at.info) == ["Checking and opening ..."] and not at.success
    may_go_on.set()
    while not at.success:
        at.run()
    assert f"{listed.title} can be opened now." in _words(at.success)[0] and asked == ["/my/model"]


def test_a_folder_of_ones_own_is_closed_and_an_upload_removed(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = UploadStore(1 << 20)
    for module in (subject, client, models):
        monkeypatch.setattr(module, "upload_store", lambda: store)
        monkeypatch.setattr(module, "current_visitor", lambda: "anna")
    folder = store.add_folder("anna", toys / "next")
    assert _own_section(alone("models", model="masked")) == (
        ["Close"],
        "Only your browser sees these. Nothing on your disk is changed or deleted.",
    )
    upload = store.add_upload("anna", "next", lambda place, most: toys / "next")
    buttons, caption = _own_section(at := alone("models", model="masked"))
    assert buttons == ["Close", "Remove"]
    assert "Uploads are deleted when you leave" in caption and "Nothing on your disk" in caption
    at.button(f"remove {upload.name}").click().run()
    assert store.owned_by("anna") == (folder,)
    at.button(f"remove {folder.name}").click().run()
    assert store.owned_by("anna") == () and (toys / "next").is_dir()
    store.close()


def _own_section(at: AppTest) -> tuple[list[str], str]:
    """The buttons that remove a model from the page, and the sentence above them."""
    labels = [button.label for button in at.button if str(button.key).startswith("remove ")]
    return labels, next(each.value for each in at.caption if each.value.startswith("Only your browser"))


def _words(alerts: Iterable[Any]) -> list[str]:
    return [alert.value.replace("\\", "") for alert in alerts]  # Markdown's escapes
