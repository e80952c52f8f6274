"""Masks: the keys to which each query may attend, alone and combined."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import MASKS, ConfigError, HeadlightError, TextError, UnknownNameError
from headlight.nn.masks import (
    MaskArgument,
    QueryKeyPositions,
    check_mask,
    combine_masks,
    extend_mask,
    is_causal,
    parse_masks,
)

LENGTHS = st.integers(1, 12)


def pair(length: int, real: torch.Tensor | None = None) -> QueryKeyPositions:
    """The positions of a self-attention."""
    return QueryKeyPositions(torch.arange(length), torch.arange(length), real)


def cells(masks: tuple[str, ...], length: int) -> list[list[bool]]:
    """The allowed cells of one text."""
    allowed: list[list[bool]] = combine_masks(masks, pair(length))[0, 0].tolist()
    return allowed


@given(LENGTHS)
def test_causal_lets_nobody_see_what_comes_after(length: int) -> None:
    assert cells(("causal",), length) == [[key <= query for key in range(length)] for query in range(length)]


@given(LENGTHS, st.integers(1, 15))
def test_a_window_is_nearer_than_its_width_on_both_sides(length: int, width: int) -> None:
    wanted = [[abs(query - key) < width for key in range(length)] for query in range(length)]
    assert cells((f"window:{width}",), length) == wanted


@given(LENGTHS, st.integers(1, 15))
def test_a_chunk_sees_itself_alone(length: int, size: int) -> None:
    wanted = [[query // size == key // size for key in range(length)] for query in range(length)]
    assert cells((f"chunks:{size}",), length) == wanted


@given(st.data(), LENGTHS)
def test_a_custom_matrix_is_taken_as_written(data: st.DataObject, length: int) -> None:
    rows = st.lists(st.booleans(), min_size=length, max_size=length)
    matrix = data.draw(st.lists(rows, min_size=length, max_size=length))
    text = "custom:" + "/".join("".join("01"[cell] for cell in row) for row in matrix)
    assert cells((text,), length) == matrix


@given(LENGTHS, st.data())
def test_padding_hides_filling_from_everybody(length: int, data: st.DataObject) -> None:
    real = data.draw(st.lists(st.lists(st.booleans(), min_size=length, max_size=length), min_size=1, max_size=3))
    allowed = combine_masks(("padding",), pair(length, torch.tensor(real)))
    assert allowed[:, 0].tolist() == [[text] * length for text in real]


@given(LENGTHS, st.lists(st.sampled_from(["causal", "window:1", "window:3", "padding"]), max_size=4))
def test_several_masks_allow_what_each_of_them_allows(length: int, masks: list[str]) -> None:
    wanted = [[True] * length for _ in range(length)]
    for mask in masks:
        alone = cells((mask,), length)
        wanted = [[a and b for a, b in zip(*rows, strict=True)] for rows in zip(wanted, alone, strict=True)]
    assert cells(tuple(masks), length) == wanted


@given(LENGTHS, LENGTHS)
def test_later_queries_see_the_same_alone_as_among_all(length: int, first: int) -> None:
    """The key-value cache of generation relies on this."""
    start = min(first, length) - 1
    late = QueryKeyPositions(torch.arange(start, length), torch.arange(length))
    masks = ("causal", "window:4", "chunks:3")
    assert torch.equal(combine_masks(masks, late), combine_masks(masks, pair(length))[:, :, start:])


@given(LENGTHS, st.sampled_from([(), ("causal",), ("window:2",)]), st.sets(st.tuples(LENGTHS, LENGTHS), max_size=9))
def test_painted_cells_turn_round_what_stands_before_them_in_a_text_of_any_length(
    length: int, masks: tuple[str, ...], painted: set[tuple[int, int]]
) -> None:
    written = "painted:" + ".".join(f"{query}-{key}" for query, key in sorted(painted))
    before, after = cells(masks, length), cells((*masks, written), length)
    turned = {
        (query, key) for query in range(length) for key in range(length) if before[query][key] != after[query][key]
    }
    assert turned == {(query, key) for query, key in painted if max(query, key) < length}
    assert is_causal((*masks, written)) == (masks == ("causal",) and all(key <= query for query, key in painted))


def test_a_custom_matrix_of_another_size_is_refused_with_both_sizes() -> None:
    with pytest.raises(TextError, match=r"2 x 2, but the text has 3 tokens"):
        combine_masks(("custom:10/11",), pair(3))


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        ("window", "at least one token"),
        ("window:0", "at least one token"),
        ("window:-3", "at least one token"),
        ("window:²", "at least one token"),
        ("window:99999999999", "at least one token"),
        ("chunks:0", "needs a length of at least one token, as in 'chunks:8'"),
        ("custom", "square of 0 and 1"),
        ("custom:", "square of 0 and 1"),
        ("custom:10/1", "square of 0 and 1"),
        ("custom:12/11", "square of 0 and 1"),
        ("painted:3", "a query and a key, as in"),
        ("painted:3-1.", "a query and a key, as in"),
        ("causal:3", "takes no argument"),
    ],
)
def test_a_malformed_mask_gets_a_sentence(mask: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        check_mask(mask)


def test_an_unknown_mask_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=", ".join(sorted(MASKS))):
        check_mask("sideways")


@given(st.text(alphabet="causlwindo:0123456789+/ custom-²,"))
def test_any_text_is_masks_or_a_sentence(text: str) -> None:
    try:
        masks = parse_masks(text)
    except HeadlightError as error:
        assert str(error).endswith(".")
    else:
        assert all(mask.partition(":")[0] in MASKS for mask in masks)


def test_the_text_form_joins_masks_with_plus_and_calls_no_mask_none() -> None:
    assert parse_masks("causal+window:8") == ("causal", "window:8")
    assert parse_masks("none") == parse_masks("") == ()


def test_a_mask_added_with_an_argument_is_checked_parsed_applied_and_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mask names have no special cases: a row defines everything."""
    argument = MaskArgument("step", "2", int, lambda text, old_length, new_length: f"{text}{new_length}")
    row = replace(
        MASKS["window"], argument=argument, allowed=lambda pair, step: (pair.distance % step == 0)[None, None]
    )
    monkeypatch.setitem(MASKS, "strided", row)
    allowed = combine_masks(parse_masks("causal+strided:2"), pair(4))
    assert allowed[0, 0].int().tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]]
    assert extend_mask("strided:2", 4, 5) == "strided:25"


def test_only_a_custom_matrix_of_the_old_size_grows() -> None:
    assert extend_mask("custom:11/01", 2, 3) == "custom:110/010/111"
    assert extend_mask("custom:11/01", 3, 4) == "custom:11/01"
    assert extend_mask("window:4", 3, 4) == "window:4"
    assert extend_mask("causal", 3, 4) == "causal"
