"""Every family agrees with the reference, through the command that users call."""

from pathlib import Path

import numpy as np
import pytest

from model.cli import main
from tests.families.cases import CASES
from tests.families.reference import TARGET, Case, answers, build

TOLERANCE = 1e-4
ALL = [pytest.param(case, id=f"{family}-{case}") for family, cases in CASES.items() for case in cases]


@pytest.mark.parametrize("case", ALL)
def test_a_family_agrees_with_its_reference(case: Case, tmp_path: Path) -> None:
    model = build(case, tmp_path / "checkpoint")
    expected = answers(model, case)
    target = ["--target", TARGET] if model.config.is_encoder_decoder else []
    command = ["trace", case.text, *target, "--model", str(tmp_path / "checkpoint"), "--out", str(tmp_path / "out.npz")]
    assert main(command) == 0
    with np.load(tmp_path / "out.npz") as found:
        for name, array in expected.items():
            assert found[name].shape == array.shape, name
            difference = np.abs(found[name] - array).max()
            assert difference < TOLERANCE, f"{name} differs by {difference}"
        assert set(found.files) - {"tokens", "attention"} == set(expected) - {"attention"}
