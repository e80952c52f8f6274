"""The source code that computed an answer, below the formula of its part."""

import pytest

from headlight import ATTENTION_FUNCTIONS, POSITIONAL_ENCODINGS
from headlight_app.inference.source_code import code_sections
from tests.model import toys


@pytest.mark.parametrize("name", sorted(ATTENTION_FUNCTIONS))
def test_the_formulas_are_the_attention_functions_own(name: str) -> None:
    formulas = {section.formula for section in code_sections(toys.config(attention_function=name))}
    assert formulas >= {ATTENTION_FUNCTIONS[name].formula, f"s_{{ij}} = {ATTENTION_FUNCTIONS[name].score_formula}"}
    assert any("softmax" in formula for formula in formulas) == (name == "softmax")
    assert any("varphi" in formula for formula in formulas) == (name == "linear")


@pytest.mark.parametrize("name", sorted(POSITIONAL_ENCODINGS))
def test_a_positional_encoding_comes_with_its_formula(name: str) -> None:
    sections, title = code_sections(toys.config(positional_encoding=name)), POSITIONAL_ENCODINGS[name].title
    [section] = [section for section in sections if section.title == f"Positional encoding: {title}"]
    assert section.formula == POSITIONAL_ENCODINGS[name].formula
    assert bool(section.formula) == (name != "none")
