"""A hundred people type, on local workers and on workers of a Ray cluster of two nodes, one of which is killed.

Each calls the engine as the route does; every answer is checked to belong to its visitor. Then the class of
`classroom`, on a server with local workers and on one with the cluster's. `python -m tests.bench cluster`
"""

import json
import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import ray
from ray.cluster_utils import Cluster

from headlight_app.access.settings import LOCAL_ENGINE
from headlight_app.contract.request import Lane
from headlight_app.engine.engine import Engine
from headlight_app.engine.job import EngineError, EngineRequest
from headlight_app.engine.ray_worker import RayWorker
from tests.app.asking import body, unpack
from tests.bench import classroom
from tests.bench.classroom import MODEL, NAMES, STORY
from tests.bench.measure import Times, Work, at_once
from tests.browser.server import free_port

VISITORS, WORKERS, SECONDS = 100, 2, 30.0
GAP = (0.5, 1.5)  # seconds between two letters of a person
PATIENCE = 300.0  # seconds until an answer counts as lost


@dataclass
class Typist:
    """One visitor, with the time of each letter's answer and the errors."""

    engine: Engine
    number: int
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def type(self, until: float) -> None:
        """Type letters with random pauses of 0.5 to 1.5 seconds (GAP), until `until`."""
        draw = random.Random(self.number)
        text = f"{NAMES[self.number % 10]} {self.number} saw"
        for letter in STORY:
            if time.monotonic() > until:
                break
            text += letter
            self._ask(text)
            time.sleep(draw.uniform(*GAP))

    def _ask(self, text: str) -> None:
        fields = body("trace", model=MODEL, text=text)
        request = EngineRequest("trace", json.dumps(fields).encode(), alike=f"trace of {MODEL}")
        began = time.perf_counter()
        try:
            job = self.engine.submit(f"visitor {self.number}", request, lane=Lane.SHORT, seconds=PATIENCE)
            meta = unpack(job.future.result(PATIENCE))[0]
        except Exception as error:  # reported in the table; the others continue
            return self.wrong.append(f"{type(error).__name__}: {error}"[:200])
        self.seconds.append(time.perf_counter() - began)
        if "".join(token["text"] for token in meta["tokens"] if not token["special"]) != text:
            self.wrong.append(f"visitor {self.number} got the answer to another text")


def lines() -> Iterator[str]:
    """The table, then the errors."""
    os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // 2))  # as `headlight` sets it
    port = free_port()
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "ray_client_server_port": port})
    node = nodes.add_node(num_cpus=1)
    address = f"ray://127.0.0.1:{port}"
    near, far = Engine(WORKERS), _engine(address)
    yield f"| {VISITORS} people, a letter a second each | letters | median ms | p95 ms | slowest s | errors |"
    yield "|---|---:|---:|---:|---:|---:|"
    try:
        _spread(far, node.node_id)
        measured = [
            _row(what, engine, midway)
            for what, engine, midway in (
                (f"{WORKERS} workers of this machine", near, lambda: None),
                (f"{WORKERS} workers in a cluster of two nodes", far, lambda: None),
                ("the same, a node killed midway", far, lambda: nodes.remove_node(node, allow_graceful=False)),
            )
        ]
        yield from (row for row, _ in measured)
        base, *others = [middle for _, middle in measured]
        yield "\nmedians in multiples of this machine's: " + ", ".join(f"{other / base:.2f}" for other in others)
        near.close()
        yield f"the cluster's workers, two of them at work, are stopped in {_stop(far):.1f} s\n"
        nodes.add_node(num_cpus=1)
        yield from _class(address)
    finally:
        near.close()
        far.close()
        ray.shutdown()
        nodes.shutdown()


def _stop(engine: Engine) -> float:
    """Seconds to close an engine whose workers have begun slow requests."""
    asked = {"analysis_step": {"analysis": "head_ablation"}, "trace": {}}
    for (route, fields), lane in zip(asked.items(), (Lane.LONG, Lane.SHORT), strict=True):
        content = json.dumps(body(route, model=MODEL, text=STORY, **fields)).encode()
        engine.submit("late", EngineRequest(route, content), lane=lane, seconds=PATIENCE)
    time.sleep(0.1)
    began = time.monotonic()
    engine.close()
    return time.monotonic() - began


def _class(address: str) -> Iterator[str]:
    """The table of a class on a server with local workers, and on one with workers of the cluster."""
    yield "| a class, on | what | count | median ms | p95 ms |"
    yield "|---|---|---:|---:|---:|"
    for where, engine in {"this machine": LOCAL_ENGINE, "a cluster of two nodes": address}.items():
        sessions = classroom.attend(VISITORS, options=("--workers", str(WORKERS), "--engine", engine))
        yield from classroom.rows(f"{WORKERS} workers of {where}", sessions)
        wrong = [sentence for session in sessions for sentence in session.wrong]
        yield from (f"\n{sentence}" for sentence in wrong[:5])


def _engine(address: str) -> Engine:
    """An engine on the cluster, once the cluster accepts clients, which takes longer than a client's timeout."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return Engine(WORKERS, address=address)
        except EngineError:
            if time.monotonic() > until:
                raise


def _row(what: str, engine: Engine, midway: Work) -> tuple[str, float]:
    """Have all visitors type; returns the table's row and the median."""
    _type(engine, 3.0)  # so that all workers have started
    typists = _type(engine, SECONDS, midway)
    seconds = [one for typist in typists for one in typist.seconds]
    wrong = [sentence for typist in typists for sentence in typist.wrong]
    times = Times.of(seconds)
    row = f"| {what} | {len(seconds)} | {times.middle:.0f} | {times.slow:.0f} | {max(seconds):.1f} | {len(wrong)} |"
    return row + "".join(f"\n{sentence}" for sentence in wrong[:5]), times.middle


def _type(engine: Engine, seconds: float, midway: Work = lambda: None) -> list[Typist]:
    """Have all visitors type for some seconds; `midway` is called in the middle."""
    typists = [Typist(engine, number) for number in range(VISITORS)]
    until = time.monotonic() + seconds

    def happen() -> None:
        time.sleep(seconds / 2)
        midway()

    at_once([*(partial(typist.type, until) for typist in typists), happen])
    return typists


def _spread(engine: Engine, node: str) -> None:
    """Send requests until one worker is on the node to be killed and another is not."""
    while True:
        _type(engine, 3.0)
        workers = [thread.worker for thread in engine.lanes[Lane.SHORT].threads]
        if {worker.node for worker in workers if isinstance(worker, RayWorker)} > {node}:
            return
        for worker in workers:
            worker.stop()
