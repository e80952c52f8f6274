"""Expressions compute the same as the analyses, and only permitted operations."""

import ast
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import run
from headlight.analysis.head_metrics import head_metrics
from headlight.checkpoints.load import Checkpoint
from headlight.course.chapters import find_screen
from headlight.errors import HeadlightError
from headlight.lessons import expressions
from headlight.lessons.expressions import MAX_LENGTH, evaluate, fill, parse
from headlight.lessons.quantities import QUANTITIES
from headlight.lessons.scope import Scope, Value
from headlight.lessons.tables import Table
from headlight.nn.transformer import variant
from tests.model import toys

TEXT = toys.SENTENCE
DECODER = Checkpoint(toys.decoder(), toys.causal(), "")
SCOPE = Scope(DECODER, TEXT, seed=7)
TRACE = run(DECODER.model, DECODER.tokenizer, TEXT)
WORDS = [*QUANTITIES, "text", "seed", "x", "1", "0.5", '"previous"', "(", ")", "[", "]", ",", "+", "-", "*", "<", "."]


def number(expression: str, scope: Scope = SCOPE) -> float:
    found = evaluate(expression, scope)
    assert isinstance(found, float)
    return found


def test_quantities_are_those_of_the_trace() -> None:
    assert number("weights(1, 2)[-1, 0]") == pytest.approx(TRACE["decoder.1.self.weights"][2, -1, 0])
    assert number('value("decoder.0.self.scores")[3, 4, 1]') == pytest.approx(TRACE["decoder.0.self.scores"][3, 4, 1])
    shares = head_metrics(TRACE)["previous"]
    assert number('largest(metric("previous"))') == pytest.approx(shares.max())
    layer, head = (number(f'place(metric("previous"), "{axis}")') for axis in ("layer", "head"))
    assert shares[int(layer), int(head)] == shares.max()
    assert number("probability(token(3))") == pytest.approx(TRACE.probabilities()[TRACE.text.ids[3]], rel=1e-4)
    assert number("largest(predictions(4))") == pytest.approx(TRACE.probabilities().max())
    assert number("lens()[-1]") == pytest.approx(TRACE.probabilities().max(), rel=1e-4)


def test_an_edit_a_part_and_another_text_hold_within_their_expression_alone() -> None:
    off = run(DECODER.model, DECODER.tokenizer, TEXT, ["decoder.0.self.weights[1]=set:0"])
    bare = run(variant(DECODER.model, positional_encoding="none"), DECODER.tokenizer, TEXT)
    other = run(DECODER.model, DECODER.tokenizer, toys.TEXT)
    cell, path = "weights(1, 0)[-1, 0]", "decoder.1.self.weights"
    assert number(f"without(0, 1, {cell})") == pytest.approx(off[path][0, -1, 0])
    assert number(f'edited("decoder.0.self.weights[1]=set:0", {cell})') == pytest.approx(off[path][0, -1, 0])
    assert number(f'varied("positional_encoding=none", {cell})') == pytest.approx(bare[path][0, -1, 0])
    assert number(f'on("{toys.TEXT}", {cell})') == pytest.approx(other[path][0, -1, 0])
    assert number(f"without(0, 1, {cell}) - {cell}") != 0 and number(cell) == pytest.approx(TRACE[path][0, -1, 0])


def test_surprise_is_the_loss_in_bits() -> None:
    losses = [-np.log2(TRACE.probabilities(at)[TRACE.text.ids[at + 1]]) for at in range(len(TRACE.text.ids) - 1)]
    assert number("surprise()[3]") == pytest.approx(losses[2], rel=1e-3)
    assert number("loss()") == pytest.approx(np.mean(losses) * np.log(2), rel=1e-3)


def test_a_picture_of_a_screen_is_a_table() -> None:
    screen = find_screen("attention", "steps")
    scope = Scope(None, "", rows=screen.rows(**screen.parse({"q": "1,2;0,1;1,1", "k": "3,1;0,2;1,0"})))
    assert number('picture("Q Kᵀ")[0, 0]', scope) == 5.0
    with pytest.raises(HeadlightError, match="“Q Kᵀ”"):
        evaluate('picture("Nothing")', scope)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "().__class__",
        "text.upper()",
        "weights.__globals__",
        "[1, 2]",
        "{1: 2}",
        "lambda: 1",
        "1 if 1 else 2",
        "f'{1}'",
        "x := 1",
        "tokens(*[1])",
        "tokens(a=1)",
        "2 ** 9",
        "1 or 2",
        "1 < 2 < 3",
        "weights(0, 0)[0:2]",
        "True",
        "b'1'",
        "1j",
        "print(1)",
        "open('x')",
        "await x",
        "not 1",
        "9" * (MAX_LENGTH + 1),
        "-" * 60 + "1",
        "",
        "1 +",
        "\0",
    ],
)
def test_what_is_no_expression_is_refused_in_a_sentence(expression: str) -> None:
    with pytest.raises(HeadlightError) as refused:
        evaluate(expression, SCOPE)
    assert str(refused.value).endswith((".", "?"))


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("wieghts(0, 1)", "Did you mean 'weights'"),
        ("weights(0)", "takes layer, head: 2, not 1"),
        ("weights(9, 0)", "no layer 9"),
        ("weights(0, 9)", "no head 9"),
        ("weights(0, 0.5)", "whole number"),
        ("tokens", "Did you mean tokens()"),
        ("weights(0, 0) < 1", "not a single number"),
        ("tokens()[0]", "not a table"),
        ("weights(0, 0)[0, 1, 2]", "at most 2 places"),
        ("weights(0, 0)[99]", "no query 99"),
        ('weights(0, 0)["zebra"]', "no query 'zebra'"),
        ("1 / 0", "divides by zero"),
        ("exp(1000)", "The function gives no number"),
        ('metric("preveous")', "Did you mean 'previous'"),
        ('place(norms(), "head")', "no axis"),
        ('varied("colour=red", 1)', "positional_encoding"),
        ('edited("nonsense", loss())', "nonsense"),
        ("largest(1)", "must be a table"),
    ],
)
def test_what_cannot_be_computed_is_said(expression: str, sentence: str) -> None:
    with pytest.raises(HeadlightError) as refused:
        evaluate(expression, SCOPE)
    assert sentence in str(refused.value)


@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=60))
def test_any_text_is_an_expression_or_a_sentence(expression: str) -> None:
    try:
        tree = parse(expression)
    except HeadlightError:
        return
    kinds = {type(node) for node in ast.walk(tree)}
    assert not kinds & {ast.Attribute, ast.Lambda, ast.ListComp, ast.List, ast.Dict, ast.Starred, ast.Slice}
    names = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert names <= set(QUANTITIES)


def test_a_sentence_has_the_numbers_in_it() -> None:
    assert fill("{tokens():.0f} tokens, {token(1)}, {1 - 3:.1f}, {1 < 2}", SCOPE) == (
        f"{len(TRACE.text.ids)} tokens, {TRACE.text.token_texts[1].strip()}, −2.0, yes"
    )
    with pytest.raises(HeadlightError, match="not a table"):
        fill("{norms()}", SCOPE)


@pytest.mark.parametrize(
    ("expression", "read", "plain"),
    [
        ("{0 - 3}", "−3", "-3"),
        ("{1234}", "1,234", "1234"),
        ("{0 - 1234.5:.1f}", "−1,234.5", "-1234.5"),
        ("{0.0005:.3g}", "5.00·10⁻⁴", "0.0005"),
        ("{1000 * 1000}", "1.00·10⁶", "1e+06"),
        ("{0.25:.0%}", "25 %", "25%"),
        ("{1 < 2}", "yes", "yes"),
    ],
)
def test_a_number_is_written_for_people_or_plainly_for_a_control(expression: str, read: str, plain: str) -> None:
    assert fill(expression, SCOPE) == read
    assert fill(expression, SCOPE, plain=True) == plain


def test_a_long_text_and_many_runs_are_refused() -> None:
    with pytest.raises(HeadlightError, match="at most 64"):
        evaluate("loss()", SCOPE.with_(text="cat " * 80))
    full: dict[Any, Any] = {at: TRACE for at in range(80)}
    with pytest.raises(HeadlightError, match="more than 80 times"):
        evaluate("without(0, 0, loss())", Scope(DECODER, "a new text", _runs=full))


def test_places_that_are_called_alike_are_told_apart() -> None:
    table = Table(np.arange(3.0), ("token",), (("the", "cat", "the"),))
    assert table.options(0) == ("the (token 0)", "cat", "the (token 2)") and table.place() == (2,)
    assert table.place(least=True) == (0,)


@pytest.mark.parametrize("wrapped", ["-{}", "weights(0, 0)[{}, 0]", "1 + {}", "weights(0, 0)[0, {}]"])
def test_each_part_of_an_expression_is_computed_once(wrapped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, computed = "seed - seed", list[str]()
    for _ in range(8):
        text = wrapped.format(text)
    named = expressions._named

    def counted(name: str, scope: Scope) -> Value:
        computed.append(name)
        return named(name, scope)

    monkeypatch.setattr(expressions, "_named", counted)
    with suppress(HeadlightError):  # a weight is no place
        evaluate(text, SCOPE)
    assert computed == ["seed", "seed"]


def test_a_classifiers_labels_are_its_answers() -> None:
    model = toys.encoder(output_head="sequence-classifier", labels=("bad", "so-so", "good"))
    scope = Scope(Checkpoint(model, toys.masked(), ""), TEXT, seed=7)
    expected = run(model, toys.masked(), TEXT).probabilities(-1)
    assert number('probability("good")', scope) == pytest.approx(expected[2])
    ranks = [number(f'rank("{label}")', scope) for label in ("bad", "so-so", "good")]
    assert ranks == [1 + (expected > share).sum() for share in expected]
    with pytest.raises(HeadlightError, match=r"no label 'x'\. It has bad, so-so, good"):
        number('probability("x")', scope)
