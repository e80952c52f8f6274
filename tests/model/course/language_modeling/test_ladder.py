"""The ladder of improvements: each rung adds one part, trained here or shipped; its losses, also in writing."""

import re
from dataclasses import asdict

import pytest
import torch

from headlight.course.language_modeling.ladder import (
    LADDER,
    MASK,
    RUNGS,
    SHIPPED,
    ask_rung,
    climb,
    held_out_loss,
    rung_configs,
    shipped_rung,
    windows,
    writing_loss,
)
from headlight.errors import InputError
from headlight.tracing.run import run

TEXT = "the cat sat on the mat and the dog sat on the rug, "


def test_each_rung_is_the_one_before_it_with_one_part_more() -> None:
    configs = list(rung_configs(TEXT).values())
    assert (configs[0].heads, configs[0].masks, configs[0].positional_encoding) == (1, (), "none")
    for before, after, added in zip(configs[:-1], configs[1:], list(RUNGS.values())[1:], strict=True):
        changed = {name for name, value in asdict(after).items() if value != asdict(before)[name]}
        assert changed & set(added) == set(added)
        assert changed <= set(added) | {"d_ff", "head_dim", "value_head_dim", "key_value_heads"}


def test_with_the_mask_first_all_later_parts_are_added_under_it() -> None:
    notes, configs = (list(rung_configs(TEXT, order).items()) for order in ("notes", "mask-first"))
    assert [name for name, config in configs if not config.masks] == [configs[0][0]] and configs[1][0] == MASK
    assert (configs[0], configs[-1]) == (notes[0], notes[-1])


@pytest.mark.parametrize(
    ("name", "sees"), [("+ four heads", True), ("+ causal mask", False), ("+ three layers", False)]
)
def test_without_a_mask_a_model_sees_what_it_is_to_predict(name: str, sees: bool) -> None:
    rung = climb(TEXT, rung_configs(TEXT)[name], 2, 1)
    ids = torch.tensor([[1, 2, 3, 4, 5, 6]])
    other = ids.clone()
    other[0, 3] = 7
    with torch.no_grad():
        assert (not torch.allclose(rung.model(ids)[0, 2], rung.model(other)[0, 2], atol=1e-5)) == sees
    assert len(rung.sample) == 48 and set(rung.sample) <= set(TEXT)


def test_the_loss_in_writing_is_that_of_the_last_character_of_each_beginning() -> None:
    rung = climb(TEXT, rung_configs(TEXT)["+ causal mask"], 2, 3)
    ids = torch.tensor([sorted(set(TEXT)).index(each) for each in TEXT])
    [batch] = windows(ids, 2, 1, 4)
    with torch.no_grad():
        alone = torch.stack([torch.log_softmax(rung.model(row[None, :1])[0, -1], -1)[row[1]] for row in batch])
    assert torch.isfinite(alone).all() and rung.writing_loss == pytest.approx(writing_loss(rung.model, ids, 3))


def test_a_text_that_teaches_nothing_gets_a_sentence() -> None:
    for text, said in (("short", "more than 48"), ("a" * 60, "one kind of character")):
        with pytest.raises(InputError, match=said):
            rung_configs(text)


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
    answer = LADDER.rows(**LADDER.parse({"on": "shipped"}))
    told = str(answer[-1])
    assert (
        "+ positions, + four heads, + feed-forward with ReLU" in told
        and "+ causal mask" not in told.split("look ahead")[1]
    )


def test_the_losses_of_the_cards_go_as_the_ladder_does() -> None:
    first, *cheating, masked, normed, deep = (held_out_loss(shipped_rung(name).card) for name in SHIPPED)
    assert max(cheating) < 0.2 < first < deep < normed < masked
