"""Direct requests of components to the backend."""

import asyncio
import json
import logging
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import streamlit
import torch
from starlette.requests import Request as HttpRequest
from starlette.testclient import TestClient

from headlight.checkpoints import load, save
from headlight_app.contract.reply import Reply
from headlight_app.contract.request import Answer, Lane, Request
from headlight_app.engine import client as client_module
from headlight_app.engine.fair_queue import FairQueue, Superseded
from headlight_app.engine.job import EngineRequest, Job, Stream
from headlight_app.explore.contract import TraceRequest
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.server import routes as subject
from headlight_app.server.images import ICON
from headlight_app.server.replies import MAX_BODY_BYTES
from tests.app.asking import ask_route, body, unpack
from tests.app.conftest import CONTEXT
from tests.app.engine.test_fair_queue import taken

TRACE: msgspec.json.Decoder[Request[Any]] = msgspec.json.Decoder(TraceRequest)
OFF = "decoder.1.self.weights[3]=set:0"


def test_a_question_is_answered_with_all_heads(client: TestClient) -> None:
    meta, numbers = ask_route(client, model="next", text="the cat sat")
    count = len(meta["tokens"])
    assert [token["text"] for token in meta["tokens"]][-1] == " sat"
    tokenizer = open_checkpoint("next", "cpu").tokenizer
    assert [token["id"] for token in meta["tokens"]] == list(tokenizer.encode("the cat sat").ids)
    assert len(numbers) == 2 * 4 * count * count
    heads = np.frombuffer(numbers, np.uint8).reshape(2, 4, count, count)
    assert (heads[..., *np.triu_indices(count, 1)] == 0).all(), "a causal mask forbids later keys"
    shares = np.where(heads > 0, ((heads - 1.0) / 254) ** 2, 0).sum(-1)
    assert np.allclose(shares, 1, atol=0.05)


def test_the_name_of_the_first_page_leads_to_it(client: TestClient) -> None:
    for query in ("", "?text=the+cat&layer=1"):
        answer = client.get(f"/explore{query}", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (307, f"./{query}")


@pytest.mark.skipif(sys.platform == "win32", reason="small answers would wait for an acknowledgement")
def test_the_next_letter_may_come_over_the_same_connection(client: TestClient) -> None:
    answer = client.post("/api/trace", json=body("trace", model="next", text="the cat"))
    assert answer.status_code == 200 and "connection" not in answer.headers


def test_predictions_are_of_the_whole_vocabulary(client: TestClient) -> None:
    meta, _ = ask_route(client, model="next", text="the cat")
    (prediction,) = meta["predictions"]
    assert prediction["position"] == len(meta["tokens"]) - 1
    assert not meta["changed"]
    listed = prediction["candidates"]
    assert [item["after"] for item in listed] == sorted((item["after"] for item in listed), reverse=True)
    assert all(item["before"] == item["after"] for item in listed)
    assert sum(item["after"] for item in listed) < 1


def test_an_edit_shows_before_and_after(client: TestClient) -> None:
    plain, all_on = ask_route(client, model="next", text="the cat")
    edited, numbers = ask_route(client, model="next", text="the cat", edits=[OFF])
    assert edited["changed"]
    before = {item["id"]: item["before"] for item in edited["predictions"][0]["candidates"]}
    trained = {item["id"]: item["after"] for item in plain["predictions"][0]["candidates"]}
    assert all(before[token] == trained[token] for token in before.keys() & trained.keys())
    count = len(edited["tokens"])
    codes, faded = (np.frombuffer(part, np.uint8) for part in (numbers[: len(all_on)], numbers[len(all_on) :]))
    assert set(codes.reshape(2, 4, count, count)[1, 3].ravel()) == {0, 1}
    assert edited["attention_groups"][0]["faded"] == [[1, 3]]
    as_trained = np.frombuffer(all_on, np.uint8).reshape(2, 4, count, count)[1, 3]
    assert (faded == as_trained.ravel()).all(), "the pattern of a switched-off head follows all others"
    again, _ = ask_route(client, model="next", text="the cat")
    assert again["predictions"] == plain["predictions"], "a later question is not affected"


def test_each_masked_token_is_predicted(client: TestClient) -> None:
    meta, _ = ask_route(client, model="masked", text="the cat sat on the [MASK]", masked_positions=[2])
    assert meta["maskable"]
    hidden = [place for place, token in enumerate(meta["tokens"]) if token["masked"]]
    assert [prediction["position"] for prediction in meta["predictions"]] == hidden
    assert 2 in hidden and len(hidden) == 2


def test_an_encoder_decoder_has_three_kinds_of_attention(client: TestClient) -> None:
    meta, numbers = ask_route(client, model="both", text="", source="the dog lay on the rug")
    shapes = {grid["name"]: (grid["rows"], grid["columns"]) for grid in meta["attention_groups"]}
    target, source = len(meta["tokens"]), len(meta["source_tokens"])
    assert shapes == {
        "decoder.self": (target, target),
        "decoder.cross": (target, source),
        "encoder.self": (source, source),
    }
    assert len(numbers) == 8 * (target**2 + target * source + source**2)


def test_a_classifier_answers_with_its_labels(client: TestClient) -> None:
    meta, _ = ask_route(client, model="mood", text="the cat sat")
    (prediction,) = meta["predictions"]
    assert {item["text"] for item in prediction["candidates"]} == {"glad", "sad"}
    assert sum(item["after"] for item in prediction["candidates"]) == pytest.approx(1)


def test_another_wiring_is_said_to_be_untrained(client: TestClient) -> None:
    meta, _ = ask_route(client, model="next", text="the cat", positional_encoding="learned", masks="none", scale="off")
    (note,) = meta["notes"]
    assert "Learned instead of RoPE (rotary)" in note and "Bidirectional instead of Causal" in note
    assert "was not trained this way" in note and "those without positional encoding" in note
    assert not re.search(r"\brope|\.weight", note)
    assert meta["changed"]


@pytest.mark.parametrize("view", ["weights", "scores"])
def test_exact_values_of_one_head(client: TestClient, view: str) -> None:
    meta, _ = ask_route(client, model="next", text="the cat sat")
    path = f"decoder.1.self.{view}"
    shape, numbers = ask_route(client, "head_matrix", model="next", text="the cat sat", path=path, head=2)
    count = len(meta["tokens"])
    exact = np.frombuffer(numbers, "<f4").reshape(shape["rows"], shape["columns"])
    assert exact.shape == (count, count)
    if view == "weights":
        assert np.allclose(exact.sum(-1), 1, atol=1e-5)


ODD = ["\N{GRINNING FACE} ok", "שלום", "</script><b>x</b>", "$x$ **bold** `code`", "a\nb\tc", "\0", "\ud800"]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_text_comes_back_as_itself_or_as_a_sentence(client: TestClient, text: str) -> None:
    for model in ("next", "masked"):
        meta, _ = ask_route(client, model=model, text=text)
        assert "error" in meta or len(meta["tokens"]) > 0
        assert "Something went wrong" not in meta.get("error", "")
    if text.isprintable():
        meta, _ = ask_route(client, model="next", text="x" + text)
        ends = [token["end"] for token in meta["tokens"]]
        assert ends[-1] == len(("x" + text).encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"model": "next", "text": ""}, "empty"),
        ({"model": "next", "text": "cat " * (CONTEXT + 5)}, f"at most {CONTEXT}"),
        ({"model": "next", "text": "a" * 100_000}, "Shorten"),
        ({"model": "../next", "text": "cat"}, "no model"),
        ({"model": "/etc", "text": "cat"}, "no model"),
        ({"model": "next", "text": "cat", "masks": "fog"}, "fog"),
        ({"model": "next", "text": "cat", "masks": "custom:10/11/1"}, "square"),
        ({"model": "next", "text": "cat", "positional_encoding": "gps"}, "gps"),
        ({"model": "next", "text": "cat", "edits": ["nonsense"]}, "nonsense"),
        ({"model": "next", "text": "cat", "edits": ["decoder.9.self.weights[0]=set:0"]}, "decoder.9"),
        ({"model": "next", "text": "cat", "masked_positions": [1]}, "mask token"),
        ({"model": "masked", "text": "cat", "masked_positions": [40]}, "40"),
        ({"model": "next", "text": "cat", "device": "abacus"}, "abacus"),
        ({"model": "next", "text": 3}, "text is 3; expected a text"),
        ({"model": "next", "text": "cat", "edits": "all"}, "edits is 'all'; expected a list"),
        ({"model": "masked", "text": "cat", "masked_positions": [True]}, "expected a whole number"),
        ({"text": "cat"}, "The question lacks a field: model"),
        ({"model": ["next"], "text": "cat"}, "model is ['next']; expected a text"),
    ],
)
def test_what_cannot_be_answered_gets_a_sentence(client: TestClient, body: dict[str, Any], said: str) -> None:
    meta, numbers = ask_route(client, **body)
    assert said in meta["error"]
    assert "Something went wrong" not in meta["error"]
    assert not numbers


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (b"{", "application/json", "not JSON"),
        (b"[" * 100_000, "application/json", "not JSON"),
        (rb'{"question": {"model": "next", "text": "\ud800"}}', "application/json", "half a character"),
        (b"[]", "application/json", "expected a table of fields"),
        (b"x" * (MAX_BODY_BYTES + 1), "application/json", "Shorten"),
        (b"{}", "text/plain", "application/json"),
    ],
)
def test_a_broken_request_gets_a_sentence(client: TestClient, content: bytes, kind: str, said: str) -> None:
    answer = client.post("/api/trace", content=content, headers={"Content-Type": kind})
    assert said in unpack(answer.content)[0]["error"]


def test_only_attention_can_be_asked_for_by_path(client: TestClient) -> None:
    for path, head in (("logits", 0), ("decoder.0.self.weights", 4), ("decoder.7.self.weights", 0), ("", 0)):
        meta, _ = ask_route(client, "head_matrix", model="next", text="cat", path=path, head=head)
        assert meta["error"]


def test_a_crash_is_a_sentence_and_tells_the_log_no_text(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    typed = "a secret sentence"

    def crash(question: object, query: int) -> None:
        raise ValueError(typed)

    monkeypatch.setattr("headlight_app.explore.answers.heads.trace_reply", crash)
    with caplog.at_level(logging.ERROR):
        meta, _ = ask_route(client, model="next", text=typed)
    assert "went wrong" in meta["error"]
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


def test_a_long_text_stays_small(client: TestClient) -> None:
    meta, numbers = ask_route(client, model="next", text="cat " * (CONTEXT // 3))
    assert len(numbers) + len(str(meta)) < 100_000


def test_visitors_get_their_own_answers(client: TestClient) -> None:
    words = ["cat", "dog", "mat", "rug", "boy", "ball"]

    def one(number: int) -> bool:
        word = words[number % len(words)]
        text = f"the {word} sat" + " on" * (number % 3)
        meta, _ = ask_route(client, model="next", text=text, client_id=f"v{number}", request_number=1)
        return "".join(token["text"] for token in meta["tokens"] if not token["special"]) == text

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(48)))


def numbered(number: int) -> bytes:
    """A reply with the number of the request it answers."""
    return Reply(NumberedAnswer(request_number=number)).encode()


class NumberedAnswer(Answer, frozen=True, kw_only=True):
    request_number: int


class WaitingEngine:
    """An engine whose jobs wait in its queue until the test takes them."""

    def __init__(self) -> None:
        self.queue = FairQueue()

    def submit(
        self,
        visitor: str,
        request: EngineRequest,
        *,
        lane: Lane,
        seconds: float,
        stream: Stream | None = None,
        **of: object,
    ) -> Job:
        job = Job(visitor, request, seconds, stream)
        self.queue.put(job)
        return job


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> FairQueue:
    engine = WaitingEngine()
    monkeypatch.setattr(client_module, "engine", lambda: engine)
    return engine.queue


def test_a_superseded_question_is_dropped_before_it_costs_anything(waiting: FairQueue) -> None:
    async def all_three() -> list[dict[str, Any]]:
        asked = [asyncio.create_task(subject.respond(_request(1), TRACE))]
        await asyncio.sleep(0)  # lets the request enter the queue
        first = taken(waiting)
        asked += [asyncio.create_task(subject.respond(_request(number), TRACE)) for number in (2, 3)]
        await asyncio.sleep(0)
        assert first.cancelled.is_set(), "its worker may stop the job"
        first.finish(numbered(1))  # it was already done
        waiting.done(first)
        newest = taken(waiting)
        newest.finish(numbered(json.loads(newest.request.body)["request_number"]))
        return [unpack(bytes(answer.body))[0] for answer in await asyncio.gather(*asked)]

    assert asyncio.run(all_three()) == [{"request_number": 1}, {"superseded": True}, {"request_number": 3}]


def test_a_question_is_stopped_when_its_browser_has_gone(waiting: FairQueue) -> None:
    async def leave() -> Job:
        gone = asyncio.Event()
        asked = asyncio.create_task(subject.respond(_request(1, gone), TRACE))
        await asyncio.sleep(0)
        job = taken(waiting)
        assert not job.cancelled.is_set()
        gone.set()
        while not job.cancelled.is_set():
            await asyncio.sleep(0.001)
        job.finish(Superseded("nobody waits"))
        assert unpack(bytes((await asked).body))[0] == {"superseded": True}
        return job

    assert asyncio.run(leave()).cancelled.is_set()


def _request(number: int, gone: asyncio.Event | None = None) -> HttpRequest:
    """A request of one browser, which stays connected until `gone` is set."""
    body = b'{"client_id": "anna", "request_number": %d, "question": {"model": "next"}}' % number
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in messages:
            return message
        await (gone or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    headers = [(b"content-type", b"application/json")]
    return HttpRequest({"type": "http", "method": "POST", "headers": headers}, receive)


@pytest.mark.parametrize(
    "weight", ["decoder.final_norm.weight", "embedding.weight", "decoder.blocks.1.self_attention.query.weight"]
)
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_shown_and_predict_nothing(
    client: TestClient, toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weight: str, number: float
) -> None:
    checkpoint = load(toys / "next")
    with torch.no_grad():
        checkpoint.model.get_parameter(weight).fill_(number)
    save(tmp_path / "sick", checkpoint.model, checkpoint.tokenizer)
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    meta, numbers = ask_route(client, model="sick", text="the cat sat")
    assert "not a number" in meta["no_prediction_reason"] and not meta["predictions"]
    assert len(numbers) == 2 * 4 * len(meta["tokens"]) ** 2


def test_the_icon_stands_where_the_html_of_the_page_has_it(client: TestClient) -> None:
    answer = client.get("/favicon.png")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert answer.content == ICON.read_bytes()
    assert '"./favicon.png"' in (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
