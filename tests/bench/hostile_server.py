"""Hostile requests and WebSocket messages, sent to a real shared server whose log is read after each."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from random import Random
from tempfile import TemporaryDirectory
from threading import Thread
from time import perf_counter
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.app.asking import unpack
from tests.app.worker.hostile_requests import TEXTS, ask, hostile_content
from tests.bench.hostile_outcomes import TRACEBACK, WENT_WRONG, Outcome
from tests.browser.server import Server, started

MAX_SECONDS = 10.0  # from a request or message to the end of its answer
VISITORS = 8  # at a time; so another visitor's traceback may be told with a case
MESSAGES_EACH = 40  # of one connection
PAGES = ("", "compare", "course", "generate", "lesson", "models", "positions", "room", "tasks", "x")
QUERIES = (
    "",
    "model=induction&text=a b c",
    "chapter=masks",
    "text=" + "x" * 5_000,
    "\0",
    "model=../..&layer=-1&head=x",
)
JSONS = (
    *("null", "{}", "[]", "1", '"x"', "{", "", "NaN", "[" * 50_000, '{"a":' * 900, "\\ud83d\\ude00", "x" * 100_000),
    *('{"settled": 1}', '{"settled": []}', '{"settled": {}}', '{"settled": {"session": 1, "query": 2, "run": "x"}}'),
    *('{"settled": {"model": "\\ud800"}}', '{"settled": {"edits": ' + "[" * 400 + "]" * 400 + "}}"),
)
NUMBERS = (0, 1, -1, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
ANSWERED, REFUSED = True, False
UNSIGNED = (
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_FIXED32,
    FieldDescriptor.TYPE_FIXED64,
)
SHORT = (
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_SFIXED32,
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_FIXED32,
)


def served_outcomes(counts: Mapping[str, int], first: int) -> Iterator[Outcome]:
    """The outcome of every request and message, from the first seed on."""
    if not any(counts.values()):
        return
    words = (str(Path(sys.executable).with_name("headlight")), "--no-browser", "--shared", "--port")
    with TemporaryDirectory() as folder, started(Path(folder), *words) as server:
        for kind, count in counts.items():
            ended: SimpleQueue[Outcome] = SimpleQueue()
            for number in range(VISITORS):
                seeds = range(first + number, first + count, VISITORS)
                Thread(target=_send_all, args=(kind, seeds, server, ended), daemon=True).start()
            slow = []
            for _ in range(count):
                outcome = ended.get()
                slow += [outcome] if outcome.seconds > MAX_SECONDS and not outcome.wrong else []
                if outcome not in slow:
                    yield outcome
            yield from (_repeated(outcome, server) for outcome in slow)


def _send_all(kind: str, seeds: range, server: Server, ended: SimpleQueue[Outcome]) -> None:
    """Send the requests or messages of some seeds, as one visitor."""
    send = SERVED[kind](server)
    for seed in seeds:
        ended.put(_outcome(kind, seed, server, send))


def _repeated(slow: Outcome, server: Server) -> Outcome:
    """The outcome of a slow case alone: the others' cases, or other work on the machine, may have delayed it."""
    if slow.kind == "requests":
        again = replace(slow, seconds=ask(*hostile_content(slow.seed)).seconds)  # of the processor
    else:
        again = _outcome(slow.kind, slow.seed, server, SERVED[slow.kind](server))
    late = again.seconds > MAX_SECONDS and not again.wrong
    return replace(again, wrong=f"longer than {MAX_SECONDS:.0f} s") if late else again


def _outcome(kind: str, seed: int, server: Server, send: Callable[[int], bool]) -> Outcome:
    since, wrong, answered = server.log_file.stat().st_size, "", False
    begun = perf_counter()
    try:
        answered = send(seed)
    except Exception as error:
        wrong = f"{type(error).__name__}: {str(error)[:300]}"
    seconds = perf_counter() - begun
    with server.log_file.open("rb") as log:
        log.seek(since)
        logged = log.read().decode(errors="replace")
    if TRACEBACK in logged:
        wrong = f"{wrong} {logged[logged.index(TRACEBACK) :][-600:]!r} {TRACEBACK}"
    return Outcome(kind, seed, seconds, wrong.strip(), answered)


def requester(server: Server) -> Callable[[int], bool]:
    """Sends a request over HTTP to the route of a seed."""
    headers = server.new_visitor()

    def send(seed: int) -> bool:
        route, content = hostile_content(seed)
        replied = server.post(route, content, headers)
        if WENT_WRONG.encode() in replied[:2_000]:
            raise AssertionError(f"{route}: {replied[:200]!r} {content[:200]!r}")
        try:
            return "error" not in unpack(replied)[0]
        except ValueError:  # a sentence of the server itself
            return REFUSED

    return send


@dataclass
class HostilePage:
    """A visitor's session that sends hostile messages; a new one begins after MESSAGES_EACH, or when it was ended."""

    server: Server
    headers: dict[str, str] = field(default_factory=dict)
    line: ClientConnection | None = None
    sent: int = 0
    ids: list[str] = field(default_factory=list)  # of the widgets of its page

    def __call__(self, seed: int) -> bool:
        """Send the message of a seed. Whether the page goes on; if not, its connection was closed."""
        draw = Random(f"message {seed}")
        if self.line is None or self.sent >= MESSAGES_EACH:
            self._begin(Random(f"page {seed}"))
        content = draw.choice(MAKERS)(draw, self.ids)
        self.sent += 1
        assert self.line is not None
        try:
            self.line.send(content)
            if not _reruns(content):
                self.line.send(rerun(draw.choice(PAGES)).SerializeToString())
            self._receive_run()
        except TimeoutError:
            self.line = None
            raise AssertionError(f"no run ended after {content[:200]!r}") from None
        except (ConnectionClosed, OSError):
            self.line = None
            return REFUSED
        return ANSWERED

    def _begin(self, draw: Random) -> None:
        if self.line is not None:
            self.line.close()
        self.headers = self.headers or self.server.new_visitor()
        address, cookie = f"ws://127.0.0.1:{self.server.port}/_stcore/stream", {"Cookie": self.headers["Cookie"]}
        self.line, self.sent = connect(address, max_size=None, additional_headers=cookie), 0
        self.line.send(rerun(draw.choice(PAGES), draw.choice(QUERIES[:3])).SerializeToString())
        self.ids = []
        self._receive_run()

    def _receive_run(self) -> None:
        """Read until a run of the page is over."""
        assert self.line is not None
        told = ForwardMsg()
        while told.WhichOneof("type") != "script_finished":
            content = self.line.recv(timeout=2 * MAX_SECONDS, decode=False)
            told.ParseFromString(content)
            element = told.delta.new_element
            kind = element.WhichOneof("type")
            if kind == "exception" or WENT_WRONG.encode() in content:
                raise AssertionError(f"the page shows: {WENT_WRONG} {str(element)[:300]}")
            if kind and (found := getattr(getattr(element, kind), "id", "")):
                self.ids.append(found)


def rerun(page: str = "", query: str = "") -> BackMsg:
    """The message with which a browser asks for a page."""
    message = BackMsg()
    message.rerun_script.page_name, message.rerun_script.query_string = page, query
    return message


def _reruns(content: bytes | str) -> bool:
    """Whether a message starts a run of the page whose end is told; of unknown fragments none is."""
    message = BackMsg()
    try:
        message.ParseFromString(content if isinstance(content, bytes) else b"\0")
    except Exception:
        return True  # the connection is closed
    return message.WhichOneof("type") == "rerun_script" and not message.rerun_script.fragment_id


# Makers of messages.


def random_fields(draw: Random, ids: list[str]) -> bytes:
    """A valid message with random fields."""
    message = BackMsg()
    _fill(draw, message, ids)
    return bytes(message.SerializeToString())


def _fill(draw: Random, message: Message, ids: list[str], depth: int = 0) -> None:
    fields = [each for each in message.DESCRIPTOR.fields if depth < 4 or each.type != FieldDescriptor.TYPE_MESSAGE]
    for each in draw.sample(fields, draw.randint(0, len(fields))):
        if each.type == FieldDescriptor.TYPE_MESSAGE:
            inner = getattr(message, each.name)
            for _ in range(draw.choice((1, 2, 5)) if each.is_repeated else 1):
                _fill(draw, inner.add() if each.is_repeated else inner, ids, depth + 1)
            if not each.is_repeated:
                inner.SetInParent()
        elif each.is_repeated:
            getattr(message, each.name).extend([_value(draw, each, ids)] * draw.choice((1, 3, 50)))
        else:
            setattr(message, each.name, _value(draw, each, ids))


def _value(draw: Random, kind: FieldDescriptor, ids: list[str]) -> Any:
    texts = [text for text in TEXTS if len(text) < 20_000 and text.isprintable()]
    if kind.type == FieldDescriptor.TYPE_STRING:
        return draw.choice(ids or texts) if kind.name == "id" else draw.choice((*texts, *JSONS, *PAGES, *QUERIES))
    if kind.type == FieldDescriptor.TYPE_BYTES:
        return draw.randbytes(draw.choice((0, 5, 500)))
    if kind.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return draw.choice((0.0, float("nan"), float("inf"), -1e38))
    if kind.type == FieldDescriptor.TYPE_ENUM:
        return draw.choice(kind.enum_type.values).number
    if kind.type == FieldDescriptor.TYPE_BOOL:
        return draw.random() < 0.5
    bits = 31 if kind.type in SHORT else 63
    return min(max(draw.choice(NUMBERS), 0 if kind.type in UNSIGNED else -(2**bits)), 2**bits - 1)


def states(draw: Random, ids: list[str]) -> BackMsg:
    """A page's own message, with strange states of its widgets."""
    message = rerun(draw.choice(PAGES), draw.choice(QUERIES))
    for name in draw.sample(ids, draw.randint(0, len(ids))):
        state = message.rerun_script.widget_states.widgets.add(id=name)
        kind = draw.choice([each for each in state.DESCRIPTOR.fields if each.name != "id"])
        if draw.random() < 0.6:
            state.json_value = draw.choice(JSONS)
        elif kind.type == FieldDescriptor.TYPE_MESSAGE:
            _fill(draw, getattr(state, kind.name), ids)
            getattr(state, kind.name).SetInParent()
        else:
            setattr(state, kind.name, _value(draw, kind, ids))
    return message


def strange_states(draw: Random, ids: list[str]) -> bytes:
    """`states` as bytes."""
    return bytes(states(draw, ids).SerializeToString())


def flipped(draw: Random, ids: list[str]) -> bytes:
    """A page's own message with some bits flipped, or cut off."""
    raw = bytearray(states(draw, ids).SerializeToString())
    for _ in range(draw.randint(1, 8) if raw else 0):
        raw[draw.randrange(min(len(raw), 500))] ^= 1 << draw.randrange(8)
    return bytes(raw[: draw.choice((len(raw), len(raw), draw.randint(0, len(raw))))])


def random_bytes(draw: Random, ids: list[str]) -> bytes:
    """Random bytes."""
    return draw.randbytes(draw.choice((0, 1, 10, 1_000, 100_000)))


def text_frame(draw: Random, ids: list[str]) -> str:
    """A text, which no page sends."""
    return draw.choice([text for text in (*TEXTS, *JSONS) if len(text) < 200_000 and "\ud800" not in text])


def huge_counts(draw: Random, ids: list[str]) -> bytes:
    """A message with very many states, or a very long one."""
    message = rerun(draw.choice(PAGES))
    if draw.random() < 0.5:
        for number in range(draw.choice((400, 501, 5_000))):
            message.rerun_script.widget_states.widgets.add(id=f"$$ID-{number}", bool_value=True)
    else:
        message.rerun_script.query_string = "x" * draw.choice((100_000, 500_000, 600_000, 2_000_000))
    return bytes(message.SerializeToString())


def nested(draw: Random, ids: list[str]) -> bytes:
    """Fields inside each other, up to beyond what a parser takes."""
    raw, field_number = b"", draw.choice((11, 2, 1))
    for _ in range(draw.choice((3, 90, 150, 900))):
        head, size = bytes([field_number << 3 | 2]), len(raw)
        while size >= 128:
            head, size = head + bytes([size & 127 | 128]), size >> 7
        raw = head + bytes([size]) + raw
    return raw if draw.random() < 0.5 else rerun().SerializeToString() + raw


MAKERS: tuple[Callable[[Random, list[str]], bytes | str], ...] = (
    *(random_fields, random_fields, strange_states, strange_states, strange_states, flipped, flipped),
    *(random_bytes, text_frame, huge_counts, nested),
)
SERVED: Mapping[str, Callable[[Server], Callable[[int], bool]]] = {"requests": requester, "messages": HostilePage}
