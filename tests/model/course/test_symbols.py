"""Every symbol of the course's formulas is explained, and the table of symbols has no unused ones."""

import pytest

from headlight.course.chapters import CHAPTERS
from headlight.course.symbols import meanings, name_of, symbols_of

FORMULAS = {
    f"{chapter}/{name}": screen.formulas for chapter, row in CHAPTERS.items() for name, screen in row.screens.items()
}


@pytest.mark.parametrize("path", FORMULAS)
def test_each_symbol_of_a_screen_is_explained(path: str) -> None:
    for symbol in symbols_of(path, FORMULAS[path]):  # raises KeyError for an unexplained one
        assert symbol.words and name_of(symbol.latex) == symbol.name


def test_no_row_of_the_table_is_idle() -> None:
    table, used = meanings(), set()
    for path, formulas in FORMULAS.items():
        places = (path, path.partition("/")[0], "everywhere")
        for symbol in symbols_of(path, formulas):
            used.add((next(place for place in places if symbol.name in table.get(place, {})), symbol.name))
    assert {(place, name) for place, rows in table.items() for name in rows} == used


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        (r"d_k = \frac{d_\mathrm{model}}{h}", ["d_k", "d_model", "h"]),
        (r"W^Q_n \cdot \mathrm{softmax}_j(q_i K^\top)", ["W_Q", "n", "softmax", "j", "q", "i", "K"]),
        (r"\text{no symbol} \sum_{c} \theta", ["c", "\\theta"]),
    ],
)
def test_subscripts_are_symbols_unless_they_are_part_of_a_name(formula: str, names: list[str]) -> None:
    assert [symbol.name for symbol in symbols_of("", [formula])] == names


def test_a_screen_may_give_a_letter_a_meaning_of_its_own() -> None:
    words = {path: {each.name: each.words for each in symbols_of(path, ["T"])}["T"] for path in ("", "masks/lifted")}
    assert words[""] != words["masks/lifted"]
