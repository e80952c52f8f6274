"""Thirty visitors on one server, each typing and switching heads every few seconds for a minute.

Each has a Streamlit session of its own over a websocket, as a browser has, and asks the routes as the page's
component does. Every answer is checked to be one's own. `python -m tests.bench.classroom`
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from app.ui.wire_format import unpack
from tests.bench.measure import Times
from tests.browser.server import Server, serve

VISITORS, SECONDS, MODEL = 30, 60.0, "stories-causal"
NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal", "Ida", "Jon")
STORY = (
    "the dog ran to the big tree and the girl saw a small bird in the garden when it was raining again so "
    "they all went home and ate bread with butter until the sun came out"
)
GAP = 0.15  # seconds between two letters of a quick typist
PAUSE = (1.0, 3.0)  # seconds of looking


@dataclass
class Session:
    """One visitor: what was typed, which heads are off, and how long every answer took."""

    server: Server
    number: int
    seconds: float
    keys: list[float] = field(default_factory=list)
    switches: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)
    asked: int = 0

    def live(self) -> None:
        """A minute of typing and switching; what goes wrong is noted."""
        draw = random.Random(self.number)
        try:
            with connect(f"ws://127.0.0.1:{self.server.port}/_stcore/stream", max_size=None) as page:
                self.line = HTTPConnection("127.0.0.1", self.server.port, timeout=60)
                self.text = f"{NAMES[self.number % 10]} {self.number} saw"
                self._follow(page)
                until = time.monotonic() + self.seconds
                while time.monotonic() < until:
                    time.sleep(draw.uniform(*PAUSE))
                    self._act(draw)
                    self._follow(page)
        except Exception as error:  # the table tells it; the other visitors go on
            self.wrong.append(f"{type(error).__name__}: {error}"[:200])

    def _act(self, draw: random.Random) -> None:
        if draw.random() < 0.3:
            edit = f"decoder.{draw.randrange(6)}.self.weights[{draw.randrange(8)}]=set:0"
            self.edits = [] if self.edits else [edit]
            return self.switches.append(self._ask())
        if len(self.text.split()) > 24:
            self.text = " ".join(self.text.split()[:3])
        for letter in f" {draw.choice(STORY.split())}":
            self.text += letter
            self.keys.append(self._ask())
            time.sleep(max(0.0, GAP - self.keys[-1]))

    def _ask(self) -> float:
        """Seconds until the answer to the present question is here; notes an answer that is another's."""
        self.asked += 1
        question = {"model": MODEL, "text": self.text, "edits": self.edits, "query": -1}
        body = json.dumps(question | {"visitor": f"visitor{self.number}", "number": self.asked})
        began = time.perf_counter()
        self.line.request("POST", "/api/trace", body, {"Content-Type": "application/json"})
        answered = self.line.getresponse().read()
        took = time.perf_counter() - began
        self._check(unpack(answered)[0])
        return took

    def _check(self, meta: dict[str, Any]) -> None:
        if "error" in meta or "tokens" not in meta:
            self.wrong.append(str(meta)[:200])
        elif "".join(token["piece"] for token in meta["tokens"] if not token["special"]) != self.text:
            self.wrong.append(f"visitor {self.number} got the answer to another text")

    def _follow(self, page: Any) -> None:
        """One run of the page, as after typing has settled; notes how long it took."""
        message = BackMsg()
        state = {"model": MODEL, "text": self.text, "edits": ",".join(self.edits)}
        message.rerun_script.query_string = urlencode({name: text for name, text in state.items() if text})
        began = time.perf_counter()
        page.send(message.SerializeToString())
        while True:
            told = ForwardMsg()
            told.ParseFromString(page.recv(timeout=60))
            if told.WhichOneof("type") == "script_finished":
                break
        self.pages.append(time.perf_counter() - began)


def lines() -> Iterator[str]:
    """The table, and what went wrong."""
    with TemporaryDirectory() as folder, serve(Path(folder)) as server:
        sessions = [Session(server, number, SECONDS) for number in range(VISITORS)]
        threads = [threading.Thread(target=session.live) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    yield f"| {VISITORS} visitors, {SECONDS:.0f} seconds | count | median ms | p95 ms |"
    yield "|---|---:|---:|---:|"
    kinds = {"a letter typed -> all heads here": "keys", "a head switched -> all heads here": "switches",
             "the rest of the page follows": "pages"}  # fmt: skip
    for what, name in kinds.items():
        seconds = [one for session in sessions for one in getattr(session, name)]
        if not seconds:
            continue
        times = Times.of(seconds)
        yield f"| {what} | {len(seconds)} | {times.middle:.0f} | {times.slow:.0f} |"
    wrong = [sentence for session in sessions for sentence in session.wrong]
    yield f"\n{len(wrong)} errors or mix-ups{': ' + '; '.join(wrong[:5]) if wrong else ''}"


if __name__ == "__main__":
    print("\n".join(lines()))
