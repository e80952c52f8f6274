"""The ledger of an attention cell for every family: parts and terms add up to the score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headlight import run
from headlight.analysis.ledger import KEEP, Cell, cell_ledger
from headlight.attention_groups import attention_groups
from headlight.checkpoints import load
from headlight.errors import ConfigError
from tests.families.cases import CASES, EACH_FAMILY
from tests.families.reference import build, inputs, opened_path


@pytest.mark.parametrize("family", EACH_FAMILY)
def test_parts_and_terms_add_up_to_the_score(family: str, tmp_path: Path) -> None:
    case = CASES[family][0]
    build(case, tmp_path)
    checkpoint = load(opened_path(case, tmp_path))
    model = checkpoint.model.float()
    trace = run(model, checkpoint.tokenizer, **inputs(case, model.config), keep=(*KEEP, "*.weights"))
    for group in attention_groups(model.config):
        path = group.path(group.layers - 1)
        head, query, key = (int(place) for place in np.argwhere(trace[f"{path}.weights"] > 0)[-1])
        if model.config.has_recurrence:
            with pytest.raises(ConfigError, match="layers of linear attention"):
                cell_ledger(model, trace, Cell(path, head, query, key))
            return
        found = cell_ledger(model, trace, Cell(path, head, query, key))
        assert found.parts.sum() + sum(found.terms.values()) == pytest.approx(found.score, abs=1e-4)
        assert abs(found.terms["rounding"]) < 1e-4
