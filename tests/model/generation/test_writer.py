"""Rule, Writer and fill(): chance as it is stated, steps that may be taken from anywhere, masks from the surest on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model import SamplingConfig, TextError, TextGenerator, fill_mask
from tests.model import toys

TEXT = "the cat"


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        ({}, [0.5, 0.25, 0.15, 0.1]),
        ({"top_k": 2}, [2 / 3, 1 / 3, 0, 0]),
        ({"top_p": 0.5}, [1, 0, 0, 0]),
        ({"top_p": 0.6}, [2 / 3, 1 / 3, 0, 0]),
        ({"top_p": 1.0}, [0.5, 0.25, 0.15, 0.1]),
        ({"top_k": 3, "top_p": 0.55}, [2 / 3, 1 / 3, 0, 0]),
        ({"top_k": 99}, [0.5, 0.25, 0.15, 0.1]),
        ({"temperature": 0.5}, [0.25 / 0.345, 0.0625 / 0.345, 0.0225 / 0.345, 0.01 / 0.345]),
    ],
)
def test_what_chance_keeps_has_its_share(choice: dict[str, Any], left: list[float]) -> None:
    order = [2, 0, 3, 1]  # the likeliest token need not come first
    logits = np.log(np.array([0.5, 0.25, 0.15, 0.1])[order])
    shares = SamplingConfig(**choice).sample(logits, 0).probabilities
    np.testing.assert_allclose(shares[np.argsort(order)], left, atol=1e-9)


def test_the_dice_hit_each_token_as_often_as_its_share() -> None:
    logits = np.log([0.1, 0.4, 0.2, 0.3])
    hits = np.bincount([SamplingConfig(seed=5).sample(logits, step).chosen for step in range(4_000)])
    np.testing.assert_allclose(hits / 4_000, [0.1, 0.4, 0.2, 0.3], atol=0.03)


@given(st.floats(0, 3), st.integers(1, 9), st.floats(0.01, 1), st.integers(), st.integers(0, 99))
def test_the_number_falls_on_the_stretch_of_who_is_hit(
    temperature: float, top_k: int, top_p: float, seed: int, step: int
) -> None:
    logits = np.random.default_rng(step).normal(size=9)
    draw = SamplingConfig(temperature, top_k, top_p, seed).sample(logits, step)
    ends = draw.probabilities[draw.order].cumsum()
    place = list(draw.order).index(draw.chosen)
    assert ends[-1] == pytest.approx(1)
    assert (ends[place - 1] if place else 0) <= draw.random_number + 1e-12
    assert draw.random_number < ends[place] + 1e-12
    assert draw.probabilities[draw.chosen] > 0


def test_a_writer_goes_back_and_on_from_any_step_as_if_it_had_come_there_straight() -> None:
    model, tokenizer = toys.decoder(key_value_heads=2), toys.causal()
    writer = TextGenerator.from_text(model, tokenizer, TEXT, ["decoder.0.self.k[0,2]=set:0"])
    straight, past = writer.step((7, 8, 9))
    _, longer = writer.step((7, 8, 30, 31), past.truncate(len(writer.text.ids) + 2))
    for kept in (past, longer, longer.truncate(3), None):
        known = kept and kept.truncate(min(len(kept.ids), len(writer.text.ids) + 2))
        again, _ = writer.step((7, 8, 9), known)
        np.testing.assert_allclose(again["logits"][-1], straight["logits"][-1], atol=1e-5, rtol=1e-5)
        assert again.start == (len(known.ids) if known else 0)


def test_a_past_is_never_changed() -> None:
    writer = TextGenerator.from_text(toys.decoder(), toys.causal(), TEXT)
    _, past = writer.step()
    before = {path: (k.clone(), v.clone()) for path, (k, v) in past.key_values.items()}
    for token in (5, 6):
        writer.step((token,), past)
    assert all(
        torch.equal(past.key_values[path][0], k) and torch.equal(past.key_values[path][1], v)
        for path, (k, v) in before.items()
    )
    assert len(past.ids) == len(writer.text.ids)


def test_what_is_kept_is_counted_as_it_lies_in_memory() -> None:
    model = toys.decoder(key_value_heads=2, head_dim=6, value_head_dim=5)
    _, past = TextGenerator.from_text(model, toys.causal(), TEXT).step()
    tokens = len(past.ids)
    assert [kept.path for kept in past.cache_sizes()] == ["decoder.0", "decoder.1"]
    assert past.bytes == 2 * 2 * tokens * (6 + 5) * 4
    assert past.truncate(1).bytes == past.bytes // tokens


def test_nothing_is_kept_where_a_token_may_see_later_ones() -> None:
    for model, edits in ((toys.decoder(masks=()), ()), (toys.decoder(), ("decoder.0.residual[2:5]=mean",))):
        writer = TextGenerator.from_text(model, toys.causal(), TEXT, edits)
        step, past = writer.step((5,), writer.step()[1])
        assert not writer.can_cache and not past.key_values
        assert step.start == 0


def test_a_step_may_keep_only_the_row_that_asks() -> None:
    keep = ("*.weights", "*.q", "logits")
    for model, source in ((toys.decoder(), None), (toys.both(), "a small bird sang")):
        tokenizer = toys.masked() if source else toys.causal()
        whole, part = (
            TextGenerator.from_text(
                model, tokenizer, TEXT, source=source, keep=keep, prediction_row_only=asking
            ).step()[0]
            for asking in (False, True)
        )
        assert whole.values.keys() == part.values.keys()
        for path, value in whole.values.items():
            ours = value[:, -1:] if path.startswith("decoder") else value
            np.testing.assert_array_equal(part[path], ours)
    whole, part = (
        fill_mask(toys.encoder(), toys.masked(), TEXT, masked_positions=(1, 2), keep=keep, prediction_row_only=asking)
        for asking in (False, True)
    )
    assert whole.position == part.position
    np.testing.assert_array_equal(
        part["encoder.1.self.weights"][:, 0], whole["encoder.1.self.weights"][:, whole.position]
    )


@pytest.mark.parametrize("token", [-1, 10**6])
def test_a_number_that_is_no_token_gets_a_sentence(token: int) -> None:
    with pytest.raises(TextError, match=f"no token {token}"):
        TextGenerator.from_text(toys.decoder(), toys.causal(), TEXT).step((token,))
    with pytest.raises(TextError, match=f"no token {token}"):
        fill_mask(toys.encoder(), toys.masked(), TEXT, masked_positions=(1, 2), filled={1: token})


def test_masks_are_filled_from_the_most_certain() -> None:
    model, tokenizer = toys.encoder(), toys.masked()
    filled: dict[int, int] = {}
    for count in range(3):
        step = fill_mask(
            model, tokenizer, TEXT, masked_positions=(1, 2, 3), filled=filled, sampling=SamplingConfig(temperature=0.0)
        )
        left = [place for place in (1, 2, 3) if place not in filled]
        certain = {place: step.probabilities(place).max() for place in left}
        assert step.position == max(certain, key=lambda place: certain[place])
        assert step.chosen_token == step["logits"][step.position].argmax()
        assert sum(token == tokenizer.mask_id for token in step.text.ids) == 3 - count
        assert [step.text.ids[place] for place in filled] == list(filled.values())
        filled[step.position] = step.chosen_token
    with pytest.raises(TextError, match="No masked token is left"):
        fill_mask(model, tokenizer, TEXT, masked_positions=(1, 2, 3), filled=filled)


def test_what_is_not_masked_cannot_be_filled() -> None:
    with pytest.raises(TextError, match="Token 2 is not masked"):
        fill_mask(toys.encoder(), toys.masked(), TEXT, masked_positions=(1,), filled={2: 5})
    with pytest.raises(TextError, match="cannot fill masks"):
        fill_mask(toys.decoder(), toys.causal(), TEXT)
