"""The server's status figures: visible to the operator, a 404 for other visitors."""

from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from headlight_app.contract.request import Lane
from headlight_app.engine.fair_queue import FairQueue
from headlight_app.engine.job import EngineRequest, Job
from headlight_app.server import status as subject
from headlight_app.server.status import StatusPage

TOKEN = "a-long-secret"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A server with one request running and two waiting."""
    queue = FairQueue()
    for visitor in ("anna", "ben", "cleo"):
        queue.put(Job(visitor, EngineRequest("trace", b"{}"), 1.0))
    queue.take()
    pool = SimpleNamespace(queue=queue, threads=[object()])
    monkeypatch.setattr(subject, "engine", lambda: SimpleNamespace(lanes={Lane.SHORT: pool}))
    return TestClient(Starlette(middleware=[Middleware(StatusPage, TOKEN)]))


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/status", {}),
        ("/status?token=", {}),
        ("/status?token=a-long-secreT", {}),
        ("/status?token=é", {}),
        ("/status", {"Authorization": "Bearer no"}),
        ("/status", {"Authorization": b"Bearer \xff\xfe"}),
        ("/status", {"Authorization": f"Basic {TOKEN}", "X-Forwarded-For": "127.0.0.1"}),
        (f"/status?token=wrong&token={TOKEN}", {}),
        (f"/status?token=%00{TOKEN}", {}),
        (f"/status?{'a=b&' * 2_000}token[]={TOKEN}", {}),
        (f"/x/../status/?token={TOKEN}", {}),
        (f"/status/?token={TOKEN}", {}),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_an_outsider_gets_what_an_unknown_page_gives(client: TestClient, path: str, headers: Any, method: str) -> None:
    found, unknown = (client.request(method, asked, headers=headers) for asked in (path, "/nothing"))
    assert (found.status_code, found.text, found.headers) == (unknown.status_code, unknown.text, unknown.headers)


def test_the_operators_collector_reads_the_figures(client: TestClient) -> None:
    answer = client.get("/status", headers={"Authorization": f"Bearer {TOKEN}"})
    samples = [sample for family in text_string_to_metric_families(answer.text) for sample in family.samples]
    found = {(sample.name, *sample.labels.values()): sample.value for sample in samples}
    assert found["headlight_waiting", "short"] == 2 and found["headlight_running", "short"] == 1
    assert found["headlight_asking", "short"] == 3 and found["headlight_workers", "short"] == 1
    assert found["headlight_people",] == 0 and found["headlight_answers_total", "short"] == 0
    assert found["headlight_memory_bytes", "server"] > 1 << 20
    assert "no-store" in answer.headers["cache-control"]


def test_the_operators_browser_shows_them_as_a_page(client: TestClient) -> None:
    answer = client.get(f"/status?token={TOKEN}", headers={"Accept": "text/html"})
    assert answer.headers["content-type"].startswith("text/html")
    assert "Waiting questions" in answer.text and "short <b>2</b>" in answer.text
    assert answer.headers["referrer-policy"] == "no-referrer"
