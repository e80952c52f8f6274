"""What weights of fewer bits cost: torch computes with the numbers of the file, and words tell the change."""

from pathlib import Path

import pytest
import torch

from headlight import Checkpoint
from headlight.live.plan import plan_of
from headlight.live.rounding import rounded, rounding_cost
from headlight.live.weights import Precision
from tests.model import toys
from tests.model.live.engine import Request, assert_engine_agrees

pytestmark = pytest.mark.usefixtures("unchecked_shapes")
TEXTS = (toys.TEXT, "the dog", "on the mat the cat lay")


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_a_rounded_model_computes_what_the_engine_computes_with_its_file(precision: Precision, tmp_path: Path) -> None:
    model = toys.decoder()
    same = rounded(model, precision)
    assert any(not torch.equal(one, other) for one, other in zip(model.parameters(), same.parameters(), strict=True))
    requests = [Request(text) for text in TEXTS]
    assert_engine_agrees(plan_of(model, ()), same, toys.causal(), requests, tmp_path, precision)


def test_the_cost_is_the_largest_change_of_a_probability() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    changes = []
    for text in TEXTS:
        runs = [toys.traced(each, text=text) for each in (model, rounded(model, "int8"))]
        before, after = (torch.tensor(each["logits"]).softmax(-1) for each in runs)
        changes.append(float((after - before).abs().max()))
    told = rounding_cost(Checkpoint(model, tokenizer, ""), "int8", TEXTS)
    assert max(changes) > 0.0005
    assert told == f"on its 3 examples a probability changes by at most about {100 * max(changes):.1f} %"


def test_the_cost_names_what_a_model_says() -> None:
    head = {"output_head": "sequence-classifier", "output_head_config.problem_type": "regression", "labels": ("a",)}
    scores = toys.encoder(**head)
    for model, tokenizer, subject in (
        (scores, toys.masked(), "a score"),
        (toys.encoder(output_head="none"), toys.masked(), "a weight of attention"),
    ):
        told = rounding_cost(Checkpoint(model, tokenizer, ""), "int8", [toys.TEXT, "the " * 100])
        assert told.startswith(f"on its example {subject} changes by at most about ")
    assert rounding_cost(Checkpoint(scores, toys.masked(), ""), "float32", []) == ""


def test_a_small_cost_is_a_bound() -> None:
    told = rounding_cost(Checkpoint(toys.decoder(), toys.causal(), ""), "float16", [toys.TEXT])
    assert told == "on its example a probability changes by less than 0.1 %"
