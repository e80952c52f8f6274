"""Chapter 2: its screens compared with the formulas of the papers."""

from dataclasses import replace
from math import cos, pi, sin

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight.checkpoints import Checkpoint
from headlight.course.positions import measured
from headlight.course.positions.order_screens import compare_orders, shuffled
from headlight.course.positions.scheme_screens import turn
from headlight.course.positions.waves import nearest_positions, rotate, similarity_without_band, wavelengths, waves
from headlight.errors import InputError
from headlight.evaluation.length_extrapolation import Loss, shipped_extrapolations
from headlight.views.kinds import BarsView, TableView, Verdict
from headlight.views.rows import as_rows
from tests.model import toys

DIMS = st.integers(1, 32).map(lambda pairs: 2 * pairs)
BASES = st.floats(2, 1e6)


@given(DIMS, BASES, st.integers(1, 40))
def test_waves_are_the_formula(dim: int, base: float, length: int) -> None:
    encodings = waves(length, dim, base)
    position, pair = length - 1, dim // 2 - 1
    angle = position / base ** (2 * pair / dim)
    assert encodings[position, 2 * pair] == pytest.approx(sin(angle), abs=1e-4)
    assert encodings[position, 2 * pair + 1] == pytest.approx(cos(angle), abs=1e-4)


@pytest.mark.parametrize(("base", "longest"), [(100.0, 617), (10_000.0, 60_611)])
def test_the_longest_wave_of_the_notes(base: float, longest: int) -> None:
    lengths = wavelengths(512, base)
    assert round(float(lengths[-1])) == longest
    assert float(lengths[0]) == pytest.approx(2 * pi)


@given(st.integers(0, 1_000), st.integers(-100, 100), DIMS, BASES)
def test_a_step_is_a_rotation(position: int, offset: int, dim: int, base: float) -> None:
    found = rotate(position, offset, dim, base)
    assert found.error < 1e-6
    for matrix in found.matrices:  # orthogonal, and not a reflection
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(2, dtype=torch.float64))
        assert float(torch.det(matrix)) == pytest.approx(1)
    torch.testing.assert_close(found.matrices, rotate(0, offset, dim, base).matrices)


def test_positions_that_nearly_meet_are_found() -> None:
    encodings = waves(1_024, 2, 10_000.0)
    nearest = nearest_positions(encodings)
    # 710 is nearly 113 turns of 2 pi.
    assert abs(nearest.position - nearest.other) == 710
    assert nearest.distance == pytest.approx(2 * sin(abs(710 - 113 * 2 * pi) / 2), rel=1e-6)
    assert nearest_positions(waves(1_024, 16, 10_000.0)).distance > 0.5


def test_neighbours_blur_without_the_fast_channels() -> None:
    encodings = waves(64, 32, 10_000.0)
    everything, slow_left, fast_left = (
        float(similarity_without_band(encodings, 32, dropped)[33])
        for dropped in (slice(0, 0), slice(0, 16), slice(16, 32))
    )
    assert fast_left < everything < slow_left and slow_left > 0.999
    assert encodings[:, :16].any()  # the input is unchanged


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200), st.integers(0, 3))
def test_turned_arrows_keep_their_product_where_both_move(query: int, key: int, shift: int, pair: int) -> None:
    arrows, angle = torch.tensor([[1.0, 0.0], [0.6, 0.8]]), (query - key) * 100.0 ** (-2 * pair / 8)
    here, there = (turn(arrows, torch.tensor([query, key]) + move, pair, 8, 100.0) for move in (0, shift))
    expected = 0.6 * cos(angle) + 0.8 * sin(angle)  # the key rotated back by the distance
    assert float(here[0] @ here[1]) == pytest.approx(expected, abs=1e-4)
    assert float(there[0] @ there[1]) == pytest.approx(float(here[0] @ here[1]), abs=1e-6)


@pytest.mark.parametrize("encoding", ["none", "sinusoidal"])
@pytest.mark.parametrize("masks", ["none", "causal"])
def test_only_without_positions_and_mask_order_goes_unnoticed(encoding: str, masks: str) -> None:
    opened = Checkpoint(toys.decoder(), toys.causal(), "")
    found = compare_orders(
        opened, "the cat ran to the sea", "sea the to ran cat the", positional_encoding=encoding, masks=masks
    )
    is_bag = encoding == "none" and masks == "none"
    assert (max(found.differences) < 1e-4) is is_bag
    assert (found.mean_difference < 1e-4) is is_bag
    assert len(found.words) == 7  # including the start token


@given(st.lists(st.sampled_from(["cat", "dog", "sea", "ran"]), min_size=2, max_size=8), st.integers(0, 99))
def test_shuffled_words_are_the_same_words(words: list[str], seed: int) -> None:
    text = " ".join(words) + "."
    if len(set(words)) < 2:
        with pytest.raises(InputError, match="only one word"):
            shuffled(text, seed)
        return
    other = shuffled(text, seed)
    assert other != text and other.endswith(".")
    assert sorted(other[:-1].split()) == sorted(words)


def test_other_words_are_no_other_order() -> None:
    with pytest.raises(InputError, match="same words"):
        compare_orders(
            Checkpoint(toys.decoder(), toys.causal(), ""), "the cat", "the dog", positional_encoding=None, masks=None
        )


@pytest.mark.parametrize("text", measured.TEXTS)
def test_the_measured_table_is_that_of_the_page_on_positions(text: str) -> None:
    found = shipped_extrapolations()["decoder"]
    bars, _ = as_rows(measured.measured("decoder", text, "rope", "learned"))[0].views
    losses = [measured.columns(model)[list(measured.TEXTS).index(text)] for model in found.models]
    assert isinstance(bars, BarsView) and bars.series[""] == [loss.mean for loss in losses if loss]
    table, *_ = as_rows(measured.measured("decoder", text, "rope", "learned"))[1].views
    assert isinstance(table, TableView)
    assert [cell == "undefined" for cell in _cells(table, text)] == [loss is None for loss in losses]


def _cells(table: TableView, text: str) -> list[object]:
    return [row[1 + list(measured.TEXTS).index(text)] for row in table.rows]


def test_the_spread_of_seeds_is_shown_once_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = replace(shipped_extrapolations()["encoder"], repeats=())
    monkeypatch.setattr(measured, "shipped_extrapolations", lambda: {"encoder": found})
    *_, said = as_rows(measured.measured("encoder", "trained", "rope", "alibi"))
    assert isinstance(said.views[0], Verdict) and "was not measured" in said.views[0].text
    rope = next(model for model in found.models if model.positional_encoding == "rope")
    assert rope.losses[0]
    again = replace(rope, losses=(Loss(rope.losses[0].mean + 0.25, 0.01), *rope.losses[1:]))
    found = replace(found, repeats=(again,))
    *_, said, seeds = as_rows(measured.measured("encoder", "trained", "rope", "alibi"))
    assert isinstance(said.views[0], Verdict) and "by up to 0.250" in said.views[0].text
    assert isinstance(seeds.views[0], TableView)
    ((title, count, *_, spread),) = seeds.views[0].rows
    assert (title, count) == (measured.TITLES["rope"], 2) and spread == pytest.approx(0.25)
