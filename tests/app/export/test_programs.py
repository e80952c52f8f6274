"""Programs copied from Compare, Generate and Positions run unchanged and reproduce the pages' numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import to_builtins

from headlight.errors import TextError
from headlight_app.contract.question import Question, Variant
from headlight_app.contract.sampling import Sampling
from headlight_app.export.answers.programs import MODELS_PLACEHOLDER
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_worker, make_question

TEXT = "the cat sat on the mat"
OFF = "decoder.0.self.weights[2]=set:0"


def executed(
    toys: Path,
    question: Question,
    *more: Question,
    group: str = "decoder.self",
    heads: Sequence[Sequence[int]] = ((1, 3),),
    **asked: Any,
) -> dict[str, Any]:
    """The names of a program after running it with the toy models available; `shown` is its last output."""
    sides = [{"question": to_builtins(each), "attention_group": group, "heads": heads} for each in (question, *more)]
    meta, _ = ask_worker("export_program", sides=sides, **asked)
    here: dict[str, Any] = {}
    program = meta["python"].replace(MODELS_PLACEHOLDER, str(toys))
    exec(compile(program, "program", "exec"), here)
    here["shown"] = eval(program.strip().splitlines()[-1].removeprefix("print"), here)
    return here


def test_both_sides_of_a_comparison_have_their_own_numbers(toys: Path) -> None:
    sides = make_question("next", TEXT), make_question("next", TEXT, edits=(OFF,), positional_encoding="alibi")
    found = executed(toys, *sides)
    for letter, question in zip("ab", sides, strict=True):
        expected = resolve(question).trace["decoder.1.self.weights"][3]
        np.testing.assert_allclose(found[f"numbers_{letter}"], expected, atol=1e-6)


@pytest.mark.parametrize(("model", "generated"), [("next", [[6, 5], [7, 9]]), ("masked", [])])
def test_the_next_step_of_a_generation_draws_the_same_token(model: str, generated: list[list[int]], toys: Path) -> None:
    question = make_question(model, TEXT, masked_positions=(2, 4) if model == "masked" else ())
    sampling = to_builtins(Sampling(temperature=0.7, top_k=5, seed=3))
    meta, _ = ask_worker("generate", question=to_builtins(question), sampling=sampling, generated=generated)
    group = "encoder.self" if model == "masked" else "decoder.self"
    found = executed(toys, question, group=group, sampling=sampling, generated=generated)
    assert found["step"].chosen_token == meta["step"]["chosen"]


@pytest.mark.parametrize("heads", [[[0, 1]], [[1, 0], [1, 3]], []])
def test_a_program_of_a_step_prints_the_head_or_the_mean_that_is_shown(heads: list[list[int]], toys: Path) -> None:
    question = make_question("next", TEXT)
    found = executed(toys, question, heads=heads, sampling=to_builtins(Sampling()))
    weights = np.stack([found["step"][f"decoder.{layer}.self.weights"] for layer in range(2)])
    shown = [weights[layer, head] for layer, head in heads] or list(weights.reshape(-1, *weights.shape[2:]))
    np.testing.assert_allclose(found["shown"], np.mean(shown, axis=0), atol=1e-6)


def test_a_positional_encoding_is_read_as_the_page_reads_it(toys: Path) -> None:
    question = make_question("next", TEXT, positional_encoding="alibi")
    assert question.variant == Variant(positional_encoding="alibi")
    found = executed(toys, question, length=8, stack="decoder")
    assert found["profile"].encoding == "alibi" and found["profile"].bias.shape[1:] == (8, 8)


@pytest.mark.parametrize("asked", [{"length": 8}, {"sampling": {}}])
def test_a_program_about_one_side_is_refused_for_two(asked: dict[str, Any]) -> None:
    side = {"question": to_builtins(make_question("next", TEXT)), "attention_group": "decoder.self"}
    with pytest.raises(TextError, match="one side; 2 were given"):
        ask_worker("export_program", sides=[side] * 2, **asked)
