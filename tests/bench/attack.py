"""Thirty people type on a shared server while one attacks it, in each of several ways: `python -m tests.bench attack`.

Each row is a server of its own; the first has no attacker. What counts is how long the others wait for a letter.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from headlight_app.access.visitor import cookie_name
from tests.app.asking import body, unpack
from tests.app.worker.hostile_requests import hostile_content
from tests.bench.classroom import MODEL, STORY, Session
from tests.bench.measure import Times
from tests.bench.memory import descendants
from tests.browser.server import Server, serve

SECONDS, VISITORS, PARALLEL = 20.0, 30, 20
Attack = Callable[[Server, int], None]  # one step of one of PARALLEL threads, by a number that counts steps
JSON = {"Content-Type": "application/json"}


def post(server: Server, route: str, content: bytes | str, headers: dict[str, str]) -> bytes:
    """The answer of a route."""
    line = HTTPConnection("127.0.0.1", server.port, timeout=120)
    try:
        line.request("POST", f"/api/{route}", content, headers)
        return line.getresponse().read()
    finally:
        line.close()


def slow_question(number: int) -> str:
    """A question that takes a while, and that no cache holds."""
    return json.dumps(body("trace", model=MODEL, text=f"attack {number} {STORY * 8}"[:1_000]))


def immense_counts(server: Server, number: int) -> None:
    """A profile of a thousand million positions."""
    post(server, "position_profile", json.dumps(body("position_profile", model=MODEL, length=10**9)), JSON)


def long_screens(server: Server, number: int) -> None:
    """A course screen that trains a model, asked through the route of short ones."""
    asked = {"chapter": "block", "screen": "gradients", "inputs": {"seed": str(number % 9_999)}}
    post(server, "course_screen", json.dumps(asked), server.new_visitor() if number < PARALLEL else JSON)


def made_up_cookies(server: Server, number: int) -> None:
    """Each question in the name of another visitor, who never was here."""
    post(server, "trace", slow_question(number), JSON | {"Cookie": f"{cookie_name()}=visitor-{number}"})


def fetched_cookies(server: Server, number: int) -> None:
    """Each question in the name of another visitor, who has fetched the page for it."""
    with suppress(AttributeError):  # no cookie is given any more
        post(server, "trace", slow_question(number), server.new_visitor())


def pictures(server: Server, number: int) -> None:
    """Each picture by another visitor, and a question about it."""
    headers = server.new_visitor()
    answer = post(server, "image", picture(), headers | {"Content-Type": "image/png"})
    name = unpack(answer)[0].get("name", "")
    post(server, "trace", json.dumps(body("trace", model="tiny-vit", image=name)), headers)


def picture() -> bytes:
    """A PNG of random colours."""
    rows = b"".join(b"\0" + os.urandom(64 * 3) for _ in range(64))
    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def slow_uploads(server: Server, number: int) -> None:
    """A file that is announced as large and arrives byte by byte."""
    headers = server.new_visitor()
    with connect(
        f"ws://127.0.0.1:{server.port}/_stcore/stream", additional_headers={"Cookie": headers["Cookie"]}
    ) as page:
        session = opened_session(page)
        head = f"PUT /_stcore/upload_file/{session}/{uuid4()} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(f"{head}Content-Length: {400 << 20}\r\nCookie: {headers['Cookie']}\r\n\r\n".encode())
            for _ in range(10):
                line.sendall(b"x")
                time.sleep(0.5)


def opened_session(page: object) -> str:
    """The name of a session of the page, once its first run has begun."""
    message = BackMsg()
    message.rerun_script.query_string = ""
    page.send(message.SerializeToString())  # type: ignore[attr-defined]
    while True:
        told = ForwardMsg()
        told.ParseFromString(page.recv(timeout=60))  # type: ignore[attr-defined]
        if told.WhichOneof("type") == "new_session":
            return str(told.new_session.initialize.session_id)


def stopped_workers(server: Server, number: int) -> None:
    """A process that answers is stopped, now and then."""
    if number == 0:
        os.kill(next(descendants(server.pid)), signal.SIGSTOP)
    time.sleep(5)


def hostile_questions(server: Server, number: int) -> None:
    """Whatever a generator of hostile questions makes."""
    route, content = hostile_content(number)
    post(server, route, content, server.new_visitor() if number < PARALLEL else JSON)


def idle_sessions(server: Server, number: int) -> None:
    """Many sessions of the page that do nothing but begin."""
    with connect(f"ws://127.0.0.1:{server.port}/_stcore/stream") as page:
        opened_session(page)
        time.sleep(1)


ATTACKS: dict[str, Attack | None] = {
    "nobody attacks": None,
    "immense counts": immense_counts,
    "long course screens through the short route": long_screens,
    "made-up cookies": made_up_cookies,
    "a fetched cookie for each question": fetched_cookies,
    "pictures of new visitors": pictures,
    "slow uploads": slow_uploads,
    "a worker stopped": stopped_workers,
    "hostile questions": hostile_questions,
    "sessions that only begin": idle_sessions,
}


def lines() -> Iterator[str]:
    """The table: letters while each attack goes on, beside those without one."""
    yield "| | letters | median ms | p95 ms | median, ratio | p95, ratio | errors |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    calm: Times | None = None
    for name, attack in ATTACKS.items():
        sessions = attend(attack)
        times = Times.of([key for session in sessions for key in session.keys])
        calm = calm or times
        wrong = [sentence for session in sessions for sentence in session.wrong]
        ratios = f"{times.middle / calm.middle:.2f} | {times.slow / calm.slow:.2f}"
        letters = sum(len(session.keys) for session in sessions)
        yield f"| {name} | {letters} | {times.middle:.0f} | {times.slow:.0f} | {ratios} | {len(wrong)} |"
        if wrong:
            yield f"\n{wrong[0]}\n"


def attend(attack: Attack | None) -> list[Session]:
    """Have VISITORS type on a new shared server, beside an attacker."""
    with TemporaryDirectory() as folder, serve(Path(folder), "--shared") as server:
        over, numbers = threading.Event(), count()
        sessions = [Session(server, number, SECONDS) for number in range(VISITORS)]
        people = [threading.Thread(target=session.live) for session in sessions]
        work = partial(_repeat, attack, server, numbers, over) if attack else None
        attackers = [threading.Thread(target=work) for _ in range(PARALLEL)] if work else []
        for thread in (*people, *attackers):
            thread.start()
        for thread in people:
            thread.join()
        over.set()
        for thread in attackers:
            thread.join(30)
    return sessions


def _repeat(attack: Attack, server: Server, numbers: Iterator[int], over: threading.Event) -> None:
    while not over.is_set():
        try:
            attack(server, next(numbers))
        except (OSError, URLError, HTTPException, WebSocketException, EOFError):
            time.sleep(0.1)  # refused, as it should be
