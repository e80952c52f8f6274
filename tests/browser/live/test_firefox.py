"""A live page in Firefox, where one is installed."""

import json
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest

from headlight import Checkpoint
from tests.browser.live import firefox
from tests.browser.live.firefox import END, Firefox
from tests.browser.live.test_live import OFF, SENTENCE, TYPED, expect_computed
from tests.browser.visitor import TOO_WIDE

PAINTED = """get("instrument")?.dataset.sentence === {sentence} && get("changes").innerText.trim() === {changes}
    && all(".instrument.waiting").length === 0"""
TITLES = """all("[data-testid=predictions] .candidate").map((each) => each.title)"""
TOKENS = """all("[data-testid=predictions] [data-target]").map((each) => each.dataset.target)"""


@pytest.fixture
def window() -> Iterator[Firefox]:
    """A Firefox without a network, in which nothing but the file's own data may be asked for."""
    if (path := firefox.find()) is None:
        pytest.skip("No Firefox was found. Install it (Debian: apt-get install firefox-esr) to test live pages in it.")
    with firefox.launched(path) as opened:
        yield opened
        assert not [url for url in opened.asked if not url.startswith(("data:", "blob:null/"))]
        assert not opened.errors


def expect_answer(
    window: Firefox, checkpoint: Checkpoint, text: str, changes: str, edits: tuple[str, ...] = (), **parts: str
) -> None:
    """Waits until the answer for a text and its changes is painted; it shows what `run` computes."""
    window.wait(PAINTED.format(sentence=json.dumps(text), changes=json.dumps(changes)))
    expect_computed(window.read(TITLES), window.read(TOKENS), checkpoint, text, edits, **parts)


def test_firefox_computes_what_run_computes(window: Firefox, file: Path, checkpoint: Checkpoint) -> None:
    window.on_screen(1440, 900)
    window.open(file.as_uri())
    expect_answer(window, checkpoint, SENTENCE, "No changes")
    text = SENTENCE + TYPED
    window.click("sentence")
    window.type(END, 0)
    window.type(TYPED, 100)
    expect_answer(window, checkpoint, text, "No changes")
    window.click("head-switch")
    expect_answer(window, checkpoint, text, "1 change", (OFF,))
    window.choose("variant-masks", "none")
    expect_answer(window, checkpoint, text, "2 changes", (OFF,), masks="none")
    sleep(1.1)  # parts replaced within a second are one change
    window.choose("variant-positional_encoding", "none")
    expect_answer(window, checkpoint, text, "3 changes", (OFF,), masks="none", positional_encoding="none")
    window.click("undo")
    expect_answer(window, checkpoint, text, "2 changes", (OFF,), masks="none")
    window.click("undo")
    expect_answer(window, checkpoint, text, "1 change", (OFF,))
    window.click("undo")
    expect_answer(window, checkpoint, text, "No changes")
    for width, height in ((1440, 900), (390, 844)):
        window.on_screen(width, height)
        assert window.read(TOO_WIDE) <= 0
