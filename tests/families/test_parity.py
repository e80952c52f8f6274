"""Every family agrees with transformers, through `headlight trace`."""

from pathlib import Path

import pytest

from tests.families.cases import EACH_CASE
from tests.families.comparison import compared, difference
from tests.families.reference import Case

TOLERANCE = 1e-4


@pytest.mark.parametrize(("family", "case"), EACH_CASE)
def test_a_family_agrees_with_its_reference(family: str, case: Case, tmp_path: Path) -> None:
    for name, (found, expected) in compared(case, tmp_path).items():
        assert found.shape == expected.shape, f"{family}: {name}"
        assert difference(found, expected) < TOLERANCE, f"{family}: {name} differs by {difference(found, expected)}"
