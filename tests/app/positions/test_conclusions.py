"""The sentences under the charts of Positions: each number that they claim is in the chart."""

import re

import numpy as np
import pytest

from headlight.views.words import three_digits
from headlight_app.positions.answers import conclusions

SEEDS = range(20)


def numbers(sentence: str) -> list[float]:
    """All numbers of a sentence, in turn."""
    found = re.findall(r"−?\d+(?:\.\d+)?(?:e−?\d+)?", sentence.replace("e-", "e−"))
    return [float(each.replace("−", "-")) for each in found]


def similarity(generator: np.random.Generator, count: int) -> np.ndarray:
    vectors = generator.normal(size=(count, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


@pytest.mark.parametrize("seed", SEEDS)
def test_each_claim_is_in_the_numbers(seed: int) -> None:
    generator = np.random.default_rng(seed)
    alike = similarity(generator, 8)
    one, other, cosine = numbers(conclusions.of_embeddings(alike))
    assert cosine == pytest.approx(alike[int(one), int(other)], rel=0.01)
    assert (alike[~np.eye(8, dtype=bool)] <= alike[int(one), int(other)] + 1e-12).all()

    near, apart, far = numbers(conclusions.of_similarity(alike))
    assert near == pytest.approx(np.mean([alike[place, place + 1] for place in range(7)]), rel=0.01)
    assert far == pytest.approx(np.mean([alike[place, place + int(apart)] for place in range(4)]), rel=0.01)

    most, highest, least, lowest = numbers(conclusions.of_line(alike[3], 3))
    others = np.delete(alike[3], 3)
    assert alike[3, int(most)] == others.max() and alike[3, int(least)] == others.min()
    assert (highest, lowest) == pytest.approx((others.max(), others.min()), rel=0.01)

    bias = generator.normal(size=(6, 6))
    high, near, low, far = numbers(conclusions.of_bias_map(bias))
    assert (high, low) == pytest.approx((bias.max(), bias.min()), rel=0.01)
    assert bias.max() in np.diagonal(bias, int(near)) and bias.min() in np.diagonal(bias, int(far))

    over = generator.normal(size=(4, 9))
    told = conclusions.of_bias(over, 4)
    most, fall, least, rise = numbers(told)
    change = over[:, 0] - over[:, 4]
    signs = [{"more": 1, "less": -1}[word] for word in re.findall("more|less", told)]
    assert [int(change.argmin()), int(change.argmax())] == [most, least]
    assert (signs[0] * fall, signs[1] * rise) == pytest.approx((change.min(), change.max()), rel=0.01)

    slopes = generator.uniform(0.1, 1.0, 5)
    steep, ratio, flat = numbers(conclusions.of_slopes(slopes))
    assert [int(slopes.argmax()), int(slopes.argmin())] == [steep, flat]
    assert ratio == pytest.approx(slopes.max() / slopes.min(), rel=0.01)


def test_turns_and_crossings_are_counted() -> None:
    angles = np.outer(np.arange(9), [np.pi / 2, np.pi / 8])
    assert numbers(conclusions.of_rotations(angles)) == [0, 2, 1, 0.5]
    waves = {"channel 1": np.cos(np.arange(16) * np.pi / 2 + 0.1), "channel 5": np.cos(np.arange(16) * np.pi / 8 + 0.1)}
    assert (
        conclusions.of_channels(waves)
        == "Over these positions channel 1 crosses its mean most often (8 times), channel 5 least often (twice)."
    )
    assert (
        conclusions.of_channels({"channel 1": np.ones(3)}) == "Over these positions channel 1 crosses its mean never."
    )


def test_what_all_have_in_common_is_said_of_each() -> None:
    turn = np.array([[0.0], [2 * np.pi]])
    assert conclusions.of_rotations(turn) == "At the last position pair 0 has made 1 turn."
    assert conclusions.of_rotations(np.tile(2 * turn, 2)) == "At the last position each pair has made 2 turns."
    assert conclusions.of_bias(np.array([[-3.0, 0.0], [0.5, 0.0]]), 1) == (
        "To the farthest key before the query, head 0 adds 3 less than to the query, head 1 0.5 more."
    )
    assert "each head adds 3 less" in conclusions.of_bias(np.array([[-3.0, 0.0]] * 2), 1)


def test_distances_that_share_the_largest_bias_are_all_named_or_counted() -> None:
    distances = np.arange(9) - np.arange(9)[:, np.newaxis]
    assert conclusions.of_bias_map(np.zeros((2, 2))) == "It adds 0 at every distance."
    assert conclusions.of_bias_map(np.where(distances < -4, -1.0, np.where(distances == 2, 3.0, 0.0))) == (
        "It adds most (3) at distance 2, and least (−1) at the distances from −8 to −5."
    )
    assert conclusions.of_bias_map(np.where(np.isin(distances, (-2, 0, 3)), 1.0, np.where(distances % 2, -1, 0))) == (
        "It adds most (1) at the distances −2, 0 and 3, and least (−1) at 7 distances."
    )


def test_a_cosine_below_1_is_not_called_1() -> None:
    alike = np.array([[1, 0.99984], [0.99984, 1]])
    assert conclusions.of_embeddings(alike).endswith("positions 0 and 1: cosine 0.9998.")
    assert conclusions.of_embeddings(np.ones((2, 2))).endswith("cosine 1.")
    assert "(0.9998)" in conclusions.of_line(alike[0], 0)


def test_the_lowest_losses_are_named_and_what_ends_is_left_out() -> None:
    losses = [[3.0, float("nan")], [3.5, 4.0]]
    assert conclusions.of_losses(("Learned", "ALiBi"), losses, (128, 256)) == (
        "At 128 tokens Learned has the lowest loss (3.000 bits), "
        "and at 256 tokens ALiBi has the lowest loss (4.000 bits)."
    )
    assert conclusions.of_losses(("Learned",), [[3.0, float("nan")]], (128, 256)) == (
        "At 128 tokens Learned has the lowest loss (3.000 bits)."
    )
    assert conclusions.of_losses(("Learned",), [[float("nan")] * 2], (128, 256)) == ""
    assert conclusions.of_buckets(np.array([0, 0, 1, 2, 2])) == "These 5 distances share 3 rows."
    assert three_digits(0.5) in conclusions.of_similarity(np.full((3, 3), 0.5))
