"""The server's figures at /status, for its operator only: as a page, and in Prometheus' text format.

The operator is identified by a token, which the command prints or an environment variable sets. Without it, /status
is an unknown page. The network address cannot identify the operator: behind a proxy all visitors have this machine's.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from html import escape
from urllib.parse import parse_qs

import psutil
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from headlight_app.access.presence import presence
from headlight_app.engine.engine import Engine, engine
from headlight_app.server.connections.open_connections import connection_figures
from headlight_app.server.log_rate import log_limit

STATUS_PATH = "/status"
REFRESH_SECONDS = 2


class StatusPage:
    """Answers requests to /status that have the token, in the URL or as `Authorization: Bearer`."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app, self.token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer the operator."""
        if scope["type"] != "http" or scope["path"] != STATUS_PATH or not self._is_operator(scope):
            await self.app(scope, receive, send)
            return
        wants_page = "text/html" in Headers(scope=scope).get("accept", "")
        response = await asyncio.to_thread(status_page if wants_page else prometheus_text)
        await response(scope, receive, send)

    def _is_operator(self, scope: Scope) -> bool:
        bearer = Headers(scope=scope).get("authorization", "").removeprefix("Bearer ")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [bearer])[0]
        return secrets.compare_digest(given.encode(), self.token)


class Figures(Collector):
    """The figures of an engine and its server, computed per request."""

    def __init__(self, running: Engine) -> None:
        self.running = running

    def collect(self) -> Iterator[Metric]:
        """Each figure with its description; the queues have one for each lane."""
        yield GaugeMetricFamily("headlight_people", "Visitors with the page open", presence().count())
        waiting = GaugeMetricFamily("headlight_waiting", "Waiting questions", labels=["lane"])
        at_work = GaugeMetricFamily("headlight_running", "Running questions", labels=["lane"])
        asking = GaugeMetricFamily("headlight_asking", "Visitors with a waiting or running question", labels=["lane"])
        speed = GaugeMetricFamily("headlight_answers_per_second", "Answers per second, recently", labels=["lane"])
        capacity = GaugeMetricFamily("headlight_capacity", "Answers per busy second", labels=["lane"])
        answered = CounterMetricFamily("headlight_answers", "Answers since the start", labels=["lane"])
        workers = GaugeMetricFamily("headlight_workers", "Workers", labels=["lane"])
        for lane, pool in self.running.lanes.items():
            figures = pool.queue.figures()
            waiting.add_metric([lane], figures.waiting)
            at_work.add_metric([lane], figures.running)
            asking.add_metric([lane], figures.people)
            speed.add_metric([lane], figures.per_second)
            capacity.add_metric([lane], figures.per_busy_second)
            answered.add_metric([lane], figures.answered)
            workers.add_metric([lane], len(pool.threads))
        yield from (waiting, at_work, asking, speed, capacity, answered, workers)
        yield from _connections()
        memory = GaugeMetricFamily("headlight_memory_bytes", "Memory in use", labels=["process"])
        server = psutil.Process()
        memory.add_metric(["server"], server.memory_info().rss)
        memory.add_metric(["workers"], sum(map(_memory, server.children(recursive=True))))
        yield memory


def _connections() -> Iterator[Metric]:
    """What strangers do before a request is known, which the log says only in part."""
    found = connection_figures()
    yield GaugeMetricFamily("headlight_connections", "Open connections", len(found.connections))
    yield GaugeMetricFamily("headlight_waiting_connections", "Connections that wait for a request", found.waiting())
    ended = CounterMetricFamily("headlight_ended_connections", "Connections that the server has ended", labels=["why"])
    for why, count in sorted(found.ended.items()):
        ended.add_metric([why], count)
    yield ended
    yield CounterMetricFamily("headlight_unlogged", "Messages left out of the log", log_limit().left_out)


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it has ended
        return 0


def prometheus_text() -> Response:
    """The figures in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(Figures(engine()))
    return Response(generate_latest(registry), headers={"Cache-Control": "no-store"}, media_type=CONTENT_TYPE_LATEST)


def status_page() -> Response:
    """The figures as a self-refreshing page, one row each, with their labels."""
    rows = "".join(
        f"<tr><th scope=row>{escape(metric.documentation)}{''.join(map(_cell, metric.samples))}"
        for metric in Figures(engine()).collect()
    )
    page = (
        "<!doctype html><html lang=en><meta name=viewport content='width=device-width'><title>Headlight: status</title>"
        f"<meta http-equiv=refresh content={REFRESH_SECONDS}>"
        "<style>:root{color-scheme:light dark;font:16px sans-serif}th{text-align:left}td,th{padding:4px 12px 4px 0}"
        "table{font-variant-numeric:tabular-nums}</style>"
        f"<h1>Status of this server</h1><table>{rows}</table>"
    )
    return HTMLResponse(page, headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


def _cell(sample: Sample) -> str:
    is_memory = sample.name.endswith("_bytes")
    number = f"{sample.value / 1e6:,.0f} MB" if is_memory else f"{sample.value:,.1f}".removesuffix(".0")
    return f"<td>{escape(' '.join(sample.labels.values()))} <b>{number}</b>"
