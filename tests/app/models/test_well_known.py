"""GPT-2 and BERT have cards that say what opening them needs on this server."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from headlight_app.access.settings import Settings, settings
from headlight_app.access.uploads import VisitorCheckpoint
from headlight_app.engine.contract import ListedModel
from headlight_app.models import page as subject
from headlight_app.models.well_known import WELL_KNOWN, may_download, missing
from tests.app.pages import alone


@pytest.mark.parametrize(
    ("limits", "gpt2", "bert"),
    [
        (Settings(shared=False), "a download of 548 MB", "a download of 440 MB"),
        (Settings(shared=True), "Headlight on your own machine", "an upload of a folder with its config.json"),
    ],
)
def test_a_card_says_what_its_model_needs_here(
    limits: Settings, gpt2: str, bert: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert [one.needs(limits).startswith(words) for one, words in zip(WELL_KNOWN, (gpt2, bert), strict=True)] == [
        True
    ] * 2


def listed(title: str, problem: str = "") -> ListedModel:
    return structs.replace(WELL_KNOWN[0].listed(Settings()), title=title, problem=problem)


def test_a_model_that_is_here_has_no_second_card_unless_it_is_broken() -> None:
    assert [one.title for one in missing(map(listed, ["stories-causal", "google-bert/bert-base-uncased"]))] == ["GPT-2"]
    assert missing(map(listed, ["gpt2", "bert-base-uncased"])) == ()
    assert len(missing([listed("gpt2", problem="Its weights are missing."), listed("bert-base-uncased")])) == 1


def test_where_the_hub_is_disabled_a_folder_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert WELL_KNOWN[0].needs(Settings(shared=False)).startswith("the path of a folder with its config.json")
    assert not may_download(Settings(shared=False))


@pytest.mark.parametrize("shared", [True, False])
def test_a_card_fetches_its_model_where_the_server_may(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def open_path(text: str) -> VisitorCheckpoint:
        asked.append(text)
        raise AssertionError("no test reaches the Hub")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(subject, "settings", lambda: replace(settings(), shared=shared))
    monkeypatch.setattr(subject, "open_path", open_path)
    at = alone("models", model="next")
    assert "GPT-2" in "".join(html.proto.body for html in at.get("html"))
    buttons = [button for button in at.button if button.label == "Download"]
    assert len(buttons) == (0 if shared else 2)
    if buttons:
        buttons[0].click().run()
        assert asked == ["openai-community/gpt2"]
