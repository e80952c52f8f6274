"""No answer depends on the questions before it, though runs, prefixes and logits are kept for the next ones."""

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from headlight.vision.shipped_images import shipped_image_names
from headlight_app.engine.job import EngineRequest
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.inference.prefix_cache import prefix_cache
from headlight_app.inference.resolved_question import shrink_results
from headlight_app.inference.trace_cache import trace_cache
from headlight_app.worker.serve import outcome
from tests.app.asking import body, unpack
from tests.app.inference.test_shared_runs import assert_close
from tests.sampling import each_once

pytestmark = pytest.mark.usefixtures("known_too")

FIRST = {"text": "the cat sat", "source": "the dog", "image": 0}
PATCH = {"edits": ["decoder.0.residual[1]=from:B[1]"], "patch_from": "the dog"}
# Questions that each differ from the first, or from the patch, in one part.
QUESTIONS: list[dict[str, Any]] = [
    FIRST,
    FIRST | {"text": "the cat"},
    FIRST | {"text": "the cat lay"},
    FIRST | {"source": "the rug"},
    FIRST | {"image": 1},
    FIRST | {"masks": "causal+window:2"},
    FIRST | {"edits": ["decoder.0.self.weights[1]=set:0"]},
    FIRST | {"measure": "moved"},
    FIRST | PATCH,
    FIRST | PATCH | {"patch_from": "she gave"},
]


def requested(route: str, model: str, question: dict[str, Any]) -> EngineRequest:
    """A request with what its model reads: a source or the name of an image."""
    config, fields = open_checkpoint(model).model.config, question | {"model": model}
    fields["image"] = shipped_image_names(config)[question["image"]] if config.reads_signal else ""
    fields["source"] = question["source"] if config.reads_source_text else ""
    return EngineRequest(route, json.dumps(body(route, **fields)).encode())


def told(request: EngineRequest) -> tuple[Any, np.ndarray]:
    """The answer, without what a kept result may change: the run time, and how many tokens had to be read."""
    kind, content = outcome(request)
    if kind == b"S":
        return content, np.zeros(0)
    header, numbers = unpack(content)
    for part in (header, header.get("step") or {}):
        for name in ("milliseconds", "tokens_read"):
            part.pop(name, None)
    shares = np.frombuffer(numbers, np.uint8) / 255 if request.route == "trace" else np.frombuffer(numbers, "<f4")
    return header, shares


def forget() -> None:
    """Empty the caches of a worker."""
    trace_cache.cache_clear()
    prefix_cache.cache_clear()
    shrink_results(0)


@pytest.mark.parametrize(
    ("route", "model"), each_once(["trace", "generate"], ["next", "both", "captioner", "reader", "listener"])
)
def test_an_answer_is_the_same_after_other_questions(route: str, model: str) -> None:
    requests = [requested(route, model, question) for question in QUESTIONS]
    alone = []
    for request in requests:
        forget()
        alone.append(told(request))
    assert isinstance(alone[0][0], dict), "the first question has no answer"
    for first, second in combinations(range(len(requests)), 2):
        forget()
        for place in (first, second, first):
            (header, numbers), (found_header, found) = alone[place], told(requests[place])
            assert_close(header, found_header)
            assert np.abs(found - numbers).max(initial=0) <= 1 / 250
