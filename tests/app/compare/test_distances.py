"""The distances of heads as views: all of them, and the largest."""

import numpy as np

from headlight.views.kinds import ChoiceView, MatrixView
from headlight_app.compare.answers.distances import distance_rows, ranked_heads

DISTANCES = np.array([[0.2, np.nan], [0.9, 0.00001]])


def test_heads_are_ranked_by_distance_and_incomparable_ones_are_last() -> None:
    assert ranked_heads(DISTANCES) == [(1, 0), (0, 0), (1, 1), (0, 1)]
    assert ranked_heads(np.full((1, 2), np.nan)) == [(0, 0), (0, 1)]


def test_heads_whose_distances_differ_only_by_rounding_keep_their_order() -> None:
    assert ranked_heads(np.array([[1e-7, 3e-7, 0.5]])) == [(0, 2), (0, 0), (0, 1)]


def test_the_table_tells_each_distance_and_the_buttons_have_those_that_are_more_than_rounding() -> None:
    (table,), (buttons,) = (row.views for row in distance_rows(DISTANCES))
    assert isinstance(table, MatrixView) and isinstance(buttons, ChoiceView)
    assert table.titles[1] == ("Layer 1, head 0", "Layer 1, head 1")
    assert table.details == (("0.200", "nothing to compare"), ("0.900", "1.0·10⁻⁵"))
    assert buttons.options == ("layer 1, head 0 · 0.900", "layer 0, head 0 · 0.200")
    assert buttons.picks == (table.picks[1][0], table.picks[0][0])
    assert table.tables and table.tables["Distance of each head"].axes == {"layer": ("0", "1"), "head": ("0", "1")}


def test_heads_that_are_all_alike_up_to_rounding_are_pale_and_have_no_buttons() -> None:
    first, second = distance_rows(np.array([[0.0, 2e-6]]))
    (table,) = first.views
    assert isinstance(table, MatrixView) and table.least_scale == 0.25 and table.note == "0: alike everywhere."
    assert not second.views and second.text == "No head differs between the two sides."


def test_heads_without_any_distance_are_not_called_alike() -> None:
    first, second = distance_rows(np.full((1, 2), np.nan))
    (table,) = first.views
    assert table.note == "Nothing can be compared: no query of A corresponds to one of B."
    assert not second.views and not second.text
