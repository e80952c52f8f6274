"""A stranger with many cookies of one address beside others, on a running server."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse
from itertools import count

import pytest

from headlight_app.access.presence import MAX_NEWCOMERS
from headlight_app.server.connections.bodies import NO_ROOM_FOR_BODY, OWN_BODIES
from tests.app.asking import body, unpack
from tests.bench.attacks import picture
from tests.browser.server import Server, serve

CROWD, LETTERS, PATIENCE = 38, 30, 240.0
KEPT = 5  # visitors after whom new ones share a process
TYPED, STRANGER, NEWCOMERS = "127.0.0.1", "127.0.0.9", "127.0.0.8"  # addresses


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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("server"), "--shared") as running:
        yield running


@pytest.mark.full
def test_long_questions_of_a_crowd_at_one_address_leave_the_letters_of_others_their_turns(server: Server) -> None:
    with closing(line_from(server, TYPED)) as line:
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


def send_picture(server: Server, address: str) -> str:
    """A new visitor sends a picture; returns its name once a process of their own has read it."""
    headers = server.new_visitor() | {"Content-Type": "image/png"}
    with closing(line_from(server, address)) as line:
        line.request("POST", "/api/image", picture(), headers)
        return str(unpack(line.getresponse().read())[0]["name"])


def test_pictures_of_a_crowd_at_one_address_leave_the_picture_of_another_its_turn(server: Server) -> None:
    answered: list[str] = []
    threads = [
        threading.Thread(target=lambda: answered.append(send_picture(server, NEWCOMERS))) for _ in range(MAX_NEWCOMERS)
    ]
    for thread in threads:
        thread.start()
    try:
        while len(answered) < KEPT:
            threading.Event().wait(0.05)
        before = len(answered)
        assert send_picture(server, TYPED)
        assert len(answered) - before < MAX_NEWCOMERS / 4, "those of the crowd were answered first"
    finally:
        for thread in threads:
            thread.join(PATIENCE)
    assert len(answered) == MAX_NEWCOMERS and all(answered)


def test_pictures_that_do_not_end_leave_memory_and_letters_to_others(server: Server) -> None:
    size, headers = 8_000_000, server.new_visitor()
    head = f"POST /api/image HTTP/1.1\r\nHost: {TYPED}:{server.port}\r\nCookie: {headers['Cookie']}\r\n"
    head += f"Content-Type: image/png\r\nContent-Length: {size}\r\n\r\n"
    with ExitStack() as lines:
        for _ in range(OWN_BODIES // size + 2):
            line = socket.create_connection((TYPED, server.port), PATIENCE, (STRANGER, 0))
            lines.enter_context(closing(line))
            line.sendall(head.encode() + bytes(size - 1))
        answer = HTTPResponse(line)
        answer.begin()
        assert unpack(answer.read())[0]["error"] == NO_ROOM_FOR_BODY
        question = json.dumps(body("trace", model="stories-causal", text="the cat"))
        for address, content in ((STRANGER, question), (TYPED, question), (TYPED, question + " " * 1_900_000)):
            asker = lines.enter_context(closing(line_from(server, address)))
            asker.request("POST", "/api/trace", content, server.new_visitor())
            assert "tokens" in unpack(asker.getresponse().read())[0]
