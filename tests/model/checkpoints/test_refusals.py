"""The error messages for unsupported families."""

from __future__ import annotations

import json

import pytest

from headlight.checkpoints.refusals import DIFFERENCES, KIN, OPEN_FAMILIES, refusal
from tests.shell import Shell


@pytest.mark.parametrize("model_type", DIFFERENCES)
def test_a_refusal_names_what_differs_and_a_family_that_opens(model_type: str) -> None:
    nearest, difference = DIFFERENCES[model_type]
    assert model_type not in OPEN_FAMILIES and (nearest in OPEN_FAMILIES or not nearest)
    said = refusal(model_type)
    assert difference in said and nearest in said and len(said) < 300


@pytest.mark.parametrize("nearest", KIN)
def test_kin_are_families_that_do_not_open(nearest: str) -> None:
    others = [name for family in KIN if family != nearest for name in KIN[family]]
    assert nearest in OPEN_FAMILIES and not set(KIN[nearest]) & {*OPEN_FAMILIES, *DIFFERENCES, *others}
    for name in KIN[nearest]:
        assert f"The nearest family that opens is {nearest}." in refusal(name)


@pytest.mark.parametrize("model_type", ["hubertino", "ernie2", "samba", "stablelm2", "gemma3n_audio", "\ud800" * 500])
def test_spelling_is_no_kinship(model_type: str) -> None:
    assert "nearest" not in refusal(model_type)


def test_a_class_tells_the_family_that_an_unknown_name_has() -> None:
    assert "The nearest family that opens is gpt_neox." in refusal("my_model", "GPTNeoXForCausalLM")
    assert "nearest" not in refusal("my_model", "MyModelForCausalLM")


def test_a_config_without_a_model_type_is_told_so() -> None:
    told = "its config has no model_type, and"
    assert f"{told} its class MyModelForCausalLM is of no family that opens." in refusal("", "MyModelForCausalLM")
    assert f"{told} names no class." in refusal("")


def test_the_families_that_open_are_listed(shell: Shell) -> None:
    assert shell(["models", "--families"]).split() == list(OPEN_FAMILIES)
    assert json.loads(shell(["models", "--families", "--json"])) == list(OPEN_FAMILIES)
