"""A model of each family in the engine of a live page: every value that `run` records, without and with edits."""

from pathlib import Path

import pytest

from headlight import load
from headlight.live.plan import plan_of
from tests.families.cases import CASES
from tests.families.reference import Case, build, opened_path
from tests.model.live.engine import Request, assert_engine_agrees

FIRST = [pytest.param(cases[0], id=family) for family, cases in CASES.items() if not (cases[0].image or cases[0].audio)]


@pytest.mark.full
@pytest.mark.parametrize("case", FIRST)
def test_a_model_of_each_family_runs_in_the_engine(case: Case, tmp_path: Path) -> None:
    build(case, tmp_path)
    checkpoint = load(opened_path(case, tmp_path))
    model, config = checkpoint.model, checkpoint.model.config
    if config.has_cross_attention or config.reads_signal:
        pytest.skip("it has two stacks, or reads more than a text")
    stack = config.stacks[-1]
    off, moved = f"{stack}.0.self.weights[0]=set:0", f"{stack}.position_ids[1]=set:0"
    requests = [
        *(Request(" ".join(case.text.split()[:count])) for count in (1, 3, 100)),
        Request(case.text, (off, f"{stack}.*.self.mask=set:1", f"{stack}.0.self.scores=scale:0.5")),
        Request(case.text, (moved, f"{stack}.0.residual[1]=add:0.5")),
        Request(case.text, (off,), "rope"),
    ]
    assert_engine_agrees(plan_of(model, ("rope",)), model, checkpoint.tokenizer, requests, tmp_path)
