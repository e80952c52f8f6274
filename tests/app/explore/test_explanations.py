"""Why an answer leads, and why a head looks at a token: the views beside the open panel."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from headlight.analysis.ledger import KEEP, Cell, cell_ledger
from headlight.analysis.residual_stream import Component
from headlight.errors import HeadlightError
from headlight.views.words import quoted
from headlight_app.explore.answers.analyses.parts import part_name, part_of, part_pick, part_title
from headlight_app.explore.answers.explanations.ledger import largest_lines, own_cell, short_name
from headlight_app.explore.answers.explanations.why import favour_words, likelihood_words, reasons
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_worker, make_question

TEXT = "the cat sat on the mat"
PARTS = (
    Component("embedding"),
    Component("self", 0, 0),
    Component("feed_forward", 0),
    Component("self", 1, 2),
    Component("bias", 1),
    Component("edit"),
)


def explained(name: str, model: str = "next", text: str = TEXT, **fields: Any) -> list[dict[str, Any]]:
    """The rows of an explanation."""
    meta, _ = ask_worker("analysis", analysis=name, model=model, text=text, with_tables=True, **fields)
    return list(meta["rows"])


def test_the_reasons_are_parts_of_the_difference_of_the_two_likeliest_logits() -> None:
    (row,) = explained("why", query=3)
    question = resolve(make_question("next", TEXT))
    logits = question.logits(3).astype(float)
    first, second = np.argsort(-logits)[:2]
    texts = [quoted(question.tokenizer.token_text(int(token))) for token in (first, second)]
    assert row["title"] == f"Why {texts[0]} and not {texts[1]}"
    (view,) = row["views"]
    (saved,) = view["tables"].values()
    assert np.sum(saved["values"]) == pytest.approx(logits[first] - logits[second], abs=1e-3)
    assert len(view["parts"]) == 4 and len(view["picks"]) == 4
    sizes = [abs(number) for _, number in view["parts"]]
    assert sizes == sorted(sizes, reverse=True)
    ratio = float(np.exp(logits[first] - logits[second]))
    assert row["text"].startswith(likelihood_words(ratio)) and row["text"].endswith("favours it most.")


def test_a_prediction_of_the_whole_text_and_a_lone_label_have_no_reasons() -> None:
    assert explained("why", "mood") == []


def test_how_much_likelier_an_answer_is_has_no_more_digits_than_are_exact() -> None:
    assert [likelihood_words(times) for times in (1.01, 3.19, 42.3, 290_026.9, 1e9, float("inf"), float("nan"))] == [
        "It is hardly likelier",
        "It is 3.2 times as likely",
        "It is 42 times as likely",
        "It is 290,000 times as likely",
        "It is at least a million times as likely",
        "It is at least a million times as likely",
        "The probabilities are not numbers",
    ]


def test_the_part_of_an_edit_is_a_reason_however_small() -> None:
    assert reasons(PARTS, np.array([8, 0, 2.5, -4, 0, 0])) == [0, 3, 2]
    assert reasons(PARTS, np.array([8.0, 7, 6, 5, 4, 1]))[-1] == 5
    assert reasons(PARTS, np.array([1.0, 1, 1, 1, 1, -90]))[0] == 5


def test_a_part_favours_an_answer_even_if_larger_ones_oppose_it() -> None:
    assert favour_words(PARTS, np.array([-9, -8, -7, -6, 0.5, 0])) == "layer 1, biases favours it most."
    assert favour_words(PARTS, np.array([1.0, 1, 3, 2, 0, 0])) == "the feed-forward of layer 0 favours it most."
    assert favour_words(PARTS, np.array([-1.0] * 6)) == "no single part favours it."


CELL: dict[str, Any] = {"attention": "decoder.self", "layer": 1, "head": 3, "pinned": [5], "key": 2}


def test_the_pairs_and_the_matrix_add_up_to_the_score() -> None:
    (row,) = explained("ledger", **CELL)
    pairs, matrix = row["views"]
    question = resolve(make_question("next", TEXT))
    found = cell_ledger(question.model, question.trace_of(*KEEP), Cell("decoder.1.self", 3, 5, 2))
    assert pairs["end"] == ["The score", pytest.approx(found.score)]
    assert sum(number for _, number in pairs["parts"]) == pytest.approx(found.score, abs=1e-4)
    assert np.sum(matrix["values"]) == pytest.approx(float(found.parts.sum()), abs=1e-4)
    assert matrix["rows"][-1] == matrix["columns"][-1] == "rest" and len(matrix["rows"]) == 6
    assert matrix["row_picks"][-1] == matrix["column_picks"][-1] == {}
    (saved,) = matrix["tables"].values()
    assert np.array(saved["values"]) == pytest.approx(found.parts, abs=1e-5)
    tokens = [quoted(question.trace.text.token_texts[token]) for token in (5, 2)]
    assert re.fullmatch(f"Why {tokens[0]} (hardly )?looks at {tokens[1]}", row["title"])
    assert f"The score {found.score:.3g}" in row["text"].replace("−", "-")


def test_the_first_token_looks_at_nothing_but_itself() -> None:
    (row,) = explained("ledger", **CELL | {"pinned": [0], "key": 0})
    assert row["text"].startswith(
        "The weight 1 carries 100.0 % of the head's output by length, 100.0 % along its direc"
    )
    assert " looks at " in row["title"]


def test_a_writer_leads_to_its_own_cell_or_to_its_neurons() -> None:
    question = resolve(make_question("both", TEXT, source="the dog lay"))
    weights = question.trace["encoder.0.self.weights"]
    assert own_cell(question, "encoder.0.self[2]", 1) == {
        **{"tab": "heads", "attention": "encoder.self", "layer": 0, "head": 2, "heads": ()},
        **{"pinned": (1,), "key": int(weights[2, 1].argmax())},
    }
    network = own_cell(question, "decoder.1.feed_forward", 1)
    assert network["analysis"] == "logit_attribution" and network["neuron"] == "1"
    assert own_cell(question, "decoder.embedding", 1) == {}


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [({"pinned": [1], "key": 4}, "mask forbids"), ({"layer": 9}, "no attention"), ({"head": 99}, "no head 99")],
)
def test_a_weight_that_cannot_be_gets_a_sentence(cell: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HeadlightError, match=sentence):
        explained("ledger", **CELL | cell)


def test_without_one_clicked_weight_there_is_no_ledger() -> None:
    assert explained("ledger", **CELL | {"pinned": []}) == explained("ledger", **CELL | {"key": -1}) == []


def test_the_largest_writers_come_first_and_the_others_together() -> None:
    assert largest_lines(np.array([0.1, 3, 2])) == [[1], [2], [0]]
    assert largest_lines(np.arange(7.0)) == [[6], [5], [4], [3], [2], [1, 0]]


def test_writers_have_short_and_long_names() -> None:
    paths = (
        "decoder.0.self[3]",
        "decoder.2.feed_forward",
        "decoder.1.bias",
        "encoder.position_embedding",
        "decoder.embedding",
    )
    assert [short_name(part_of(path)) for path in paths] == ["L0 H3", "L2 FF", "L1 bias", "pos", "token"]
    assert [part_name(part_of(path)) for path in paths] == [
        *("layer 0, head 3", "the feed-forward of layer 2", "layer 1, biases", "added positions", "token embedding"),
    ]


def test_the_distance_between_two_tokens_is_a_writer_without_a_stack() -> None:
    """Disentangled attention has it on both sides of the ledger."""
    part = part_of("relative_position")
    assert (part_title(part), short_name(part), part_pick(part, "encoder")) == (
        "Relative position",
        "relative position",
        {},
    )
    question = resolve(make_question("next", TEXT))
    assert own_cell(question, "relative_position", 2) == {}
