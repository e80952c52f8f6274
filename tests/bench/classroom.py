"""A class on one server: each visitor types and switches heads every few seconds.

Each visitor has a cookie and a Streamlit session over a websocket, as a browser has, and calls the routes as the page's
component does. Every answer is checked to belong to its visitor. The class grows from one visitor to three hundred;
then thirty share the server with one who sends slow requests. With `--beside` each class also visits a server of
another checkout, in turn.

`python -m tests.bench classroom [--beside CHECKOUT] [--figure FILE.svg] [--people N ...] [--seconds S]
[--workers N ...]`; `--workers` compares servers with different numbers of workers.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from tests.app.asking import body, unpack
from tests.bench.figure import Point, load_figure
from tests.bench.measure import Times, Work, at_once
from tests.browser.server import Server, serve, started

SECONDS, MODEL = 30.0, "stories-causal"
PEOPLE = (1, 10, 30, 60, 100, 300)
IN_A_ROOM, ATTACKED = " in a room", ", one attacks"
BESIDE = 30  # visitors in a room, and during an attack
PARALLEL_ATTACKS = 40  # requests that one attacker keeps in flight
NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal", "Ida", "Jon")
STORY = (
    "the dog ran to the big tree and the girl saw a small bird in the garden when it was raining again so "
    "they all went home and ate bread with butter until the sun came out"
)
GAP = 0.15  # seconds between two letters of a quick typist
PAUSE = (1.0, 3.0)  # seconds between actions
VISIT_PAUSE, LOOK_PAUSE = 5.0, 2.0  # seconds between two visits of a student, and between two polls of the teacher
ROOM_PLACES = [f"lesson/sharp-and-soft/{step}" for step in range(3)]  # of the questions that each student answers


@dataclass
class Session:
    """One visitor: the typed text, the heads switched off, and the time of every answer."""

    server: Server
    number: int
    seconds: float
    model: str = MODEL
    keys: list[float] = field(default_factory=list)
    switches: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    visits: list[float] = field(default_factory=list)  # of a room
    wrong: list[str] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)
    asked: int = 0
    seconds_here: float = 0.0  # until the last answer, which may arrive after the end
    own_seconds: float = 0.0  # of typing and pauses, without waiting for answers

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers of each request, with the visitor's cookie."""
        return self.server.new_visitor()

    def live(self) -> None:
        """Type and switch heads for `seconds`; errors are recorded."""
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
                begun = time.monotonic()
                until = begun + self.seconds
                while time.monotonic() < until:
                    pause = draw.uniform(*PAUSE)
                    self.own_seconds += pause
                    time.sleep(pause)
                    self._act(draw)
                    self.seconds_here = time.monotonic() - begun
                    self._follow(page)
        except Exception as error:  # reported below the table; the other visitors continue
            self.wrong.append(f"{type(error).__name__}: {error}"[:200])

    def _act(self, draw: random.Random) -> None:
        if draw.random() < 0.3:
            stack = "encoder" if self.model == "stories-masked" else "decoder"
            edit = f"{stack}.{draw.randrange(6)}.self.weights[{draw.randrange(8)}]=set:0"
            self.edits = [] if self.edits else [edit]
            return self.switches.append(self.ask())
        if len(self.text.split()) > 24:
            self.text = " ".join(self.text.split()[:3])
        for letter in f" {draw.choice(STORY.split())}":
            self.text += letter
            self.keys.append(self.ask())
            time.sleep(max(0.0, GAP - self.keys[-1]))

    def ask(self) -> float:
        """Seconds until the current request is answered; records an answer to another text as an error."""
        self.asked += 1
        self.own_seconds += GAP
        asked = {"model": self.model, "text": self.text, "edits": self.edits}
        order = {"client_id": f"page {self.number}", "request_number": self.asked}
        content = json.dumps(body("trace", **asked, **order))
        began = time.perf_counter()
        self.line.request("POST", "/api/trace", content, self.headers)
        answered = self.line.getresponse().read()
        took = time.perf_counter() - began
        self._check(unpack(answered)[0])
        return took

    def ask_room(self, route: str, **fields: Any) -> dict[str, Any]:
        """The answer of a room's route; records its seconds, and a refusal as an error."""
        began = time.perf_counter()
        said, _ = unpack(self.server.post(f"room_{route}", json.dumps(fields), self.headers))
        self.visits.append(time.perf_counter() - began)
        if "error" in said:
            self.wrong.append(str(said)[:200])
        return said

    def _check(self, meta: dict[str, Any]) -> None:
        if "error" in meta or "tokens" not in meta:
            self.wrong.append(str(meta)[:200])
        elif "".join(token["text"] for token in meta["tokens"] if not token["special"]) != self.text:
            self.wrong.append(f"visitor {self.number} got the answer to another text")

    def _follow(self, page: ClientConnection) -> None:
        """Rerun the page once, as after a pause in typing, and record the time."""
        state = {"model": self.model, "text": self.text, "edits": ";".join(self.edits)}
        began = time.perf_counter()
        run_page(page, urlencode({name: text for name, text in state.items() if text}), until="script_finished")
        self.pages.append(time.perf_counter() - began)


def run_page(page: ClientConnection, query: str, until: str) -> ForwardMsg:
    """Have a session run the page with a query string; returns the first message of type `until`."""
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
    """One visitor who keeps many slow requests in flight until the end."""

    server: Server
    seconds: float
    answered: int = 0

    def live(self) -> None:
        """Keep PARALLEL_ATTACKS requests in flight."""
        until = time.monotonic() + self.seconds
        at_once([partial(self._ask, number, until) for number in range(PARALLEL_ATTACKS)])

    def _ask(self, number: int, until: float) -> None:
        words = f"attack {number} " + STORY
        questions = (
            ("trace", {"text": words * 1_200}),
            ("analysis_step", {"text": (words * 8)[:1_000], "analysis": "head_ablation"}),
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


def lines(
    beside: str = "",
    people: Sequence[int] = PEOPLE,
    seconds: float = SECONDS,
    figure: str = "",
    workers: Sequence[int] = (),
) -> Iterator[str]:
    """The table, then the errors; the figure is written to a file."""
    here = str(Path(__file__).parents[2])
    servers: dict[str, tuple[str, tuple[str, ...]]]
    servers = {f"{number} workers": (here, ("--workers", str(number))) for number in workers}
    servers = servers or {"now": (here, ())}
    servers |= {"before": (str(Path(beside).resolve()), ())} if beside else {}
    head = "| visitors | | letters | median ms | p95 ms | offered a second | answered a second | "
    yield head + "rest of the page | server ms a letter | workers ms a letter |"
    yield "|---:|---|" + "---:|" * 8
    wrong: list[str] = []
    points: dict[str, list[Point]] = {name: [] for name in servers}
    for visitors, besides in [*((number, "") for number in people), (BESIDE, IN_A_ROOM), (BESIDE, ATTACKED)]:
        for name, (folder, options) in servers.items():
            if besides == IN_A_ROOM and not Path(folder, "app/headlight_app/room").exists():
                continue  # an older checkout has no rooms
            spent: list[float] = []
            sessions = attend(visitors, besides, options, seconds, folder, spent)
            point = Point(visitors, *_loads(sessions))
            points[name] += [point] * (not besides)
            yield _row(f"{visitors}{besides}", name, sessions, point, spent)
            wrong += [sentence for session in sessions for sentence in session.wrong]
            if figure:
                Path(figure).write_text(load_figure(points), encoding="utf-8")
    yield f"\n{len(wrong)} errors or mix-ups{': ' + '; '.join(wrong[:5]) if wrong else ''}"


def in_a_room(teacher: Session, students: Sequence[Session]) -> list[Work]:
    """The room's requests: students report their location and answer questions, the teacher polls the panel."""
    code = teacher.ask_room("open", view={})["code"]
    teacher.ask_room("panel", code=code, admit=True)  # all students have the same IP address
    for student in students:
        student.ask_room("visit", code=code)

    def visit(student: Session) -> None:
        until = time.monotonic() + student.seconds
        for number in count():
            student.ask_room("visit", code=code, place=ROOM_PLACES[0])
            if number < len(ROOM_PLACES):
                student.ask_room("answer", code=code, place=ROOM_PLACES[number], answer=str(student.number % 4))
            if time.monotonic() > until:
                return
            time.sleep(VISIT_PAUSE)

    def look() -> None:
        until = time.monotonic() + teacher.seconds + VISIT_PAUSE
        while time.monotonic() < until:
            time.sleep(LOOK_PAUSE)
            seen = teacher.ask_room("panel", code=code)
        answers = [sum(one["count"] for one in question["answers"]) for question in seen["questions"]]
        if answers != [len(students)] * len(ROOM_PLACES):
            students[0].wrong.append(f"the teacher sees {answers} answers")

    return [look, *(partial(visit, student) for student in students)]


def _loads(sessions: Sequence[Session]) -> tuple[float, float]:
    """Requests a second if answers took no time, and requests answered a second."""
    active = [session for session in sessions if session.asked and session.seconds_here]
    offered = sum(session.asked / session.own_seconds for session in active)
    return offered, sum(session.asked / session.seconds_here for session in active)


def _row(who: str, which: str, sessions: Sequence[Session], point: Point, spent: Sequence[float]) -> str:
    letters, pages = ([one for session in sessions for one in getattr(session, name)] for name in ("keys", "pages"))
    typed, followed = Times.of(letters or [0.0]), Times.of(pages or [0.0])
    cells = (
        who,
        which,
        len(letters),
        f"{typed.middle:.0f}",
        f"{typed.slow:.0f}",
        f"{point.offered:.0f}",
        f"{point.answered:.0f}",
        f"{followed.middle:.0f} / {followed.slow:.0f}",
        *(f"{1e3 * seconds / max(1, sum(session.asked for session in sessions)):.1f}" for seconds in spent),
    )
    return f"| {' | '.join(map(str, cells))} |"


def attend(
    visitors: int,
    besides: str = "",
    options: Sequence[str] = (),
    seconds: float = SECONDS,
    checkout: str = "",
    spent: list[float] | None = None,
) -> list[Session]:
    """Run `visitors` sessions to the end on a new server of a checkout, started with further options.

    `besides` is a concurrent load: IN_A_ROOM or ATTACKED. `spent` receives the processor seconds of the server, and of
    its workers.
    """
    with TemporaryDirectory() as folder, _serve(Path(folder), checkout, options) as server:
        sessions = [Session(server, number, seconds) for number in range(visitors)]
        before = _processor_seconds(server)
        others: list[Work] = [Attacker(server, seconds).live] * (besides == ATTACKED)
        if besides == IN_A_ROOM:
            others += in_a_room(Session(server, visitors, seconds), sessions)
        at_once([session.live for session in sessions] + others)
        if spent is not None:
            spent += [now - then for now, then in zip(_processor_seconds(server), before, strict=True)]
    return sessions


def _processor_seconds(server: Server) -> tuple[float, float]:
    """The processor seconds of a server, and of its workers."""
    process = psutil.Process(server.pid)
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    first, *others = [time.user + time.system for time in times]
    return first, sum(others)


def _serve(folder: Path, checkout: str, options: Sequence[str]) -> AbstractContextManager[Server]:
    if not checkout:
        return serve(folder, *options)
    path = os.pathsep.join(str(Path(checkout, part)) for part in ("model", "app", "."))
    command = ("env", f"PYTHONPATH={path}", sys.executable, "-P", "-m", "headlight_app", "--no-browser", "--shared")
    return started(folder, *command, *options, "--port")


def rows(who: str, sessions: Sequence[Session]) -> Iterator[str]:
    """A row of times for each kind of request, over all sessions."""
    kinds = {"a letter typed -> all heads here": "keys", "a head switched -> all heads here": "switches",
             "the rest of the page follows": "pages", "a visit of the room, or an answer": "visits"}  # fmt: skip
    for what, name in kinds.items():
        seconds = [one for session in sessions for one in getattr(session, name)]
        if seconds:
            times = Times.of(seconds)
            yield f"| {who} | {what} | {len(seconds)} | {times.middle:.0f} | {times.slow:.0f} |"


def main(arguments: Sequence[str]) -> None:
    """`python -m tests.bench classroom` with its options."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench classroom", description=__doc__)
    parser.add_argument("--beside", default="", metavar="CHECKOUT")
    parser.add_argument("--figure", default="", metavar="FILE")
    parser.add_argument("--people", type=int, nargs="+", default=PEOPLE)
    parser.add_argument("--workers", type=int, nargs="+", default=())
    parser.add_argument("--seconds", type=float, default=SECONDS)
    for line in lines(**vars(parser.parse_args(arguments))):
        print(line, flush=True)
