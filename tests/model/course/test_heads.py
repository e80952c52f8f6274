"""Chapter 4: its screens compared with arithmetic."""

import pytest
import torch

from headlight.checkpoints import Checkpoint
from headlight.course.heads.screens import join_heads, run_attention, run_two_stacks
from headlight.errors import ConfigError, InputError
from headlight.nn.transformer import attention_at
from tests.model import toys


@pytest.mark.parametrize(
    ("d", "heads", "d_k", "d_v", "n"), [(64, 1, 64, 64, 16), (64, 8, 8, 8, 16), (32, 4, 32, 32, 5), (16, 2, 3, 5, 7)]
)
def test_weights_and_multiply_adds_are_counted(d: int, heads: int, d_k: int, d_v: int, n: int) -> None:
    run = run_attention(d, heads, n, head_dim=d_k, value_head_dim=d_v)
    assert run.parameters == 2 * d * heads * d_k + 2 * d * heads * d_v
    assert run.multiply_adds == n * run.parameters + heads * n * n * (d_k + d_v)
    assert run.values["weights"].shape == (heads, n, n)
    torch.testing.assert_close(run.values["weights"].sum(-1), torch.ones(heads, n))
    assert run.values["output"].shape == (n, d)


def test_heads_that_share_the_channels_cost_as_much_as_one() -> None:
    one, many, wide = run_attention(64, 1, 16), run_attention(64, 8, 16), run_attention(64, 8, 16, head_dim=64)
    assert (one.parameters, one.multiply_adds) == (many.parameters, many.multiply_adds)
    assert wide.parameters == 8 * one.parameters
    with pytest.raises(ConfigError, match="does not divide"):
        run_attention(64, 7, 16)


@pytest.mark.parametrize("bias", [False, True])
def test_joining_is_a_sum_over_heads(bias: bool) -> None:
    opened = Checkpoint(toys.decoder(bias=bias), toys.causal(), "")
    found = join_heads(opened, toys.SENTENCE, 1)
    assert found.error < 1e-4
    weights = attention_at(opened.model, "decoder.1.self")[0].output
    torch.testing.assert_close(weights(found.concatenated), found.output)
    torch.testing.assert_close(found.concatenated[:, 4:8], found.head_outputs[1])
    with pytest.raises(InputError, match="no layer 2"):
        join_heads(opened, toys.SENTENCE, 2)


def test_two_stacks_have_heads_of_their_own() -> None:
    shapes = [tuple(weights.shape) for weights in run_two_stacks(2, 6, 7, 4).values()]
    assert shapes == [(2, 7, 7), (6, 4, 4), (6, 4, 7)]
