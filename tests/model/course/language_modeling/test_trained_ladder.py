"""The shipped rungs of the ladder are what the course and their cards say."""

import re

import pytest

from headlight.course.language_modeling.ladder import (
    LADDER,
    SHIPPED,
    ask_rung,
    held_out_loss,
    shipped_rung,
)
from headlight.tracing.run import run

STORY = "One day, a girl named Mia found a red ball in the garden. She was very happy and ran to her mother."


def asked(name: str) -> tuple[float, float]:
    answer = ask_rung(shipped_rung(name), STORY, "Once upon a time", 0.8, 1)
    return answer.whole_loss, answer.writing_loss


def test_each_rung_has_one_part_more_and_the_same_training() -> None:
    configs = [shipped_rung(name).model.config for name in SHIPPED]
    assert [config.heads for config in configs] == [1, 1, 4, 4, 4, 4, 4]
    assert [config.positional_encoding for config in configs] == ["none"] + ["sinusoidal"] * 6
    assert [config.feed_forward for config in configs] == ["none"] * 3 + ["relu"] * 4
    assert [config.masks for config in configs] == [()] * 4 + [("causal",)] * 3
    assert [config.norm_placement for config in configs] == ["none"] * 5 + ["pre"] * 2
    assert [config.layers for config in configs] == [1] * 6 + [4]
    assert len({re.search(r"Trained on .* steps", shipped_rung(name).card)[0] for name in SHIPPED}) == 1  # type: ignore[index]


@pytest.mark.parametrize("name", ["ladder-2-positions", "ladder-3-heads", "ladder-4-feed-forward"])
def test_without_a_mask_the_next_word_is_copied(name: str) -> None:
    whole, writing = asked(name)
    assert whole < 0.5 < 5 < writing
    weights = run(shipped_rung(name).model, shipped_rung(name).tokenizer, STORY)["decoder.0.self.weights"]
    ahead = weights.diagonal(1, axis1=-2, axis2=-1).max(0).mean()
    assert ahead > 0.5


def test_with_the_mask_both_losses_are_one_and_depth_lowers_it() -> None:
    losses = {name: asked(name) for name in ("ladder-5-mask", "ladder-6-residual", "ladder-7-depth")}
    for whole, writing in losses.values():
        assert whole == pytest.approx(writing, abs=1e-3)
    assert losses["ladder-7-depth"][0] < losses["ladder-6-residual"][0]


def test_the_screen_names_those_that_look_ahead() -> None:
    answer = LADDER.compute(**LADDER.parse({"on": "shipped"}))
    told = str(answer[-1])
    assert (
        "+ positions, + four heads, + feed-forward with ReLU" in told
        and "+ causal mask" not in told.split("look ahead")[1]
    )


def test_the_losses_of_the_cards_go_as_the_ladder_does() -> None:
    first, *cheating, masked, normed, deep = (held_out_loss(shipped_rung(name).card) for name in SHIPPED)
    assert max(cheating) < 0.2 < first < deep < normed < masked
