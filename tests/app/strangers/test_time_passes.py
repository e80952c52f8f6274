"""What the server keeps is gone once its time is over, and once a server has been killed."""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.app.strangers import quick_server
from tests.app.strangers.conftest import Newcomer
from tests.app.strangers.visitor import HTML, Stranger
from tests.browser.server import started
from tests.zips import files_of, zipped

QUICK = (sys.executable, quick_server.__file__, "--no-browser", "--shared", "--port")


def wait_until(is_done: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something that the server does by itself."""
    until = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.1)


@pytest.mark.full
def test_uploads_and_rooms_end_as_time_passes_and_the_next_server_deletes_those_of_a_killed_one(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    checkpoint = zipped(files_of(toys / "next"), top="")

    def stored() -> int:
        return len(list(tmp_path.glob("headlight-stored-*/*")))

    with pytest.raises(AssertionError, match="ended with -9"), started(tmp_path, *QUICK) as server:
        here, leaves = (Stranger(server, address).arrive() for address in ("127.0.0.2", "127.0.0.3"))
        with here.open() as page:
            kept = page.upload("kept.zip", checkpoint)
            with leaves.open() as other:
                gone = other.upload("gone.zip", checkpoint)
                assert stored() == 2
                begun = time.monotonic()
                room = leaves.ask("room_open", view={})["code"]
                assert leaves.send("GET", f"/room/{room}", **HTML).headers["location"] == "../"
            wait_until(lambda: stored() == 1)
            assert time.monotonic() - begun > quick_server.GRACE_SECONDS
            assert "belong to the browser" in leaves.ask("trace", question={"model": gone, "text": "a"})["error"]
            assert "tokens" in here.ask("trace", question={"model": kept, "text": "the cat"}), (
                "whoever is here keeps it"
            )
            wait_until(lambda: "error" in leaves.ask("room_panel", code=room))
            assert time.monotonic() - begun > quick_server.ROOM_SECONDS
            assert "error" in here.ask("room_visit", code=room)
            old = here.cookie
            os.kill(server.pid, signal.SIGKILL)
            wait_until(lambda: not answers(server.port))
            assert stored() == 1
    with started(tmp_path, *QUICK) as server:
        assert not list(tmp_path.glob("headlight-stored-*")), "before the first visitor is served"
        assert (
            "uploads belong"
            in Stranger(server, cookie=old).ask("trace", question={"model": kept, "text": "a"})["error"]
        )
    assert not list(tmp_path.glob("headlight-*"))


def answers(port: int) -> bool:
    """Whether a server accepts connections."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as line:
        try:
            line.connect()
        except OSError:
            return False
    return True


def test_a_page_keeps_for_many_runs_what_a_waiting_request_has_named(newcomer: Newcomer) -> None:
    with newcomer().open() as page:
        (begun,) = (each.new_session for each in page.run() if each.WhichOneof("type") == "new_session")
    assert begun.config.max_cached_message_age > 10
