"""Processor time of an answer, stage by stage, in a worker process; each text has one letter more.

Then the cost of an answer when the letters of several people wait together. Half of them have a head switched off.

`python -m tests.bench answer [--beside CHECKOUT]`: a worker of another checkout of this program answers the same
requests in turn. Only processor time counts, not waiting.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from tests.bench.classroom import MODEL, STORY

Seconds = dict[str, float]  # by stage
LETTERS, LETTERS_TOGETHER, ROUNDS = range(70, 100), range(90, 100), 15
WHOLE = "an answer"
# For each stage: the module, and the function's name in that module.
STAGES = {
    "forward: the tokens that are new": ("headlight_app.inference.resolved_question", "run_request"),
    "prediction: logits and candidates": ("headlight_app.explore.answers.heads", "predictions"),
    "head metrics": ("headlight_app.explore.answers.heads", "group_metrics"),
    "weights as bytes": ("headlight_app.explore.answers.heads", "group_answers"),
    "question to model": ("headlight_app.explore.answers.heads", "resolve"),
    "tokens": ("headlight_app.explore.answers.heads", "token_answers"),
}
REST = "JSON both ways, notes, and the rest"
TOGETHER = {f"an answer, of {people} people at once": people for people in (4, 16)}
OFF = "decoder.1.self.weights[3]=set:0"


def lines(beside: str) -> Iterator[str]:
    """The table: milliseconds of each stage, here and in the other checkout, and their ratio."""
    folders = {"now": str(Path(__file__).parents[2])} | ({"before": str(Path(beside).resolve())} if beside else {})
    workers = {name: _start(folder) for name, folder in folders.items()}
    rounds: dict[str, list[Seconds]] = {name: [] for name in workers}
    for number in range(ROUNDS):
        for name, worker in workers.items():
            rounds[name].append(_round(worker, 1, number))
            for stage, people in TOGETHER.items():
                rounds[name][-1][stage] = _round(worker, people, number)[WHOLE]
    for worker in workers.values():
        worker.kill()
        worker.wait()
    yield f"| {' | '.join(['', *(f'{name}, ms' for name in workers), *(['ratio'] if beside else [])])} |"
    yield "|---|" + "---:|" * (len(workers) + bool(beside))
    for stage in (*STAGES, REST, WHOLE, *TOGETHER):
        # The first round opens the model.
        times = {name: [each[stage] for each in found[1:]] for name, found in rounds.items()}
        cells = [f"{1e3 * median(seconds):.2f}" for seconds in times.values()]
        if beside:
            pairs = zip(times["now"], times["before"], strict=True)
            cells.append(f"{median(now / before for now, before in pairs if before):.2f}")
        yield f"| {stage} | {' | '.join(cells)} |"


def _start(folder: str) -> subprocess.Popen[str]:
    """Start a process that answers like a worker of the checkout in `folder`."""
    path = os.pathsep.join(str(Path(folder, part)) for part in ("model", "app", "."))
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-P", __file__]
    return subprocess.Popen(command, cwd=folder, env=environment, stdin=-1, stdout=-1, text=True)


def _round(worker: subprocess.Popen[str], people: int, number: int) -> Seconds:
    """The mean seconds of each stage for one letter of a round, with `people` waiting together."""
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(f"{people} {number}\n")
    worker.stdin.flush()
    answered: Seconds = json.loads(worker.stdout.readline())
    return answered


def serve() -> None:
    """Read lines of "PEOPLE ROUND", answer a round of letters for each, and print its times."""
    from importlib import import_module

    from headlight_app.engine.job import EngineRequest
    from headlight_app.worker import serve as worker
    from tests.app.asking import body

    prepare = getattr(worker, "prepare", lambda requests: None)  # earlier checkouts lack it

    spent: Seconds = defaultdict(float)

    def timed(stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(work)
        def clocked(*arguments: Any, **named: Any) -> Any:
            began, inner = process_time(), sum(spent.values())
            try:
                return work(*arguments, **named)
            finally:
                spent[stage] += process_time() - began - (sum(spent.values()) - inner)

        return clocked

    for stage, (module, name) in STAGES.items():
        place = import_module(module)
        setattr(place, name, timed(stage, getattr(place, name)))

    def asked(person: int, people: int, round_of: str, letter: int) -> EngineRequest:
        text, edits = f"{round_of} {person} {people} {STORY}"[:letter], [OFF] * (person % 2)
        return EngineRequest(
            "trace", json.dumps(body("trace", model=MODEL, text=text, edits=edits)).encode(), visitor="v"
        )

    def answer_all(requests: Sequence[EngineRequest]) -> None:
        prepare(requests)
        assert all(worker.outcome(request)[0] == b"A" for request in requests)

    answer = timed(REST, answer_all)
    for line in sys.stdin:
        spent.clear()
        people, round_of = int(line.split()[0]), line.split()[1]
        letters = LETTERS if people == 1 else LETTERS_TOGETHER
        for letter in letters:
            answer([asked(person, people, round_of, letter) for person in range(people)])
        spent[WHOLE] = sum(spent.values())
        count = len(letters) * people
        print(json.dumps({stage: seconds / count for stage, seconds in spent.items()}), flush=True)


def main(arguments: Sequence[str]) -> None:
    """`python -m tests.bench answer [--beside CHECKOUT]`."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench answer", description=__doc__)
    parser.add_argument("--beside", default="", metavar="CHECKOUT")
    for line in lines(parser.parse_args(arguments).beside):
        print(line, flush=True)


if __name__ == "__main__":
    serve()
