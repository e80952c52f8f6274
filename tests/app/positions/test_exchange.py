"""Two words exchanged on Positions: what is said about the two orders is what the weights are."""

import re
from typing import Any

import numpy as np
import pytest

from headlight.attention_groups import attention_groups
from headlight.errors import HeadlightError
from headlight.views.rows import as_rows
from headlight_app.contract.state import State
from headlight_app.inference.resolved_question import resolve
from headlight_app.positions.answers.exchange import EQUAL, exchange_rows, exchanged, run_exchange, without_positions
from headlight_app.positions.answers.page import show_encoding
from tests.app.asking import make_question

WORDS = "the dog lay"


def rows_of(model: str, words: str = WORDS, **question: Any) -> list[Any]:
    resolved = resolve(make_question(model, **question))
    return list(exchange_rows(resolved, resolved.config.stacks[0], words))


def test_the_page_opens_with_words_and_the_formula_follows() -> None:
    rows = show_encoding(resolve(make_question("next")), State()).rows
    kinds = [view.kind for row in as_rows(rows) for view in row.views]
    assert kinds.index("input") < kinds.index("matrix") < kinds.index("equations")


@pytest.mark.parametrize("model", ["next", "masked", "both"])
def test_with_positions_the_orders_differ_and_without_them_they_are_the_same(model: str) -> None:
    asked, with_them, without = rows_of(model)
    assert asked.views[0].text == WORDS
    assert with_them.title.startswith("With positions") and with_them.text.startswith("The two orders differ")
    assert without.title.startswith("Without positions") and without.text.startswith("The two orders are the same")
    assert [view.title.split()[-3:] for view in with_them.views if model == "next"] in (
        [],
        [["the", "dog", "lay"], ["lay", "dog", "the"]],
    )


@pytest.mark.parametrize("model", ["next", "masked"])
def test_each_number_is_that_of_the_weights(model: str) -> None:
    resolved = resolve(make_question(model))
    (group,) = attention_groups(resolved.config)
    found = run_exchange(resolved, group, exchanged(WORDS))
    assert found
    for (first, second), weights in (((0, 2), found.before), ((2, 0), found.after)):
        words = WORDS.split()
        text = " ".join((words[first], words[1], words[second]))
        text = f" {text}" if found.tokens[1].startswith(" ") else text  # it knows the first word only after a space
        trace = resolved.with_input(text=text).trace_of("*.weights")
        for layer in range(group.layers):
            read = trace[f"{group.path(layer)}.weights"]
            order = found.places if weights is found.after else range(len(found.tokens))
            np.testing.assert_allclose(weights[layer], read[:, order][:, :, order], atol=1e-6)
    told = rows_of(model)[1].text
    said = re.search(r"“(.*?)”.* gives .*“(.*?)”.* ([\d.]+) of its attention, and ([\d.]+) once", told)
    assert said
    query, key = (found.tokens.index(next(t for t in found.tokens if t.strip() == said[n])) for n in (1, 2))
    layer, head, *cell = found.most_changed
    assert cell == [query, key] and f"head {head} of layer {layer}" in told
    numbers = (weights[layer, head, query, key] for weights in (found.before, found.after))
    assert (float(said[3]), float(said[4])) == pytest.approx(tuple(numbers), abs=0.006)
    without = run_exchange(without_positions(resolved, masked=False), group, exchanged(WORDS))
    assert without and without.largest_change <= EQUAL < found.largest_change


def test_a_causal_mask_alone_tells_the_order_too() -> None:
    text = rows_of("next")[-1].text
    assert "With the mask on they differ by up to" in text
    assert "mask" not in rows_of("masked")[-1].text
    (_, with_mask, without) = rows_of("next", positional_encoding="none")
    assert (with_mask.title, without.title) == ("With mask", "Without mask")


@pytest.mark.parametrize("words", ["dog", "dog dog", " ".join(map(str, range(13)))])
def test_words_that_cannot_be_exchanged_are_asked_for_again(words: str) -> None:
    with pytest.raises(HeadlightError, match="2 to 12 words"):
        exchanged(words)
    assert "2 to 12 words" in rows_of("next", words)[-1].text
