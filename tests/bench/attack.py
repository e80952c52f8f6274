"""Thirty visitors type on a shared server during each of several attacks.

`python -m tests.bench attack`, or `attack --seconds 8 --visitors 10 "made-up cookies"` for some of them.

Measured is the time that the thirty wait for a letter. Runs with and without the attack alternate, because the speed of
a machine varies, and each run has a new server.
"""

import argparse
import json
import os
import signal
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from itertools import count
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from headlight_app.access.visitor import cookie_name
from tests.app.asking import body, unpack
from tests.app.worker.hostile_requests import hostile_content
from tests.bench.classroom import MODEL, STORY, Session, run_page
from tests.bench.measure import Times, at_once
from tests.bench.memory import descendants
from tests.browser.server import Server, serve

PARALLEL, CALM = 20, "nobody attacks"
Attack = Callable[[Server, int], None]  # one numbered step of one of PARALLEL threads
JSON = {"Content-Type": "application/json"}


def slow_question(number: int) -> str:
    """A slow request that is in no cache."""
    return json.dumps(body("trace", model=MODEL, text=f"attack {number} {STORY * 8}"[:1_000]))


def immense_counts(server: Server, number: int) -> None:
    """A profile of a billion positions."""
    server.post("position_profile", json.dumps(body("position_profile", model=MODEL, length=10**9)), JSON)


def long_screens(server: Server, number: int) -> None:
    """A course screen that trains a model, requested through the route for short ones."""
    asked = {"chapter": "block", "screen": "gradients", "inputs": {"seed": str(number % 9_999)}}
    server.post("course_screen", json.dumps(asked), server.new_visitor() if number < PARALLEL else JSON)


def made_up_cookies(server: Server, number: int) -> None:
    """Each request with the made-up cookie of another visitor."""
    server.post("trace", slow_question(number), JSON | {"Cookie": f"{cookie_name()}=visitor-{number}"})


def fetched_cookies(server: Server, number: int) -> None:
    """Each request with a new cookie, fetched with the page."""
    server.post("trace", slow_question(number), server.new_visitor())


def long_comparisons(server: Server, number: int) -> None:
    """Each new visitor compares two texts of 500 characters."""
    sides = [{"model": MODEL, "text": f"{number} {STORY * 4}"[: 500 - side]} for side in range(2)]
    server.post("compare", json.dumps(body("compare", sides=sides)), server.new_visitor())


def pictures(server: Server, number: int) -> None:
    """Each new visitor uploads a picture and requests its trace."""
    headers = server.new_visitor()
    answer = server.post("image", picture(), headers | {"Content-Type": "image/png"})
    name = unpack(answer)[0].get("name", "")
    server.post("trace", json.dumps(body("trace", model="caption", image=name)), headers)


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
    """An upload with a large Content-Length whose bytes arrive one at a time."""
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


def opened_session(page: ClientConnection) -> str:
    """The id of a session of the page, once its first run has begun."""
    return str(run_page(page, "", until="new_session").new_session.initialize.session_id)


def stopped_workers(server: Server, number: int) -> None:
    """Stop one worker process with SIGSTOP, once."""
    if number == 0:
        os.kill(next(descendants(server.pid)), signal.SIGSTOP)
    time.sleep(5)


def hostile_questions(server: Server, number: int) -> None:
    """A request from the generator of hostile requests."""
    route, content = hostile_content(number)
    server.post(route, content, server.new_visitor() if number < PARALLEL else JSON)


def idle_sessions(server: Server, number: int) -> None:
    """Many sessions of the page that only connect."""
    with connect(f"ws://127.0.0.1:{server.port}/_stcore/stream") as page:
        opened_session(page)
        time.sleep(1)


def flooded_sessions(server: Server, number: int) -> None:
    """A session that requests one page rerun after another and reads no results."""
    message = BackMsg()
    message.rerun_script.query_string = "text=" + "x" * 5_000
    headers = {"Cookie": server.new_visitor()["Cookie"]}
    with connect(f"ws://127.0.0.1:{server.port}/_stcore/stream", additional_headers=headers) as page:
        for _ in range(1_000):
            page.send(message.SerializeToString())


def unread_answers(server: Server, number: int) -> None:
    """Large answers, requested and then read byte by byte."""
    content = slow_question(number).encode()
    head = f"POST /api/trace HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{'X: ' + 'y' * 8_000}\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
        line.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        for _ in range(10):
            line.recv(1)
            time.sleep(0.2)


ATTACKS: dict[str, Attack] = {
    "immense counts": immense_counts,
    "long course screens through the short route": long_screens,
    "made-up cookies": made_up_cookies,
    "a fetched cookie for each question": fetched_cookies,
    "comparisons of new visitors": long_comparisons,
    "pictures of new visitors": pictures,
    "slow uploads": slow_uploads,
    "a worker stopped": stopped_workers,
    "hostile questions": hostile_questions,
    "sessions that only begin": idle_sessions,
    "sessions flooded with messages": flooded_sessions,
    "answers that are not read": unread_answers,
}


def lines(seconds: float, visitors: int, turns: int, names: Sequence[str]) -> Iterator[str]:
    """The table: times of letters during each attack, compared with those of alternating runs without one."""
    yield f"| {visitors} type while one | letters | a letter, median / p95 | without, median / p95 | ratio | errors |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name in names:
        pairs = [(attend(CALM, seconds, visitors), attend(name, seconds, visitors)) for _ in range(turns)]
        calm, attacked = ([one for group in groups for one in group] for groups in zip(*pairs, strict=True))
        letters = [key for session in attacked for key in session.keys]
        times, without = Times.of(letters), Times.of([key for session in calm for key in session.keys])
        wrong = [sentence for session in (*calm, *attacked) for sentence in session.wrong]
        shown = " | ".join(f"{each.middle:.0f} / {each.slow:.0f} ms" for each in (times, without))
        ratio = f"{times.middle / without.middle:.2f} / {times.slow / without.slow:.2f}"
        yield f"| {name} | {len(letters)} | {shown} | {ratio} | {len(wrong)} |"
        if wrong:
            yield f"\n{wrong[0]}\n"


def attend(name: str, seconds: float, visitors: int) -> list[Session]:
    """Have visitors type on a new shared server, with an attacker in a separate process."""
    with TemporaryDirectory() as folder, serve(Path(folder), "--shared") as server:
        sessions = [Session(server, number, seconds) for number in range(visitors)]
        context = get_context("spawn")
        ready = context.Event()
        attacker = context.Process(target=attack, args=(name, server, ready), daemon=True)
        if name != CALM:
            attacker.start()
            ready.wait()  # its imports take seconds of processor time, and are not part of the attack
        at_once([session.live for session in sessions])
        if name != CALM:
            attacker.kill()
            attacker.join()
    return sessions


def attack(name: str, server: Server, ready: Event) -> None:
    """Attack from PARALLEL threads until the process is killed; at low priority, as if from another machine."""
    os.nice(19)
    numbers = count()
    ready.set()
    for _ in range(PARALLEL):
        threading.Thread(target=_repeat, args=(ATTACKS[name], server, numbers)).start()


def _repeat(step: Attack, server: Server, numbers: Iterator[int]) -> None:
    while True:
        try:
            step(server, next(numbers))
        except (OSError, URLError, HTTPException, WebSocketException, EOFError, AttributeError):
            time.sleep(0.1)  # refused as intended: no answer, or a page without a cookie


def main(arguments: Sequence[str]) -> None:
    """`python -m tests.bench attack [--seconds N] [--visitors N] [--turns N] [ATTACK ...]`."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench attack", description=__doc__)
    parser.add_argument("attacks", nargs="*", choices=[[], *ATTACKS], help="the attacks to run (default: all)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each turn")
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--turns", type=int, default=2, help="runs with each attack, and as many without")
    options = parser.parse_args(arguments)
    for line in lines(options.seconds, options.visitors, options.turns, options.attacks or list(ATTACKS)):
        print(line, flush=True)
