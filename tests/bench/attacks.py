"""The attacks of `python -m tests.bench attack`: functions that send one numbered step to a server.

Those of the first table come from the address of the class, where no limit of an address helps; the others from another
address.
"""

import json
import os
import signal
import socket
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from random import Random
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.sync.client import ClientConnection, connect

from headlight_app.access.visitor import cookie_name
from headlight_app.contract.views import MAX_KNOWN
from headlight_app.server.connections.sessions import MAX_STATES
from tests.app.asking import body, unpack
from tests.app.worker.hostile_requests import hostile_content
from tests.bench.classroom import MODEL, STORY, run_page
from tests.bench.memory import descendants
from tests.browser.server import Server

PARALLEL = 20  # threads of an attacker
Attack = Callable[[Server, int], None]  # one numbered step of one of them
JSON = {"Content-Type": "application/json"}
STRANGER = ("127.0.0.9", 0)  # an address beside that of the class
MEGABYTE = 1 << 20
PATIENCE = 60.0


def slow_question(number: int) -> str:
    """A slow request that is in no cache."""
    return json.dumps(body("trace", model=MODEL, text=f"attack {number} {STORY * 8}"[:1_000]))


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


FROM_THE_CLASS: dict[str, Attack] = {
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


def new_stranger(server: Server) -> dict[str, str]:
    """JSON headers with a cookie that the other address has fetched."""
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE, source_address=STRANGER)) as line:
        line.request("GET", "/", headers={"Accept": "text/html"})
        answer = line.getresponse()
        answer.read()
        return JSON | {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


def stranger_post(server: Server, route: str, content: bytes | str, headers: dict[str, str]) -> bytes:
    """The answer of a route to the other address."""
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE, source_address=STRANGER)) as line:
        line.request("POST", f"/api/{route}", content, headers)
        return line.getresponse().read()


def stranger_line(server: Server, *parts: bytes) -> socket.socket:
    """A connection of the other address over which these bytes were sent."""
    line = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE, source_address=STRANGER)
    for part in parts:
        line.sendall(part)
    return line


def stranger_page(server: Server, headers: dict[str, str] | None = None) -> ClientConnection:
    """A session of the page, of a visitor at the other address; of a new one without `headers`."""
    cookie = {"Cookie": (headers or new_stranger(server))["Cookie"]}
    address = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    return connect(address, additional_headers=cookie, max_size=None, source_address=STRANGER)


def large_cookies(server: Server, number: int) -> None:
    """Headers with a cookie of 20 MB."""
    with closing(stranger_line(server, GET + b"Cookie: " + b"a=1;" * (5 * MEGABYTE))) as line:
        line.recv(1 << 16)


def endless_headers(server: Server, number: int) -> None:
    """Fifty connections whose headers never end."""
    with ExitStack() as lines:
        opened = [lines.enter_context(closing(stranger_line(server, GET + b"X: " + b"y" * 9_000))) for _ in range(50)]
        for line in opened * 8:
            line.sendall(b"z")
            time.sleep(0.02)


def widget_states(number: int, query: str = "") -> bytes:
    """A message with the states of so many widgets."""
    message, state = BackMsg(), BackMsg()
    message.rerun_script.query_string = query
    state.rerun_script.widget_states.widgets.add(id="$$ID-1", bool_value=True)
    return bytes(message.SerializeToString() + state.SerializeToString() * number)  # a parser joins the lists


def large_messages(server: Server, number: int) -> None:
    """A WebSocket message of 38 MB with 2.4 million widget states."""
    with stranger_page(server) as page:
        page.send(widget_states(2_400_000))
        page.recv(timeout=PATIENCE)


def many_widgets(server: Server, number: int) -> None:
    """Ten sessions of a visitor that send the most widget states that are accepted, with much text."""
    message, headers = widget_states(MAX_STATES, "x" * 480_000), new_stranger(server)
    with ExitStack() as opened:
        pages = [opened.enter_context(stranger_page(server, headers)) for _ in range(10)]
        for page in pages * 3:
            page.send(message)
            page.recv(timeout=PATIENCE)


def unfinished_messages(server: Server, number: int) -> None:
    """Thirty sessions, each with 519 kB of a message that does not end."""
    begun = b"\x82\xff" + (519_001).to_bytes(8) + b"\0\0\0\0" + b"x" * 519_000
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    asked = GET.replace(b"/ ", b"/_stcore/stream ") + upgrade + b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    with ExitStack() as pages:
        for _ in range(30):
            page = pages.enter_context(closing(stranger_line(server, asked)))
            if b" 101 " in page.recv(1 << 16):
                page.sendall(begun)
        time.sleep(10)


def many_frames(server: Server, number: int) -> None:
    """A session that sends pings, or empty parts of a message, without end."""
    with stranger_page(server) as page:
        if number % 2:
            page.socket.sendall(FIRST_PART)
        while True:
            page.socket.sendall((PART if number % 2 else PING) * 1_000)


def silent_connections(server: Server, number: int) -> None:
    """Sixty connections of each thread that send nothing: more than the 1,024 open files that are usual."""
    with ExitStack() as lines:
        for _ in range(60):
            lines.enter_context(closing(stranger_line(server)))
        time.sleep(10)


def endless_bodies(server: Server, number: int) -> None:
    """A picture, or a question, that is announced with 8 MB and never complete."""
    route, kind = (b"image", b"image/png") if number % 2 else (b"trace", b"application/json")
    headers = b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, 8 * MEGABYTE)
    cookie = b"Cookie: %s\r\n" % new_stranger(server)["Cookie"].encode()
    asked = GET.replace(b"GET / ", b"POST /api/%s " % route) + cookie + headers
    with closing(stranger_line(server, asked, b" " * (8 * MEGABYTE - 10))) as line:
        line.settimeout(10)
        line.recv(1 << 16)


def crowded_rooms(server: Server, number: int) -> None:
    """A teacher's room with more students than it has seats, at places that do not exist, answering in many forms."""
    draw, teacher = Random(number), new_stranger(server)
    opened = unpack(stranger_post(server, "room_open", json.dumps({"view": {}}), teacher))[0]
    if "code" not in opened:  # this address has its number of rooms
        return time.sleep(1)
    room = {"code": opened["code"]}
    try:
        stranger_post(server, "room_panel", json.dumps(room | {"admit": True}), teacher)
        for _ in range(10):
            student = new_stranger(server)
            for _ in range(20):
                place = {"place": draw.choice(PLACES).format(draw.randrange(99))}
                stranger_post(server, "room_visit", json.dumps(room | place), student)
                stranger_post(server, "room_answer", json.dumps(room | place | {"answer": "1"}), student)
    finally:
        stranger_post(server, "room_end", json.dumps(room), teacher)


def long_profiles(server: Server, number: int) -> None:
    """Each new visitor requests all charts of positions with their numbers, and says to know as many as possible."""
    known = [f"{number} {place}" for place in range(MAX_KNOWN)]
    content = json.dumps(body("views", page="positions", model=MODEL, with_tables=True, known=known))
    stranger_post(server, "views", content, new_stranger(server))


def long_recordings(server: Server, number: int) -> None:
    """Each new visitor uploads a recording of 8 MB at 4 kHz."""
    sound = os.urandom(1 << 10) * (8 << 10)
    head = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", len(sound) - 8, b"WAVEfmt ", 16, 1, 1, 4_000, 8_000, 2, 16, b"data",
                       len(sound) - 44)  # fmt: skip
    stranger_post(server, "image", head + sound[44:], new_stranger(server) | {"Content-Type": "audio/wav"})


def many_comparisons(server: Server, number: int) -> None:
    """Each new visitor of the other address compares two texts of 500 characters."""
    sides = [{"model": MODEL, "text": f"{number} {STORY * 4}"[: 500 - side]} for side in range(2)]
    stranger_post(server, "compare", json.dumps(body("compare", sides=sides)), new_stranger(server))


GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
PING = b"\x89\xfd\0\0\0\0" + b"p" * 125
FIRST_PART, PART = b"\x02\x80\0\0\0\0", b"\x00\x80\0\0\0\0"
PLACES = ("lesson/sharp-and-soft/{}", "lesson/sharp-and-soft/0{}", "constructor/x{}", "__proto__/{}", "course/none/{}",
          "lesson/made-up-{}/0", "explore/{}", "tasks")  # fmt: skip
FROM_ELSEWHERE: dict[str, Attack] = {
    "cookies of 20 MB": large_cookies,
    "headers that do not end": endless_headers,
    "messages of 38 MB": large_messages,
    "messages with many widgets": many_widgets,
    "messages that do not end": unfinished_messages,
    "pings and parts without end": many_frames,
    "connections that send nothing": silent_connections,
    "pictures and questions that do not end": endless_bodies,
    "rooms at places that do not exist": crowded_rooms,
    "the longest profiles": long_profiles,
    "recordings of 8 MB": long_recordings,
    "comparisons of another address": many_comparisons,
}
ATTACKS = FROM_THE_CLASS | FROM_ELSEWHERE
