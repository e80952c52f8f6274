"""A stranger with many cookies of one address beside others, on a running server."""

import json
import threading
from contextlib import closing
from http.client import HTTPConnection
from itertools import count
from pathlib import Path

from tests.app.asking import body, unpack
from tests.browser.server import Server, serve

CROWD, LETTERS, PATIENCE = 38, 30, 120.0
TYPED, STRANGER = "127.0.0.1", "127.0.0.9"  # addresses


def line_from(server: Server, address: str) -> HTTPConnection:
    return HTTPConnection(TYPED, server.port, timeout=PATIENCE, source_address=(address, 0))


def compare_without_end(server: Server, headers: dict[str, str], numbers: "count[int]", ended: threading.Event) -> None:
    """Ask for one comparison of long texts after the other."""
    with closing(line_from(server, STRANGER)) as line:
        while not ended.is_set():
            text = f"{next(numbers)} " + "the dog ran to the big tree " * 17
            sides = [{"model": "stories-causal", "text": text + word} for word in ("cat", "bird")]
            line.request("POST", "/api/compare", json.dumps(body("compare", sides=sides)), headers)
            line.getresponse().read()


def test_long_questions_of_a_crowd_at_one_address_leave_the_letters_of_others_their_turns(tmp_path: Path) -> None:
    with serve(tmp_path, "--shared") as server, closing(line_from(server, TYPED)) as line:
        numbers, ended = count(), threading.Event()
        typist = server.new_visitor()
        threads = [
            threading.Thread(target=compare_without_end, args=(server, server.new_visitor(), numbers, ended))
            for _ in range(CROWD)
        ]
        for thread in threads:
            thread.start()
        try:
            asked = []
            for length in range(LETTERS):
                text = "the cat saw a small bird in the garden"[: 3 + length]
                line.request("POST", "/api/trace", json.dumps(body("trace", model="stories-causal", text=text)), typist)
                assert "tokens" in unpack(line.getresponse().read())[0]
                asked.append(next(numbers))
        finally:
            ended.set()
            for thread in threads:
                thread.join(PATIENCE)
    between = (asked[-1] - asked[LETTERS // 2]) / (LETTERS - 1 - LETTERS // 2)
    assert between < CROWD / 4, f"{between:.0f} comparisons were answered for each letter"
