"""Views are plain values: numbers of any kind become the same JSON, and tokens are written as the page writes them."""

import json
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight.views.encoding import plain
from headlight.views.forms import agreement, bars, layers_matrix
from headlight.views.kinds import HeatMapView, LinesView, MatrixView, Numbers, NumberTable, Verdict, to_numpy
from headlight.views.rows import as_rows, fold, row
from headlight.views.words import (
    equals,
    format_bytes,
    format_count,
    names,
    numbered,
    percent,
    quoted,
    quoted_in_line,
    signed,
    three_digits,
    visible,
)

NUMBERS: list[list[float]] = [[0.5, float("nan")], [float("inf"), -1.0]]


@pytest.mark.parametrize("numbers", [np.array(NUMBERS), torch.tensor(NUMBERS)], ids=["array", "tensor"])
def test_arrays_and_tensors_become_the_same_json(numbers: np.ndarray) -> None:
    view = plain(MatrixView("Weights", numbers, tables={"Saved": NumberTable({"row": ("a", "b")}, numbers)}))
    assert view["kind"] == "matrix" and view["title"] == "Weights"
    assert view["values"] == view["tables"]["Saved"]["values"] == [[0.5, "NaN"], ["Infinity", -1]]
    assert json.loads(json.dumps(view, allow_nan=False)) == view


@pytest.mark.parametrize("numbers", [[1, 2.5], (1, 2.5), np.array([1, 2.5]), torch.tensor([1, 2.5])])
def test_numbers_of_any_kind_are_the_same_array(numbers: Numbers) -> None:
    assert to_numpy(numbers).tolist() == [1, 2.5]
    assert plain(LinesView("", numbers, {"one": numbers}, "x", "y"))["series"] == {"one": [1, 2.5]}


def test_a_heat_map_sends_the_digits_that_it_shows() -> None:
    view = HeatMapView("", torch.tensor([[1 / 3, 0.99996, -2.34567e-6]], dtype=torch.double, requires_grad=True))
    assert plain(view)["values"] == [[0.3333, 1.0, -2.346e-6]]
    extremes = [5e-324, -1e-310, 0.0, 12345.6, 1e308, float("inf"), float("nan")]
    assert plain(HeatMapView("", np.array([extremes])))["values"] == [[0.0, 0.0, 0.0, 12346, 1e308, "Infinity", "NaN"]]


def test_a_matrix_of_layers_tells_and_chooses_each_cell() -> None:
    view = layers_matrix(
        "Heads",
        np.array([[1.0, 2.0], [3.0, float("nan")]]),
        ("0", "1"),
        "head",
        name=lambda layer, head: f"{layer}.{head}",
        details=str,
        pick=lambda layer, head: {"layer": layer, "head": head},
    )
    assert view.rows == ("L0", "L1") and view.titles == (("0.0", "0.1"), ("1.0", "1.1"))
    assert view.details == (("1.0", "2.0"), ("3.0", "nan")) and view.picks[1][0] == {"layer": 1, "head": 0}


def test_a_sentence_or_a_view_alone_is_a_row() -> None:
    shown = bars("Letters", {"cat": 3, "a": 1})
    first, second, *folded = as_rows(("It is so.", shown, *fold(row(shown, title="More"))))
    assert first.views == (Verdict("It is so."),) and second.views == (shown,)
    assert [(each.title, each.folded) for each in folded] == [("More", True)]


@pytest.mark.parametrize(
    ("token", "seen"),
    [
        (" cat", "·cat"),
        ("New York", "New York"),
        ("a  b", "a··b"),
        (" ", "·"),
        ("\n\t", "¶→"),
        ("\x00", "\u2400"),
        ("", "∅"),
    ],
)
def test_white_space_of_a_token_is_visible(token: str, seen: str) -> None:
    assert visible(token) == seen


@given(st.text(max_size=8))
def test_a_token_in_a_sentence_has_no_loose_space_and_does_not_turn_its_direction(token: str) -> None:
    said = quoted(token)
    assert (
        said[0] == "\u2068"
        and said[-1] == "\u2069"
        and said[1:-1] == quoted_in_line(re.sub("[\u2066-\u2069]", "", token))
    )
    assert said[2] != " " and min(said) >= " "


def test_an_isolate_in_a_token_does_not_end_that_around_it() -> None:
    assert quoted("a\u2068b\u2069c") == "\u2068“abc”\u2069"


def test_a_leading_space_is_not_quoted_but_a_space_is() -> None:
    assert [quoted_in_line(token) for token in (" girl", " ", "  x")] == ["“girl”", "“·”", "“·x”"]
    assert names(["", " a"]) == ("∅", " a")
    assert numbered(["the", "the", "=1"]) == ("0 the", "1 the", "2 =1")


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0.0, "0"),
        (0.41, "0.41"),
        (-1234.5, "−1,230"),
        (2.0, "2"),
        (0.00012, "1.20·10⁻⁴"),
        (123456.0, "1.23·10⁵"),
        (-0.0, "0"),
        (float("nan"), "–"),
        (float("-inf"), "−∞"),
    ],
)
def test_numbers_in_words_have_three_digits_and_a_real_minus_sign(number: float, written: str) -> None:
    assert three_digits(number) == written
    assert signed(number) == (f"+{written}" if number > 0 else written)


@pytest.mark.parametrize(
    ("error", "size", "bound", "agrees", "difference"),
    [
        (5e-5, 1.0, 1e-4, True, ""),
        (5e-5, 1.0, 1e-6, False, "5.0·10⁻⁵"),
        (0.3, 1.0, 1e-4, False, "0.3"),
        (0.3, 5_000.0, 1e-4, True, ""),
        (5e-5, 0.001, 1e-4, True, ""),
        (float("nan"), 1.0, 1e-4, False, "–"),
    ],
)
def test_what_does_not_agree_up_to_rounding_is_not_said_to(
    error: float, size: float, bound: float, agrees: bool, difference: str
) -> None:
    found = agreement("They are equal, up to rounding.", error, size, bound)
    assert found.good is agrees and ("equal" in found.text) is agrees
    assert agrees or f"differ by up to {difference}," in found.text


@pytest.mark.parametrize(
    ("written", "result", "sign"),
    [(0.333 * 3, 1.0, "≈"), (0.5 * 0.25, 0.125, "="), (0.1235, 0.12349999, "="), (0, 1e-12, "≈"), (-2, -2.001, "=")],
)
def test_an_equation_says_whether_its_written_numbers_give_its_result(written: float, result: float, sign: str) -> None:
    assert equals(written, result) == sign


def test_shares_in_words_are_percentages() -> None:
    shares = (0.5, 0.1234, -0.02, 0.0, 0.0004, -0.0004, float("nan"))
    assert list(map(percent, shares)) == ["50.0 %", "12.3 %", "−2.0 %", "0 %", "<0.1 %", ">−0.1 %", "–"]
    assert [percent(share, 0) for share in shares] == ["50 %", "12 %", "−2 %", "0 %", "<1 %", ">−1 %", "–"]


@pytest.mark.parametrize(
    ("number", "words", "bytes_"),
    [
        (0, "0", "0 bytes"),
        (999, "999", "999 bytes"),
        (9_230, "9.23 k", "9.23 kB"),
        (13_249_999, "13.2 M", "13.2 MB"),
        (124_439_808, "124 M", "124 MB"),
        (7_000_000_000, "7.00 B", "7.00 GB"),
    ],
)
def test_large_numbers_have_three_digits(number: int, words: str, bytes_: str) -> None:
    assert (format_count(number), format_bytes(number)) == (words, bytes_)
