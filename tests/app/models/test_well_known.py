"""GPT-2 and BERT have cards that say what opening them needs on this server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headlight_app.access.settings import Settings, settings
from headlight_app.access.uploads import VisitorCheckpoint
from headlight_app.models import page as subject
from headlight_app.models.well_known import WELL_KNOWN, missing
from tests.app.pages import alone


@pytest.mark.parametrize(
    ("limits", "gpt2", "bert"),
    [
        (Settings(shared=False), "a download of 548 MB", "a download of 440 MB"),
        (Settings(shared=True), "Headlight on your own machine", "an upload of its folder"),
    ],
)
def test_a_card_says_what_its_model_needs_here(limits: Settings, gpt2: str, bert: str) -> None:
    assert [one.needs(limits).startswith(words) for one, words in zip(WELL_KNOWN, (gpt2, bert), strict=True)] == [
        True
    ] * 2


def test_a_model_that_is_here_has_no_second_card() -> None:
    assert [one.title for one in missing(["stories-causal", "google-bert/bert-base-uncased"])] == ["GPT-2"]
    assert missing(["gpt2", "bert-base-uncased"]) == ()


@pytest.mark.parametrize("shared", [True, False])
def test_a_card_fetches_its_model_where_the_server_may(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def open_path(text: str) -> VisitorCheckpoint:
        asked.append(text)
        raise AssertionError("no test reaches the Hub")

    monkeypatch.setattr(subject, "settings", lambda: replace(settings(), shared=shared))
    monkeypatch.setattr(subject, "open_path", open_path)
    at = alone("models", model="next")
    assert "GPT-2" in "".join(html.proto.body for html in at.get("html"))
    buttons = [button for button in at.button if button.label == "Download"]
    assert len(buttons) == (0 if shared else 2)
    if buttons:
        buttons[0].click().run()
        assert asked == ["openai-community/gpt2"]
