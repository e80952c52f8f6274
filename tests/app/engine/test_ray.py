"""Workers in a Ray cluster of two nodes: same answers, none lost when a node fails, and private uploads."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

from headlight.errors import HeadlightError
from headlight_app.access.uploads import UploadStore
from headlight_app.contract.request import Lane
from headlight_app.engine import client
from headlight_app.engine import engine as subject
from headlight_app.engine.engine import Engine, WorkerPool
from headlight_app.engine.fair_queue import Superseded
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream
from headlight_app.engine.worker_process import CANCEL_SECONDS, POLL_SECONDS, WorkerLimits
from headlight_app.models.upload import upload_folder
from headlight_app.worker.serve import outcome
from tests.app.asking import body, make_request, unpack
from tests.app.engine.faulty_worker import put, put_to_work
from tests.browser.server import free_port

ray = pytest.importorskip("ray")

from ray._private import services  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

from headlight_app.engine import ray_worker  # noqa: E402
from headlight_app.engine.ray_worker import FOLDER_PREFIX, RayCluster, RayWorker, gpu_share  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),  # Ray's own logs
    pytest.mark.full,  # a cluster takes a minute to start; test_engine.py holds most of this without one
]
PATIENCE = 240  # seconds; a busy machine is slow to detect a lost node
ROOT = Path(__file__).parents[3]
SHIPPED = body("trace", model="stories-causal", text="the cat sat on the mat")


@pytest.fixture(scope="module")
def port() -> int:
    """The port of the cluster for clients."""
    return free_port()


@pytest.fixture(scope="module")
def nodes(port: int) -> Iterator[Cluster]:
    """A cluster with one node, to which others can be added. Its processes can import the worker of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        patch.setattr(services, "get_node", _patient(services.get_node))
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "ray_client_server_port": port})
        yield made
        ray.shutdown()
        made.shutdown()


def _patient(find: Callable[..., Any]) -> Callable[..., Any]:
    """Look for a node that starts until it is found; Ray gives up after half a minute, which a busy machine exceeds."""

    def look(*place: object) -> Any:
        until = monotonic() + PATIENCE
        while True:
            try:
                return find(*place)
            except RuntimeError:
                if monotonic() > until:
                    raise

    return look


@pytest.fixture(scope="module")
def cluster(nodes: Cluster, port: int) -> RayCluster:
    """A client of that cluster; waits until it accepts clients, which is slow on a busy machine."""
    found, until = RayCluster(f"ray://127.0.0.1:{port}"), monotonic() + PATIENCE
    while True:
        try:
            found.connect()
            return found
        except EngineError:
            if monotonic() > until:
                raise


@pytest.fixture(scope="module")
def lane(cluster: RayCluster) -> Iterator[WorkerPool]:
    """Two workers whose requests misbehave."""
    made = WorkerPool("short", WorkerLimits(module="tests.app.engine.faulty_worker"), 2, employ=cluster.worker)
    yield made
    made.close()


def answered(job: Job) -> str:
    return job.future.result(timeout=PATIENCE).decode()


def nodes_of(lane: WorkerPool) -> set[str]:
    """The nodes on which the workers of a lane run."""
    return {thread.worker.node for thread in lane.threads if isinstance(thread.worker, RayWorker)}


def test_a_crash_is_a_sentence_and_the_next_question_is_answered(lane: WorkerPool) -> None:
    with pytest.raises(EngineError, match="try once more"):
        answered(put(lane, "crash"))
    assert answered(put(lane, "echo", '{"text": "again"}')) == "again"
    with pytest.raises(EngineError, match=r"^This text cannot be read\.$"):
        answered(put(lane, "refuse"))


@pytest.mark.parametrize("patience", [CANCEL_SECONDS, 0], ids=["in time", "by a machine that does not answer in time"])
def test_a_question_that_is_replaced_is_stopped(
    lane: WorkerPool, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    monkeypatch.setattr(ray_worker, "CANCEL_SECONDS", patience)
    old = put_to_work(lane, "sleep", '{"seconds": 50}', stream=Stream("page", 1))
    new = put(lane, "echo", '{"text": "new"}', stream=Stream("page", 2))
    with pytest.raises(Superseded):
        answered(old)
    assert answered(new) == "new"


def test_questions_that_wait_together_travel_together_and_each_gets_its_own_answer(
    lane: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    travelled: list[list[Job]] = []
    converse = RayWorker._converse

    def listen(worker: RayWorker, jobs: Sequence[Job]) -> Any:
        travelled.append([*jobs])
        return converse(worker, jobs)

    monkeypatch.setattr(RayWorker, "_converse", listen)
    names = ("anna", "ben", "cleo", "dan")
    with lane.queue.changed:  # no job is taken before all are queued
        echoes = [put(lane, "echo", json.dumps({"text": name}), name, alike="letters") for name in names]
        refused = put(lane, "refuse", visitor="eva", alike="letters")
        crashed = put(lane, "crash", visitor="finn", alike="letters")
        behind = put(lane, "echo", '{"text": "after the crash"}', "gus", alike="letters")
        dropped = put(lane, "sleep", '{"seconds": 50}', "hal", alike="letters")
        dropped.cancel()
    assert [answered(job) for job in (*echoes, behind)] == [*names, "after the crash"]
    with pytest.raises(EngineError, match=r"^This text cannot be read\.$"):
        answered(refused)
    with pytest.raises(EngineError, match="try once more"):
        answered(crashed)
    with pytest.raises(Superseded):
        answered(dropped)
    assert [*echoes, refused, crashed, behind] in travelled


def test_no_answer_is_lost_with_a_node(lane: WorkerPool, nodes: Cluster) -> None:
    node = nodes.add_node(num_cpus=1)
    while node.node_id not in nodes_of(lane):
        for thread in lane.threads:
            thread.worker.stop()
        for job in [put(lane, "sleep", '{"seconds": 1}', visitor) for visitor in ("anna", "ben")]:
            answered(job)
    with lane.queue.changed:  # no job is taken before all are queued, so each node gets three
        asked = [
            put(lane, "sleep", '{"seconds": 1}', f"visitor {number}", alike=("letters", "heads")[number % 2])
            for number in range(6)
        ]
    while not all(job.visitor in lane.queue.running or job.future.done() for job in asked):
        sleep(POLL_SECONDS)
    nodes.remove_node(node, allow_graceful=False)
    assert [answered(job) for job in asked] == ["slept"] * len(asked)


def test_closing_does_not_wait_for_what_hangs(cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "END_SECONDS", PATIENCE)
    lane = WorkerPool("short", WorkerLimits(module="tests.app.engine.faulty_worker"), 1, employ=cluster.worker)
    job = put_to_work(lane, "hang")
    lane.close()
    assert not any(thread.is_alive() for thread in lane.threads)
    with pytest.raises(EngineError):
        job.future.result(timeout=0)


@pytest.fixture
def engine(cluster: RayCluster, anna: UploadStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A complete engine in the cluster, used by the pages."""
    made = Engine(1, 1 << 20, cluster.address)
    monkeypatch.setattr(client, "engine", lambda: made)
    yield made
    made.close()


def test_an_answer_is_what_this_machine_says_too(engine: Engine) -> None:
    asked = EngineRequest("trace", json.dumps(SHIPPED).encode())
    texts = {name: f"{name} saw a dog" for name in ("anna", "ben", "cleo")}
    jobs = {
        name: engine.submit(
            name,
            EngineRequest(
                "trace", json.dumps(body("trace", model="stories-causal", text=text)).encode(), alike="letters"
            ),
            lane=Lane.SHORT,
            seconds=60.0,
        )
        for name, text in texts.items()
    }
    (far, far_numbers), (near, near_numbers) = (
        unpack(answer)
        for answer in (
            engine.submit("dan", asked, lane=Lane.SHORT, seconds=60.0).future.result(timeout=PATIENCE),
            outcome(asked)[1],
        )
    )
    assert far_numbers == near_numbers
    candidates = [said.pop("predictions")[0].pop("candidates") for said in (far, near)]
    for value in ("before", "after"):  # another machine may sum in another order
        found, wanted = ([one.pop(value) for one in each] for each in candidates)
        np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert candidates[0] == candidates[1]
    assert far | {"milliseconds": 0} == near | {"milliseconds": 0}
    for name, job in jobs.items():  # answered in one batch, after the first
        tokens = unpack(job.future.result(timeout=PATIENCE))[0]["tokens"]
        assert "".join(token["text"] for token in tokens if not token["special"]) == texts[name]


def test_an_upload_travels_to_its_visitors_worker_alone(
    engine: Engine, toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(visitor: str, route: str, **fields: Any) -> Any:
        monkeypatch.setattr(client, "current_visitor", lambda: visitor)
        return client.ask(make_request(route, **fields)).answer

    files = {f"tiny/{path.name}": BytesIO(path.read_bytes()) for path in (toys / "next").iterdir()}
    name = upload_folder(files).name
    places = [
        Path(place)
        for thread in engine.lanes[Lane.PRIVATE].threads
        for place in (thread.worker.places.values() if isinstance(thread.worker, RayWorker) else ())
    ]
    assert [FOLDER_PREFIX in str(place) for place in places] == [True]
    assert ask("anna", "trace", model=name, text="the cat").tokens
    assert [one.name for one in ask("anna", "own_models").models] == [name]
    with pytest.raises(HeadlightError, match="uploads belong to the browser"):
        ask("ben", "trace", model=name, text="the cat")
    named = EngineRequest("trace", json.dumps(body("trace", model=name, text="the cat")).encode())
    for lane in (Lane.PRIVATE, Lane.SHORT):
        with pytest.raises(EngineError, match="There is no model"):
            engine.submit("ben", named, lane=lane, seconds=60.0).future.result(timeout=PATIENCE)
    assert ask("ben", "own_models").models == ()
    engine.close()
    until = monotonic() + PATIENCE
    while places[0].parent.exists():  # `close` does not wait for the deletion
        assert monotonic() < until, "the worker's end deletes the files sent to it"
        sleep(POLL_SECONDS)


def test_an_address_without_a_cluster_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, answer in (("is_initialized", False), ("shutdown", None)):  # independent of other tests' connections
        monkeypatch.setattr(ray, name, lambda answer=answer: answer)
    with pytest.raises(EngineError, match="no Ray cluster at 'nowhere'"):
        Engine(address="nowhere")


@pytest.mark.parametrize(("gpus", "workers", "share"), [(0, 1, 0), (1, 1, 1), (8, 2, 1), (1, 3, 0.3333), (4, 0, 0)])
def test_workers_share_the_gpus(gpus: int, workers: int, share: float) -> None:
    assert gpu_share(gpus, workers) == share
