"""The numbers beside the layers in a figure of all heads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight.analysis.attribution import attribute_logits
from headlight.checkpoints import save
from headlight.views.words import in_line
from headlight_app.explore.answers.layer_analysis import extended_trace
from headlight_app.explore.answers.layer_numbers import _signed, _three_digits
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_worker, make_question
from tests.model import toys

TEXT = "the cat sat on the mat"


def ask(model: str, query: int = 2, **fields: Any) -> tuple[dict[str, dict[str, Any]], str]:
    """The columns by their titles, and what they are."""
    meta, _ = ask_worker("layer_numbers", model=model, text=TEXT, query=query, **fields)
    return {column["title"]: column for column in meta["columns"]}, meta["rule"]


def test_the_lens_names_the_likeliest_token_after_each_layer_and_the_rank_of_the_true_one() -> None:
    columns, rule = ask("next")
    question = resolve(make_question("next", TEXT))
    probabilities, true = question.trace_of("logits").probabilities(2), question.trace.text.ids[3]
    best = columns["likeliest\ntoken"]
    assert best["layers"][-1] == in_line(question.tokenizer.token_text(int(probabilities.argmax())))
    assert best["align"] == "start" and len(best["layers"]) == 2
    assert columns["p"]["layers"][-1] == f"{100 * probabilities.max():.1f} %"
    rank = columns[f"rank of\n“{in_line(question.tokenizer.token_text(true))}”"]
    assert rank["layers"][-1] == str(1 + int((probabilities > probabilities[true]).sum()))
    assert rule.startswith("beside each layer, at “cat” (position 2): the likeliest token by the logit lens, its prob")


def test_norms_are_those_of_the_token() -> None:
    trace = resolve(make_question("next", TEXT)).trace_of("decoder.1.residual")
    columns, _ = ask("next")
    assert columns["residual\nnorm"]["layers"][0] == _three_digits(
        float(np.linalg.norm(trace["decoder.1.residual"][2]))
    )


@pytest.mark.parametrize(("model", "attention"), [("next", "attention"), ("both", "self-attention")])
def test_what_the_parts_of_a_layer_add_is_their_sum(model: str, attention: str) -> None:
    source: dict[str, Any] = {"source": "the dog"} if model == "both" else {}
    columns, rule = ask(model, token=3, **source)
    question = resolve(make_question(model, TEXT, **source))
    found = attribute_logits(question.model, extended_trace(question), 2)
    added = found.logits(np.array([3]))[:, 0]
    heads = [
        number for part, number in zip(found.components, added, strict=True) if (part.kind, part.layer) == ("self", 1)
    ]
    column = columns[f"{attention}\nadds"]
    assert column["embedding"] == "" and column["layers"][1] == _signed(float(sum(heads)))
    assert f"contribution to the logit of “{in_line(question.tokenizer.token_text(3))}”" in rule
    assert ("cross-attention\nadds" in columns) == (model == "both")


def test_a_model_without_an_output_head_has_norms_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "bare", toys.encoder(output_head="none"), toys.masked(), dtype="float32")
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    columns, rule = ask("bare")
    assert list(columns) == ["residual\nnorm"] and rule.endswith(": the norm of the residual stream")


def test_labels_have_no_true_token() -> None:
    columns, rule = ask("mood")
    assert list(columns)[:2] == ["likeliest\nlabel", "p"] and not any("rank" in title for title in columns)
    assert "the likeliest label by the logit lens and its probability p" in rule


def test_numbers_of_a_column_are_aligned() -> None:
    assert [_three_digits(number) for number in (2.0, 99.96, 1234.5, 0.00012)] == ["2.00", "100", "1,234", "0.000120"]
    assert [_signed(number) for number in (0.5, -1, -0.001, 0)] == ["+0.50", "−1.00", "+0.00", "+0.00"]
