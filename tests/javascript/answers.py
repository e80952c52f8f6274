"""Records what the app sends to the tests of the drawing under Node: `python -m tests.javascript.answers`.

The tests in `*/*.dom.js` open a page with its HTML and data, and get the answers to its questions from `answers/`.
"""

import base64
import gzip
import json
import math
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl

import numpy as np

from headlight_app.engine import client
from headlight_app.engine.job import EngineRequest
from headlight_app.engine.worker_process import ANSWER
from headlight_app.explore.answers.analyses import stepwise
from headlight_app.worker.serve import outcome
from tests.app.asking import unpack
from tests.app.conftest import CHATS, PROBLEMS, LocalEngine, save_toys
from tests.app.pages import alone, open_app
from tests.javascript import node

FOLDER, ENDING = node.FOLDER / "answers", ".json.gz"
FRAME = "frame"  # the name of the components around every page, as in the sidebar
# Files about small models: those whose labels do not exclude each other, or are scores, and one of chats.
TOYS = {"labels": PROBLEMS, "chats": CHATS}
# Not compared: the number of tokens read, which depends on earlier, cached questions; source code and its place; and
# digests of numbers, which processors compute differently.
_DECIMAL = re.compile(r"([-+]?\d+\.\d+(?:e[-+]?\d+)?)")
ROUNDING = 1e-5  # what float32 leaves of a share that is 0
NOT_COMPARED = {"tokens_read", "location", "code", "digest"}
RECORDED = "HEADLIGHT_RECORDS"  # the variable that tells the tests where to ask

Sent = dict[str, Any]


def main() -> None:
    """Run the tests of the drawing with the answers of the app as it is now, and write these."""
    recorder = Recorder()
    with recorder.serving() as address:
        os.environ[RECORDED] = address
        done = node.npm("run", "--silent", "drawing", "--", *sys.argv[1:] or ["*/**/*.dom.js"])
    print(done.stdout)
    recorder.write(is_whole=len(sys.argv) == 1 and not done.returncode)
    sys.exit(done.returncode)


@contextmanager
def models_of(file: str) -> Iterator[None]:
    """The app knows the models that a file of answers is about, besides those that are shipped."""
    if file not in TOYS:
        yield
        return
    with (
        TemporaryDirectory() as folder,
        patch.dict(os.environ, HEADLIGHT_MODELS=str(save_toys(Path(folder), TOYS[file]))),
    ):
        yield


def sent(key: str) -> Sent:
    """What the app sends for a key: for `page?query` its components, for `route {request}` the answer."""
    start, _, rest = key.partition(" ")
    return answered(start, rest) if rest else components(key)


def components(address: str) -> dict[str, Sent]:
    """The HTML and the data of each component on a page, by name."""
    page, _, query = address.partition("?")
    client.forget_shared()
    chosen = dict(parse_qsl(query))
    at = open_app(**chosen) if page == FRAME else alone(page, **chosen)
    if at.exception:
        raise RuntimeError(f"{address}: {at.exception[0].message}")
    mounted = [each.proto for part in (at.main, at.sidebar) for each in part.get("bidi_component")]
    named = {each.component_name.removeprefix("headlight_"): each for each in mounted}
    return {
        name: {"html": each.html_content, "data": json.loads(each.json)[0]}
        for name, each in named.items()
        if page != FRAME or name != "explore"
    }


def answered(route: str, body: str) -> Sent:
    """The answer of a route: its JSON and, as base64, its numbers."""
    with patch.object(stepwise, "STEP_SECONDS", math.inf):  # an answer does not depend on the machine's speed
        kind, content = outcome(EngineRequest(route, body.encode()))
    if kind != ANSWER:
        return {"meta": {"error": content.decode()}, "numbers": ""}
    meta, numbers = unpack(content)
    for timed in (meta, meta.get("step")):
        if timed and "milliseconds" in timed:
            timed["milliseconds"] = 1.0  # the same at each recording
    return {"meta": meta, "numbers": base64.b64encode(numbers).decode()}


def alike(one: Any, other: Any) -> bool:
    """Whether what was recorded is sent now, with the differences in its numbers that processors make.

    More may be sent: further rows of a registry, their fields, and the HTML of their panels.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() == other.keys() == {"meta", "numbers"}:
            return alike(one["meta"], other["meta"]) and _alike_numbers(one["numbers"], other["numbers"])
        if one.keys() == other.keys() == {"html", "data"}:
            tags = (each["html"].split("<") for each in (one, other))
            return alike(one["data"], other["data"]) and _is_subsequence(*tags)
        named = one.keys() - NOT_COMPARED
        return one.keys() <= other.keys() and all(alike(one[name], other[name]) for name in named)
    if isinstance(one, list) and isinstance(other, list):
        if all(map(_is_row, other)):
            return _is_subsequence(one, other)
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-4)
    if isinstance(one, str) and isinstance(other, str):
        return one == other or _alike_texts(one, other)
    return bool(one == other)


def _alike_texts(one: str, other: str) -> bool:
    """Whether two texts differ at most in the last digit of numbers with decimal places, and in rounding errors."""
    words, others = (_DECIMAL.split(each.replace("−", "-")) for each in (one, other))
    numbers, other_numbers = words[1::2], others[1::2]
    return words[::2] == others[::2] and all(map(_alike_decimals, numbers, other_numbers))


def _alike_decimals(one: str, other: str) -> bool:
    places = len(one.partition("e")[0].partition(".")[2])
    size = 10.0 ** int(one.partition("e")[2] or 0)
    last_digit = 1.01 * size * max(10.0**-places, 1e-4)
    return math.isclose(float(one), float(other), rel_tol=1e-3, abs_tol=max(last_digit, ROUNDING))


def _is_row(value: Any) -> bool:
    """Whether a value is a row of a registry, as a dictionary or as its name and title."""
    if isinstance(value, dict):
        return "name" in value
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, str) for each in value)


def _is_subsequence(some: list[Any], others: list[Any]) -> bool:
    """Whether `some` are alike to some of the others, in the same order."""
    left = iter(others)
    return all(any(alike(one, other) for other in left) for one in some)


def _alike_numbers(one: str, other: str) -> bool:
    """Whether two payloads are the same: single bytes (weights as codes) may differ by one, others as floats."""
    first, second = (np.frombuffer(base64.b64decode(each), np.uint8) for each in (one, other))
    if first.size != second.size:
        return False
    if np.abs(first.astype(int) - second).max(initial=0) <= 1:
        return True
    whole = first.size // 4 * 4
    one_floats, other_floats = (each[:whole].view("<f4") for each in (first, second))
    return bool(np.allclose(one_floats, other_floats, rtol=1e-3, atol=1e-4, equal_nan=True))


class Recorder:
    """Answers the tests, and keeps what it sent by the name of the file that holds it."""

    def __init__(self) -> None:
        self._sent: dict[str, dict[str, Sent]] = {}
        self._lock = Lock()  # Streamlit runs one page at a time here

    def answer(self, file: str, key: str) -> bytes:
        """What the app sends for a key, as JSON."""
        with self._lock:
            kept = self._sent.setdefault(file, {})
            if key not in kept:
                with models_of(file):
                    kept[key] = sent(key)
            return json.dumps(kept[key]).encode()

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve on a free port of this machine; yields the address."""
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                key = self.rfile.read(int(self.headers["Content-Length"])).decode()
                content = recorder.answer(self.path.strip("/"), key)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()

    def write(self, *, is_whole: bool) -> None:
        """Write the files; after a run of some tests, what the others asked is kept."""
        FOLDER.mkdir(exist_ok=True)
        for path in FOLDER.glob(f"*{ENDING}") if is_whole else ():
            path.unlink()
        for file, new in self._sent.items():
            path = FOLDER / f"{file}{ENDING}"
            kept = read(path) if path.exists() else {}
            content = json.dumps(dict(sorted((kept | new).items())))
            path.write_bytes(gzip.compress(content.encode(), mtime=0))


def read(path: Path) -> dict[str, Sent]:
    """What was recorded in a file, by its keys."""
    found: dict[str, Sent] = json.loads(gzip.decompress(path.read_bytes()))
    return found


if __name__ == "__main__":
    setattr(client, "engine", LocalEngine)  # noqa: B010
    main()
