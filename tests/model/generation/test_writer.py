"""SamplingConfig, TextGenerator, fill_mask: probabilities, steps from any prefix, most certain masks first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import SamplingConfig, TextError, TextGenerator, Transformer, fill_mask
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
def test_top_k_and_top_p_renormalize_what_they_keep(choice: dict[str, Any], left: list[float]) -> None:
    order = [2, 0, 3, 1]  # the most likely token is not the first
    logits = np.log(np.array([0.5, 0.25, 0.15, 0.1])[order])
    shares = SamplingConfig(**choice).sample(logits, 0).probabilities
    np.testing.assert_allclose(shares[np.argsort(order)], left, atol=1e-9)


@pytest.mark.parametrize("temperature", [1e-20, 1.0, 1e8, 1e20])
def test_the_likeliest_tokens_are_kept_at_any_temperature(temperature: float) -> None:
    """At a huge temperature all probabilities are equal, but top-k is about the order of the logits."""
    logits = np.log([0.1, 0.2, 0.3, 0.15, 0.25])
    sample = SamplingConfig(temperature, top_k=3).sample(logits, 0)
    assert sample.order.tolist() == [2, 4, 1, 3, 0]
    assert not sample.probabilities[[0, 3]].any()
    assert set(np.flatnonzero(sample.probabilities)) <= {1, 2, 4}


def test_tokens_are_sampled_as_often_as_their_probability() -> None:
    logits = np.log([0.1, 0.4, 0.2, 0.3])
    hits = np.bincount([SamplingConfig(seed=5).sample(logits, step).chosen for step in range(4_000)])
    np.testing.assert_allclose(hits / 4_000, [0.1, 0.4, 0.2, 0.3], atol=0.03)


@given(st.floats(0, 3), st.integers(1, 9), st.floats(0.01, 1), st.integers(), st.integers(0, 99))
def test_the_random_number_lies_in_the_chosen_tokens_interval(
    temperature: float, top_k: int, top_p: float, seed: int, step: int
) -> None:
    logits = np.random.default_rng(step).normal(size=9)
    sample = SamplingConfig(temperature, top_k, top_p, seed).sample(logits, step)
    ends = sample.probabilities[sample.order].cumsum()
    place = list(sample.order).index(sample.chosen)
    assert ends[-1] == pytest.approx(1)
    assert (ends[place - 1] if place else 0) <= sample.random_number + 1e-12
    assert sample.random_number < ends[place] + 1e-12
    assert sample.probabilities[sample.chosen] > 0


def test_a_step_from_any_prefix_equals_one_from_the_start() -> None:
    model, tokenizer = toys.decoder(key_value_heads=2), toys.causal()
    generator = TextGenerator.from_text(model, tokenizer, TEXT, ["decoder.0.self.k[0,2]=set:0"])
    straight, prefix = generator.step((7, 8, 9))
    assert straight.text.token_texts[-3:] == tuple(map(tokenizer.token_text, (7, 8, 9)))
    _, longer = generator.step((7, 8, 30, 31), prefix.truncate(len(generator.text.ids) + 2))
    for kept in (prefix, longer, longer.truncate(3), None):
        known = kept and kept.truncate(min(len(kept.ids), len(generator.text.ids) + 2))
        again, _ = generator.step((7, 8, 9), known)
        np.testing.assert_allclose(again["logits"][-1], straight["logits"][-1], atol=1e-5, rtol=1e-5)
        assert again.start == (len(known.ids) if known else 0)


@pytest.mark.parametrize("edits", [(), ("decoder.0.cross.k[:,1]=scale:2", "decoder.*.cross.v=add:0.5")])
@pytest.mark.parametrize("make", [toys.both, toys.listener])
def test_keys_and_values_of_a_source_are_computed_once(make: Callable[[], Transformer], edits: tuple[str, ...]) -> None:
    model, tokenizer = make(), toys.masked()
    source, rows = toys.source(model, "the dog lay"), list[int]()
    generator = TextGenerator.from_text(model, tokenizer, TEXT, edits, source=source)
    model.stack("decoder").blocks[1].cross_attention.key.register_forward_pre_hook(  # type: ignore[union-attr]
        lambda module, inputs: rows.append(inputs[0].shape[1])
    )
    prefix, written = None, tuple[int, ...]()
    for token in (7, 8, 9):
        step, prefix = generator.step(written, prefix and prefix.truncate(len(generator.text.ids) + len(written) - 1))
        written += (token,)
    assert len(rows) == 1
    straight, _ = generator.step((7, 8))
    for path in ("logits", "decoder.1.cross.k", "decoder.1.cross.weights"):
        part = slice(None) if path.endswith(".k") else slice(-1, None)
        np.testing.assert_allclose(
            step[path][..., part, :], straight[path][..., part, :], atol=1e-5, rtol=1e-5, err_msg=path
        )


def test_a_prefix_is_immutable() -> None:
    generator = TextGenerator.from_text(toys.decoder(), toys.causal(), TEXT)
    _, prefix = generator.step()
    before = {path: (k.clone(), v.clone()) for path, (k, v) in prefix.key_values.items()}
    for token in (5, 6):
        generator.step((token,), prefix)
    assert all(
        torch.equal(prefix.key_values[path][0], k) and torch.equal(prefix.key_values[path][1], v)
        for path, (k, v) in before.items()
    )
    assert len(prefix.ids) == len(generator.text.ids)


def test_cache_sizes_are_those_in_memory() -> None:
    model = toys.decoder(key_value_heads=2, head_dim=6, value_head_dim=5)
    _, prefix = TextGenerator.from_text(model, toys.causal(), TEXT).step()
    tokens = len(prefix.ids)
    assert [kept.path for kept in prefix.cache_sizes()] == ["decoder.0", "decoder.1"]
    assert prefix.bytes == 2 * 2 * tokens * (6 + 5) * 4
    assert prefix.truncate(1).bytes == prefix.bytes // tokens


def test_no_cache_where_a_token_may_attend_to_later_ones() -> None:
    for model, edits in ((toys.decoder(masks=()), ()), (toys.decoder(), ("decoder.0.residual[2:5]=mean",))):
        generator = TextGenerator.from_text(model, toys.causal(), TEXT, edits)
        step, prefix = generator.step((5,), generator.step()[1])
        assert not generator.can_cache and not prefix.key_values
        assert step.start == 0


def test_a_step_may_record_only_the_prediction_row() -> None:
    keep = ("*.weights", "*.q", "logits")
    for model, source in ((toys.decoder(), None), (toys.both(), "a small bird sang")):
        tokenizer = toys.masked() if source else toys.causal()
        whole, part = (
            TextGenerator.from_text(
                model, tokenizer, TEXT, source=source, keep=keep, prediction_row_only=row_only
            ).step()[0]
            for row_only in (False, True)
        )
        assert whole.values.keys() == part.values.keys()
        for path, value in whole.values.items():
            ours = value[:, -1:] if path.startswith("decoder") else value
            np.testing.assert_array_equal(part[path], ours)
    whole, part = (
        fill_mask(toys.encoder(), toys.masked(), TEXT, masked_positions=(1, 2), keep=keep, prediction_row_only=row_only)
        for row_only in (False, True)
    )
    assert whole.position == part.position
    np.testing.assert_array_equal(
        part["encoder.1.self.weights"][:, 0], whole["encoder.1.self.weights"][:, whole.position]
    )


@pytest.mark.parametrize("token", [-1, 10**6])
def test_an_id_outside_the_vocabulary_gets_a_sentence(token: int) -> None:
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


def test_only_masked_positions_can_be_filled() -> None:
    with pytest.raises(TextError, match="Token 2 is not masked"):
        fill_mask(toys.encoder(), toys.masked(), TEXT, masked_positions=(1,), filled={2: 5})
    with pytest.raises(TextError, match="cannot fill masks"):
        fill_mask(toys.decoder(), toys.causal(), TEXT)
