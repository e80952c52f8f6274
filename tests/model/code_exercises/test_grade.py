"""Correct solutions pass in every style; each misconception is recognized and never accepted."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from headlight.code_exercises.cases import (
    Case,
    Layers,
    agrees,
    causal,
    example,
    padded,
    right_result,
    self_attention,
    with_empty_row,
)
from headlight.code_exercises.diagnoses import Finding
from headlight.code_exercises.exercises import CODE_EXERCISES
from headlight.code_exercises.grade import check, format_findings, grade
from headlight.code_exercises.misconceptions import MISCONCEPTIONS, Misconception, recognize, wrong_result
from headlight.code_exercises.solution import role_of
from headlight.code_exercises.steps import Steps, change, compute
from tests.model.code_exercises import right
from tests.model.code_exercises.files import PARTS, RIGHT, SLIPS, with_slip
from tests.sampling import examples, first_of_each

STYLES = (
    ("attention", right.attention),
    ("attention", right.attention_with_einsum),
    ("attention", right.attention_with_large_number),
    ("attention", right.attention_fused),
    ("scaled_dot_product_attention", right.scaled_dot_product_attention),
    ("SingleHeadAttention", right.SingleHeadAttention),
    ("MultiHeadedAttention", right.MultiHeadedAttention),
    ("MultiHeadedAttention", right.FusedHeads),
)
MODULE_ROWS = (
    "scale-of-all-heads",
    "layers-swapped",
    "one-layer-for-all",
    "query-input-for-all",
    "split-without-transpose",
    "split-interleaved",
    "joined-without-transpose",
    "joined-interleaved",
    "no-output-projection",
    "keys-averaged",
)


def loaded(text: str) -> dict[str, Any]:
    """The names that a file defines."""
    names: dict[str, Any] = {}
    exec(compile(text, "my_attention.py", "exec"), names)
    return names


def told(findings: list[Finding]) -> str:
    """All descriptions of likely mistakes in the findings."""
    return " ".join(diagnosis.looks_like for finding in findings for diagnosis in finding.diagnoses)


@pytest.mark.parametrize(("name", "solution"), STYLES, ids=[solution.__name__ for _, solution in STYLES])
def test_a_right_solution_passes_in_every_style(name: str, solution: Callable[..., Any]) -> None:
    assert [finding for finding in grade(name, solution) if not finding.passed] == []


@pytest.mark.parametrize("name", PARTS)
def test_the_right_file_passes(name: str) -> None:
    assert [finding for finding in grade(name, loaded(RIGHT)[name]) if not finding.passed] == []


@pytest.mark.parametrize(
    "slip", first_of_each(SLIPS, lambda slip: slip[0]), ids=[f"{slip[0]}-{slip[2][:40]}" for slip in SLIPS]
)
def test_a_slip_is_named(slip: tuple[str, str, str, str]) -> None:
    name, written, instead, expected = slip
    findings = list(grade(name, loaded(with_slip(name, written, instead))[name]))
    assert any(not finding.passed for finding in findings)
    assert re.search(re.escape(expected), told(findings)), findings


def with_steps(row: Misconception) -> Callable[..., Any]:
    """The attention function of a learner with this misconception."""

    def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        answer = compute(Case(query=query, key=key, value=value, mask=mask), change(**row.steps))
        return answer.output, answer.weights

    return attention


def module_with_steps(row: Misconception) -> type[nn.Module]:
    """The attention module of a learner with this misconception."""

    class Heads(nn.Module):
        def __init__(self, h: int, d_model: int, dropout: float) -> None:
            super().__init__()
            self.h = h
            self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

        def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
            layers = Layers(query=self.query, key=self.key, value=self.value, output=self.output)
            case = Case(query=query, key=key, value=value, mask=mask, layers=layers, heads=self.h)
            return compute(case, change(**row.steps)).output

    return Heads


@pytest.mark.parametrize("name", MISCONCEPTIONS)
def test_each_misconception_has_its_own_sentence_and_is_never_called_right(name: str) -> None:
    row = MISCONCEPTIONS[name]
    if name in MODULE_ROWS:
        findings = list(grade("MultiHeadedAttention", module_with_steps(row)))
    else:
        findings = list(grade("attention", with_steps(row)))
    assert row.diagnosis in [diagnosis for finding in findings for diagnosis in finding.diagnoses]


def test_no_two_misconceptions_say_the_same() -> None:
    sentences = [row.diagnosis.looks_like for row in MISCONCEPTIONS.values()]
    assert len(set(sentences)) == len(sentences)
    for row in MISCONCEPTIONS.values():
        hints = row.diagnosis.hints
        assert hints.nudge.endswith("?") or hints.nudge.endswith(".")
        assert hints.show_me not in hints.concrete  # the last hint reveals more than the previous one


sizes = st.integers(1, 5)


@given(
    batch=sizes,
    heads=sizes,
    queries=sizes,
    keys=sizes,
    channels=sizes,
    values=sizes,
    mask=st.sampled_from(["-", "p", "e"]),
)
@examples(40)
def test_the_steps_are_those_of_the_network_for_any_shape(
    batch: int, heads: int, queries: int, keys: int, channels: int, values: int, mask: str
) -> None:
    case = example(batch, heads, queries=queries, keys=keys, channels=channels, values=values)
    case = {"-": case, "p": padded(case), "e": with_empty_row(case)}[mask]
    answer, expected = compute(case, Steps()), right_result(case)
    assert agrees(answer.output, expected.output)
    assert agrees(answer.weights, expected.weights)


@given(
    batch=st.integers(2, 4),
    tokens=st.integers(3, 6),
    channels=st.integers(3, 9),
    name=st.sampled_from(sorted(MISCONCEPTIONS)),
)
@examples(40)
def test_a_wrong_output_is_recognized_for_any_shape(batch: int, tokens: int, channels: int, name: str) -> None:
    case = causal(example(batch, batch, queries=tokens, keys=tokens, channels=channels))
    wrong = wrong_result(case, MISCONCEPTIONS[name])
    if wrong is None or agrees(wrong.output, right_result(case).output):
        return  # the mistake is impossible or has no effect here
    (diagnosis,) = recognize(case, wrong.output)
    twin = next(row for row in MISCONCEPTIONS.values() if row.diagnosis == diagnosis)
    found = wrong_result(case, twin)
    assert found is not None and agrees(found.output, wrong.output)


def test_two_mistakes_at_once_are_both_named() -> None:
    case = padded(example(3, 3, queries=4, keys=4))
    rows = (MISCONCEPTIONS["no-scale"], MISCONCEPTIONS["mask-by-head"])
    wrong = wrong_result(case, *rows)
    assert wrong is not None
    assert recognize(case, wrong.output) == tuple(row.diagnosis for row in rows)


def test_an_output_like_no_misconception_is_not_given_a_name() -> None:
    case = self_attention(2, 5, 8)
    assert recognize(case, torch.zeros(2, 5, 8)) == ()


@pytest.mark.parametrize(
    ("name", "role"),
    [("W_q", "query"), ("wk", "key"), ("v_proj", "value"), ("to_out", "output"), ("linear_o", "output"),
     ("linears.2", ""), ("query_layer", "query"), ("fc_out", "output"), ("attn.key", "key"), ("norm", "")],
)  # fmt: skip
def test_a_layers_role_is_read_from_its_name(name: str, role: str) -> None:
    assert role_of(name) == role


def test_a_gap_is_said_once_and_nothing_else_is_run() -> None:
    def attention(*tensors: Tensor) -> None:
        raise NotImplementedError

    (finding,) = grade("attention", attention)
    assert not finding.passed and "a gap" in told([finding])


def test_the_answer_shows_shapes_the_first_number_that_differs_and_the_rung_that_was_asked_for() -> None:
    name, written, instead, _ = SLIPS[1]
    findings = list(grade(name, loaded(with_slip(name, written, instead))[name]))
    nudge, concrete, code = (format_findings(findings, rung) for rung in (1, 2, 3))
    assert "query (2, 5, 16)" in nudge
    assert re.search(r"output\[0, 0, 0\] is -?\d\.\d{4}, and\s+-?\d\.\d{4}\s+is right", nudge)
    assert "It looks as if" not in nudge and "It looks as if" in concrete
    assert "math.sqrt(" not in concrete and "math.sqrt(" in code
    assert concrete.count("√d_k. With many") == 1  # written once, then "The same as above."


def test_a_notebooks_check_prints_and_gives_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(right.scaled_dot_product_attention)
    assert "WRONG" not in capsys.readouterr().out


def test_every_exercise_has_a_ladder_and_checks() -> None:
    for name, exercise in CODE_EXERCISES.items():
        assert name in exercise.signature
        assert exercise.checks and exercise.hints.nudge and exercise.hints.show_me
