"""Every family agrees with transformers, through `headlight trace`."""

from pathlib import Path

import pytest

from tests.families.cases import CASES
from tests.families.comparison import compared, difference
from tests.families.reference import Case

TOLERANCE = 1e-4
ALL = [pytest.param(case, id=f"{family}-{case}") for family, cases in CASES.items() for case in cases]


@pytest.mark.parametrize("case", ALL)
def test_a_family_agrees_with_its_reference(case: Case, tmp_path: Path) -> None:
    for name, (found, expected) in compared(case, tmp_path).items():
        assert found.shape == expected.shape, name
        assert difference(found, expected) < TOLERANCE, f"{name} differs by {difference(found, expected)}"
