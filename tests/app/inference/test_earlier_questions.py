"""No answer depends on the questions before it, though runs, prefixes and logits are kept for the next ones."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from headlight.vision.shipped_images import shipped_image_names
from headlight_app.engine.job import EngineRequest
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.inference.prefix_cache import prefix_cache
from headlight_app.inference.resolved_question import shrink_results
from headlight_app.inference.trace_cache import trace_cache
from headlight_app.worker.serve import outcome
from tests.app.asking import body, unpack
from tests.app.inference.test_shared_runs import assert_close
from tests.sampling import examples

pytestmark = pytest.mark.usefixtures("known_too")

PARTS: dict[str, list[Any]] = {
    "model": ["next", "both", "captioner", "reader", "listener"],
    "text": ["the cat", "the cat sat"],
    "source": ["the dog", "the dog lay"],
    "image": [0, 1],
    "masks": ["", "causal+window:2"],
    "edits": [[], ["decoder.0.self.weights[1]=set:0"], ["decoder.0.residual[1]=from:B[1]"]],
    "patch_from": ["the dog", "she gave"],
    "measure": ["", "moved"],
}


@st.composite
def related_questions(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Questions that differ from the first in one part each."""
    first = {name: draw(st.sampled_from(values)) for name, values in PARTS.items()}
    changed = draw(st.lists(st.sampled_from([name for name in PARTS if name != "model"]), min_size=1, max_size=4))
    return [first, *(first | {name: draw(st.sampled_from(PARTS[name]))} for name in changed)]


def requested(route: str, question: dict[str, Any]) -> EngineRequest:
    """A request with what its model reads: a source or the name of an image."""
    config, fields = open_checkpoint(question["model"]).model.config, dict(question)
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


@pytest.mark.parametrize("route", ["trace", "generate"])
@settings(examples(25), phases=(Phase.explicit, Phase.reuse, Phase.generate))  # shrinking would take minutes
@given(questions=related_questions())
def test_an_answer_is_the_same_after_other_questions(route: str, questions: list[dict[str, Any]]) -> None:
    requests = [requested(route, question) for question in questions]
    alone = []
    for request in requests:
        forget()
        alone.append(told(request))
    forget()
    for request, (header, numbers) in zip(requests * 2, alone * 2, strict=True):
        found_header, found = told(request)
        assert_close(header, found_header)
        assert np.abs(found - numbers).max(initial=0) <= 1 / 250
