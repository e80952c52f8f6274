"""The error messages for unsupported families."""

from __future__ import annotations

import json

import pytest

from headlight.checkpoints.refusals import DIFFERENCES, OPEN_FAMILIES, refusal
from tests.shell import Shell


@pytest.mark.parametrize("model_type", DIFFERENCES)
def test_a_refusal_names_what_differs_and_a_family_that_opens(model_type: str) -> None:
    nearest, difference = DIFFERENCES[model_type]
    assert model_type not in OPEN_FAMILIES and (nearest in OPEN_FAMILIES or not nearest)
    said = refusal(model_type)
    assert difference in said and nearest in said and len(said) < 300


def test_a_family_that_nobody_knows_gets_the_nearest_name() -> None:
    assert "The nearest name that opens is stablelm" in refusal("stablelm2")
    assert "nearest" not in refusal("\ud800" * 500)


def test_the_families_that_open_are_listed(shell: Shell) -> None:
    assert shell(["models", "--families"]).split() == list(OPEN_FAMILIES)
    assert json.loads(shell(["models", "--families", "--json"])) == list(OPEN_FAMILIES)
