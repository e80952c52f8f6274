"""Layers of linear attention: the rule token by token, cached states, and what is not available for such a model."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import ConfigError, Trace, Transformer, run
from headlight.analysis.attribution import attribute_logits
from headlight.analysis.faithfulness.rankings import compare_rankings
from headlight.analysis.information_flow import information_flow
from headlight.analysis.ledger import Cell, cell_ledger
from headlight.analysis.moved_values import moved_values
from headlight.config import RecurrenceConfig
from headlight.nn.recurrence import TOKENS_AT_ONCE, delta_rule
from headlight.tracing.continuation import FinishedRun
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request
from tests.model import toys
from tests.sampling import examples


def token_by_token(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, log_decay: torch.Tensor, strength: torch.Tensor
) -> torch.Tensor:
    state, read = torch.zeros(*q.shape[:2], q.shape[-1], v.shape[-1]), []
    for token in range(q.shape[2]):
        state = state * log_decay[:, :, token, None, None].exp()
        known = torch.einsum("bhc,bhcv->bhv", k[:, :, token], state)
        update = (v[:, :, token] - known) * strength[:, :, token, None]
        state = state + k[:, :, token, :, None] * update[:, :, None]
        read.append(torch.einsum("bhc,bhcv->bhv", q[:, :, token], state))
    return torch.stack(read, dim=2)


@given(st.sampled_from((1, 2, TOKENS_AT_ONCE, TOKENS_AT_ONCE + 1, 2 * TOKENS_AT_ONCE + 5)), st.integers(0, 99))
@examples(12)
def test_groups_of_tokens_read_what_tokens_one_by_one_read(length: int, seed: int) -> None:
    torch.manual_seed(seed)
    q, k, v = (torch.randn(2, 3, length, size) for size in (4, 4, 5))
    k = k / k.norm(dim=-1, keepdim=True)
    log_decay, strength = -3 * torch.rand(2, 3, length) ** 4, torch.rand(2, 3, length)
    wanted = token_by_token(q, k, v, log_decay, strength)
    torch.testing.assert_close(delta_rule(q, k, v, log_decay, strength), wanted, atol=2e-5, rtol=1e-4)


def hybrid(**more: Any) -> Transformer:
    return toys.decoder(**toys.HYBRID, **more)


def test_a_text_that_goes_on_has_the_values_of_a_whole_text() -> None:
    model, tokenizer = hybrid(), toys.causal()

    def finished(text: str, previous: FinishedRun | None = None) -> FinishedRun:
        return run_request(model, RunRequest(tokenizer.encode(text), None, (), None), previous)

    first = finished("the cat sat")
    for text in ("the cat sat on the mat", "the cat", "the dog ran"):
        longer, alone = finished(text, first).trace, finished(text).trace
        assert longer.values.keys() == alone.values.keys()
        for path, value in alone.values.items():
            np.testing.assert_allclose(longer[path], value, atol=1e-3, rtol=1e-3, err_msg=path)


def test_padding_at_the_end_changes_nothing() -> None:
    model, ids = hybrid(), toys.numbers(2, 9)
    mask = torch.ones(2, 9, dtype=torch.bool)
    mask[1, 5:] = False
    together = model(ids, padding_mask=mask)
    torch.testing.assert_close(together[1, :5], model(ids[1:, :5])[0], atol=2e-5, rtol=1e-4)


REFUSED: dict[str, Callable[[Transformer, Trace], object]] = {
    "a decomposition of the residual stream": lambda model, trace: attribute_logits(model, trace, 3),
    "a decomposition": lambda model, trace: cell_ledger(model, trace, Cell("decoder.1.self", 0, 3, 1)),
    "information flow": information_flow,
    "A gate changes what the heads of this model move": lambda model, trace: moved_values(
        model, trace, "decoder.0.self"
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_counts_on_attention_alone_is_refused_by_a_sentence(sentence: str) -> None:
    model = hybrid()
    with pytest.raises(ConfigError, match=sentence):
        REFUSED[sentence](model, toys.traced(model))


def test_a_gate_without_layers_of_linear_attention_is_told_as_well() -> None:
    model = toys.decoder(**{"attention.output_gate": True})
    with pytest.raises(ConfigError, match="A gate changes what the heads of this model move"):
        information_flow(model, toys.traced(model))


def test_tokens_are_ranked_by_what_holds_for_such_a_model() -> None:
    model = hybrid()
    found = compare_rankings(model, toys.traced(model), 4, 7)
    assert {"weight", "gradient-times-input", "deletion", "random"} <= set(found) and "rollout" not in found


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"counts": (1, 1)}, "one after each"),
        ({"counts": (1, 1, -1)}, "one after each"),
        ({"counts": (1, 0, 0), "value_heads": 3, "key_heads": 2}, "key heads divide value heads"),
        ({"counts": (1, 0, 0), "kernel": 0}, "sizes are at least 1"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        toys.config(recurrence=RecurrenceConfig(**sizes))
    with pytest.raises(ConfigError, match="for a decoder of one residual stream"):
        toys.config(architecture="encoder", recurrence=RecurrenceConfig(counts=(1, 0, 0)))


def test_a_mask_of_a_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="no mask of a text limits"):
        hybrid()(toys.numbers(1, 4), mask=torch.ones(1, 1, 4, 4, dtype=torch.bool))


def test_weights_are_those_of_layers_of_attention_alone() -> None:
    trace = run(hybrid(), toys.causal(), toys.TEXT)
    assert trace.attention().shape[0] == 2
