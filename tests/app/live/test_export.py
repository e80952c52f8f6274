"""The export of a live page: what the Export menu of Explore gets from a worker."""

import re
from pathlib import Path

import pytest

from headlight.cancellation import Cancelled, cancellable
from headlight.errors import HeadlightError
from headlight_app.live import answers
from tests.app.asking import ask_worker

TEXT = "the cat sat"


def test_the_file_is_a_page_that_names_no_folder(toys: Path) -> None:
    meta, content = ask_worker("export_live_page", model="next", text=TEXT, layer=1, head=2)
    assert meta == {"name": "headlight-live.html", "type": "text/html"}
    document = content.decode()
    assert "<title>next · Headlight</title>" in document and document.endswith("</html>\n")
    assert "headlight live next --weights float16 --out headlight-live.html" in document
    assert str(toys) not in document


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("translate", "A live page shows models with one stack"),
        ("gone", "There is no model 'gone'"),
    ],
)
def test_a_model_that_cannot_become_a_page_is_told_why(model: str, sentence: str) -> None:
    with pytest.raises(HeadlightError, match=sentence) as error:
        ask_worker("export_live_page", model=model, text=TEXT)
    assert "headlight:" not in str(error.value)


@pytest.mark.usefixtures("toys")
def test_a_large_model_is_told_what_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "LARGE", 1_000)
    with pytest.raises(HeadlightError, match=re.escape("next would have about 1 MB; the menu writes at most 0. Use")):
        ask_worker("export_live_page", model="next", text=TEXT)


@pytest.mark.usefixtures("toys")
def test_what_ends_the_command_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(answers, "COMMAND", "tests.app.live.no_such_module")
    with pytest.raises(HeadlightError, match=re.escape("The page was not written; the server's log says why.")):
        ask_worker("export_live_page", model="next", text=TEXT)
    assert "no_such_module" in capsys.readouterr().err


@pytest.mark.usefixtures("toys")
def test_nobody_waits_for_a_cancelled_page() -> None:
    with pytest.raises(Cancelled), cancellable(lambda: True):
        ask_worker("export_live_page", model="next", text=TEXT)
