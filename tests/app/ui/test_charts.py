"""Figures show tokens as text and numbers unchanged."""

import numpy as np
import pytest

from headlight_app.ui import charts

MARKUP = ["</script>", "<b>bold</b>", "$x^2$", "a & b", "&lt;", "<br>"]


@pytest.mark.parametrize("piece", MARKUP)
def test_tokens_are_no_markup(piece: str) -> None:
    shown = charts.escape_label(piece)
    assert not set("<>$") & set(shown)


def test_white_space_is_visible() -> None:
    assert charts.escape_label(" cat") == "cat"
    assert charts.escape_label(" ") == "·"
    assert charts.escape_label("\n") == "¶"
    assert charts.escape_label("\t") == "→"
    assert charts.escape_label("") == "∅"
    assert charts.escape_label("chess board") == "chess board"


def test_equal_tokens_stay_apart() -> None:
    names = charts.numbered_labels(["a", "a", "a"])
    assert len(set(names)) == 3
    assert charts.numbered_labels(["a", " b"], [4, 7]) == ["4 a", "7 b"]


def test_attention_has_tokens_on_both_axes_and_empty_forbidden_cells() -> None:
    numbers = np.array([[1.0, np.nan], [0.25, 0.75]])
    names = charts.numbered_labels(["the", " cat"])
    figure = charts.attention_heatmap(numbers, names, names, "weight")
    (heatmap,) = figure.data
    assert list(heatmap.x) == list(heatmap.y) == ["0 the", "1 cat"]
    assert np.isnan(heatmap.z[0][1])
    assert heatmap.z[1][1] == 0.75


def test_before_stands_beside_after_only_where_something_changed() -> None:
    assert len(charts.prediction_bars(["a"], [0.1], [0.2], changed=False).data) == 1
    after, before = charts.prediction_bars(["a"], [0.1], [0.2], changed=True).data
    assert (list(before.x), list(after.x)) == ([0.1], [0.2])
    assert (before.name, after.name) == ("as trained", "with your changes")


def test_probabilities_are_drawn_from_0_to_100_percent() -> None:
    assert charts.prediction_bars(["a"], [0.1], [0.2], changed=True).layout.xaxis.range == (0, 1)
    scores = charts.prediction_bars(["a"], [-3.0], [-2.5], changed=False, are_scores=True)
    assert (scores.layout.xaxis.range, scores.layout.xaxis.tickformat, scores.data[0].name) == (None, None, "score")
