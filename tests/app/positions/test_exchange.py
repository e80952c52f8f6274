"""Two words exchanged on Positions: what is said about the two orders is what the weights are."""

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

from headlight.attention_groups import attention_groups
from headlight.errors import HeadlightError
from headlight.tasks import Example
from headlight.views.rows import as_rows
from headlight_app.contract.state import State
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve
from headlight_app.positions.answers import exchange
from headlight_app.positions.answers.exchange import (
    EQUAL,
    Exchange,
    Orders,
    conclusion,
    exchange_rows,
    exchanged,
    read_orders,
    run_exchange,
    without_positions,
)
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


def read(resolved: ResolvedQuestion, text: str) -> np.ndarray:
    """The weights of all layers and heads for a text as it stands."""
    (group,) = attention_groups(resolved.config)
    trace = resolved.with_input(text=text).trace_of("*.weights")
    return np.stack([trace[f"{group.path(layer)}.weights"] for layer in range(group.layers)])


@pytest.mark.parametrize("model", ["next", "masked"])
def test_each_number_is_that_of_the_weights(model: str) -> None:
    resolved = resolve(make_question(model))
    (group,) = attention_groups(resolved.config)
    orders = read_orders(resolved, group, WORDS)
    assert [text.split() for text in orders.texts] == [WORDS.split(), WORDS.split()[::-1]]
    found = run_exchange(resolved, group, orders)
    before, after = (read(resolved, text) for text in orders.texts)
    np.testing.assert_allclose(found.before, before, atol=1e-6)
    words = [place for place, is_word in enumerate(orders.are_words) if is_word]
    layers, heads = before.shape[:2]
    changes = {
        (layer, head, query, key): abs(
            float(before[layer, head, query, key] - after[layer, head, orders.places[query], orders.places[key]])
        )
        for layer, head, query, key in product(range(layers), range(heads), words, words)
    }
    layer, head, query, key = place = max(changes, key=lambda each: changes[each])
    assert found.most_changed == place and found.largest_change >= changes[place]
    with_them = rows_of(model)[1]
    said = re.search(r"“(.*?)”.* gives .*“(.*?)”.* ([\d.]+) of its attention, and ([\d.]+) once", with_them.text)
    assert said and f"among the words most in head {head} of layer {layer}" in with_them.text
    assert with_them.title.endswith(f": Layer {layer} · Head {head}")
    assert [said[1], said[2]] == [orders.tokens[each].strip() for each in (query, key)]
    numbers = before[layer, head, query, key], after[layer, head, orders.places[query], orders.places[key]]
    assert (float(said[3]), float(said[4])) == pytest.approx(numbers, abs=0.006) and said[3] != said[4]
    without = run_exchange(without_positions(resolved, masked=False), group, orders)
    assert without.largest_change <= EQUAL < found.largest_change


def of_two_tokens(before: float, after: float, special: float = 0.0, second_token: str = "b") -> Exchange:
    """An exchange of one head in which a word changes its weight of another word; the last token is special."""
    first, second = np.zeros((2, 1, 1, 3, 3))
    first[0, 0, 0, 1], second[0, 0, 0, 1], second[0, 0, 2, 0] = before, after, special
    return Exchange(Orders(("a b", "b a"), ("a", second_token, "[SEP]"), (True, True, False), (1, 0, 2)), first, second)


def test_the_two_weights_that_are_named_differ_in_their_digits() -> None:
    assert "0.50 of its attention, and 0.00 once" in conclusion(of_two_tokens(0.5, 0.0, special=0.9))
    assert re.search(r"“a”\W+ \(0\) gives \W*“a”\W+ \(1\) 0.50", conclusion(of_two_tokens(0.5, 0.0, second_token="a")))
    assert "0.5001 of its attention, and 0.5004 once" in conclusion(of_two_tokens(0.50012, 0.50038))
    assert "0.50001 of its attention, and 0.50003 once" in conclusion(of_two_tokens(0.500012, 0.500028))
    assert conclusion(of_two_tokens(0.5, 0.5)).startswith("The two orders are the same to it")
    assert conclusion(of_two_tokens(0.5, 0.5, special=0.3)) == (
        "The two orders differ only in the weights from or to special tokens."
    )


def test_a_causal_mask_alone_tells_the_order_too() -> None:
    text = rows_of("next")[-1].text
    assert "With the mask on they differ by up to" in text
    assert "mask" not in rows_of("masked")[-1].text
    (_, with_mask, without) = rows_of("next", positional_encoding="none")
    assert re.sub(r"\d", "0", f"{with_mask.title}; {without.title}") == (
        "With mask: Layer 0 · Head 0; Without mask: Layer 0 · Head 0"
    )


@pytest.mark.parametrize("words", ["dog", "dog dog", " ".join(map(str, range(13)))])
def test_words_that_cannot_be_exchanged_are_asked_for_again(words: str) -> None:
    with pytest.raises(HeadlightError, match="2 to 12 words"):
        exchanged(words)
    assert "2 to 12 words" in rows_of("next", words)[-1].text


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("zzzzzzzzzzzzzz qqqqqqqqqqqqqq", r"These words are \d+ tokens; at most 24 fit side by side\."),
        ("a " + "b" * 199, r"These words are 201 characters; at most 200 fit side by side\."),
    ],
)
def test_too_many_words_are_refused_for_what_they_are_before_the_model_runs(
    words: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResolvedQuestion, "trace_of", None)
    *_, refused = rows_of("next", words)
    assert re.fullmatch(cause, refused.text)


def test_words_cut_into_other_tokens_once_they_are_exchanged_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "exchanged", lambda text: ("the dog", "the cat"))
    monkeypatch.setattr(ResolvedQuestion, "trace_of", None)
    *_, refused = rows_of("next", "the dog")
    assert refused.text.startswith("Exchanged, these words are cut into other tokens")


def test_a_model_whose_own_words_cannot_be_exchanged_waits_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "WORDS", "[UNK] [UNK]")
    monkeypatch.setattr(exchange, "examples_for", lambda entry: (Example("dog"), Example("the dog lay on the mat")))
    assert rows_of("masked", "")[0].views[0].text == "the dog lay on"
    monkeypatch.setattr(exchange, "examples_for", lambda entry: (Example("dog"),))
    assert not rows_of("masked", "")
    assert len(rows_of("masked", WORDS)) == 3
