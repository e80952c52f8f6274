"""A class on one server: everybody types and switches heads every few seconds for a minute.

Each has a cookie and a Streamlit session of their own over a websocket, as a browser has, and asks the routes as the
page's component does. Every answer is checked to be one's own. Thirty visitors, thirty beside one who asks for all that
is slow, and a hundred. `python -m tests.bench classroom`
"""

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from tests.app.asking import body, unpack
from tests.bench.measure import Times, at_once
from tests.browser.server import Server, serve

SECONDS, MODEL = 60.0, "stories-causal"
CLASSES = ((30, False), (30, True), (100, False))  # how many there are, and whether somebody attacks
PARALLEL_ATTACKS = 40  # questions that one attacker has under way at a time
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
    model: str = MODEL
    keys: list[float] = field(default_factory=list)
    switches: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)
    asked: int = 0

    @cached_property
    def headers(self) -> dict[str, str]:
        """Of each request: the cookie tells one visitor from another."""
        return self.server.new_visitor()

    def live(self) -> None:
        """A minute of typing and switching; what goes wrong is noted."""
        draw = random.Random(self.number)
        try:
            with connect(
                f"ws://127.0.0.1:{self.server.port}/_stcore/stream",
                max_size=None,
                additional_headers={"Cookie": self.headers["Cookie"]},
            ) as page:
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
            stack = "encoder" if self.model == "stories-masked" else "decoder"
            edit = f"{stack}.{draw.randrange(6)}.self.weights[{draw.randrange(8)}]=set:0"
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
        asked = {"model": self.model, "text": self.text, "edits": self.edits}
        order = {"client_id": f"page {self.number}", "request_number": self.asked}
        content = json.dumps(body("trace", **asked, **order))
        began = time.perf_counter()
        self.line.request("POST", "/api/trace", content, self.headers)
        answered = self.line.getresponse().read()
        took = time.perf_counter() - began
        self._check(unpack(answered)[0])
        return took

    def _check(self, meta: dict[str, Any]) -> None:
        if "error" in meta or "tokens" not in meta:
            self.wrong.append(str(meta)[:200])
        elif "".join(token["text"] for token in meta["tokens"] if not token["special"]) != self.text:
            self.wrong.append(f"visitor {self.number} got the answer to another text")

    def _follow(self, page: ClientConnection) -> None:
        """One run of the page, as after typing has settled; notes how long it took."""
        state = {"model": self.model, "text": self.text, "edits": ";".join(self.edits)}
        began = time.perf_counter()
        run_page(page, urlencode({name: text for name, text in state.items() if text}), until="script_finished")
        self.pages.append(time.perf_counter() - began)


def run_page(page: ClientConnection, query: str, until: str) -> ForwardMsg:
    """Have a session run the page at an address; the first message of the kind `until`."""
    message = BackMsg()
    message.rerun_script.query_string = query
    page.send(message.SerializeToString())
    while True:
        told = ForwardMsg()
        told.ParseFromString(page.recv(timeout=60, decode=False))
        if told.WhichOneof("type") == until:
            return told


@dataclass
class Attacker:
    """One visitor who asks for what is slow, many times at once, until it is over."""

    server: Server
    seconds: float
    answered: int = 0

    def live(self) -> None:
        """Keep PARALLEL_ATTACKS questions under way."""
        until = time.monotonic() + self.seconds
        at_once([partial(self._ask, number, until) for number in range(PARALLEL_ATTACKS)])

    def _ask(self, number: int, until: float) -> None:
        words = f"attack {number} " + STORY
        questions = (
            ("trace", {"text": words * 1_200}),
            ("head_ablation", {"text": (words * 8)[:1_000], "attention": "decoder.0.self"}),
            ("trace", {"text": (words * 8)[:1_000]}),
            ("information_flow", {"text": words, "threshold": 1e-4}),
        )
        headers = self.server.new_visitor()
        while time.monotonic() < until:
            route, question = random.choice(questions)
            content = json.dumps(body(route, model=MODEL, **question))
            try:
                self.server.post(route, content, headers, patience=600)
                self.answered += 1
            except OSError:
                time.sleep(0.1)


def lines() -> Iterator[str]:
    """The table, and what went wrong."""
    yield "| | what | count | median ms | p95 ms |"
    yield "|---|---|---:|---:|---:|"
    wrong: list[str] = []
    for visitors, attacked in CLASSES:
        sessions = attend(visitors, attacked)
        yield from rows(f"{visitors} visitors{', one attacks' if attacked else ''}", sessions)
        wrong += [sentence for session in sessions for sentence in session.wrong]
    yield f"\n{len(wrong)} errors or mix-ups{': ' + '; '.join(wrong[:5]) if wrong else ''}"


def attend(visitors: int, attacked: bool = False, options: Sequence[str] = ()) -> list[Session]:
    """Have so many on a new server, started with further options, until they have gone."""
    with TemporaryDirectory() as folder, serve(Path(folder), *options) as server:
        sessions = [Session(server, number, SECONDS) for number in range(visitors)]
        at_once([session.live for session in sessions] + [Attacker(server, SECONDS).live] * attacked)
    return sessions


def rows(who: str, sessions: Sequence[Session]) -> Iterator[str]:
    """How long each kind of thing took, for all together."""
    kinds = {"a letter typed -> all heads here": "keys", "a head switched -> all heads here": "switches",
             "the rest of the page follows": "pages"}  # fmt: skip
    for what, name in kinds.items():
        seconds = [one for session in sessions for one in getattr(session, name)]
        if seconds:
            times = Times.of(seconds)
            yield f"| {who} | {what} | {len(seconds)} | {times.middle:.0f} | {times.slow:.0f} |"
