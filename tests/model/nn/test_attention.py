"""Attention compared with F.scaled_dot_product_attention, an independent implementation."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from headlight.config import AttentionConfig
from headlight.nn.attention import Attention, AttentionContext, AttentionInputs
from headlight.nn.hooks import no_hook
from headlight.nn.masks import QueryKeyPositions, combine_masks
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding
from tests.model.toys import config
from tests.sampling import combinations

QUERIES, KEYS, BATCH = 6, 9, 2


def attention(**choices: Any) -> Attention:
    """Random attention, with weights large enough for uneven rows."""
    torch.manual_seed(0)
    made = Attention(config(**choices)).eval().requires_grad_(False)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return made


def fused(made: Attention, x: Tensor, memory: Tensor, look: AttentionContext) -> Tensor:
    """The same attention by PyTorch's own function."""

    def heads(projected: Tensor, count: int) -> Tensor:
        return projected.reshape(*projected.shape[:2], count, -1).transpose(1, 2)

    shared, (to_q, to_k, to_v) = made.heads // made.group_size, made.projections
    q = look.positional_encoding.rotate(heads(to_q(x), made.heads), look.positions.queries)
    k = look.positional_encoding.rotate(heads(to_k(memory), shared), look.positions.keys)
    v = heads(to_v(memory), shared)
    bias = look.positional_encoding.bias(look.positions.queries, look.positions.keys)
    penalty = bias[None].masked_fill(~look.allowed, -torch.inf)
    mixed = functional.scaled_dot_product_attention(
        q, k, v, attn_mask=penalty, scale=made.scale, enable_gqa=made.group_size > 1
    )
    output: Tensor = made.output(mixed.transpose(1, 2).flatten(2))
    return output


def scheme(name: str) -> PositionalEncoding:
    """A positional encoding with nonzero tables."""
    torch.manual_seed(1)
    return POSITIONAL_ENCODINGS[name](config(), bidirectional=False)


@pytest.mark.parametrize(
    ("position", "masks", "widths"),
    combinations(
        sorted(set(POSITIONAL_ENCODINGS) - {"disentangled"}),  # it needs weights in each layer
        [(), ("causal",), ("causal", "window:3")],
        [(4, 0, True, False), (2, 6, True, True), (1, 3, False, False)],
    ),
)
def test_self_attention_is_torchs_own(
    position: str, masks: tuple[str, ...], widths: tuple[int, int, bool, bool]
) -> None:
    sharing, value_width, scale, bias = widths
    made = attention(
        key_value_heads=sharing, value_head_dim=value_width, attention=AttentionConfig(scale=scale), bias=bias
    )
    x = torch.randn(BATCH, QUERIES, 16)
    pair = QueryKeyPositions(torch.arange(QUERIES), torch.arange(QUERIES))
    look = AttentionContext(scheme(position), pair, combine_masks(masks, pair))
    torch.testing.assert_close(
        made(x, AttentionInputs(look), no_hook)[0], fused(made, x, x, look), atol=2e-5, rtol=1e-4
    )


def test_cross_attention_looks_at_another_length() -> None:
    made = attention(value_head_dim=5)
    x, memory = torch.randn(BATCH, QUERIES, 16), torch.randn(BATCH, KEYS, 16)
    real = torch.arange(KEYS) < torch.tensor([[KEYS], [4]])
    pair = QueryKeyPositions(torch.arange(QUERIES), torch.arange(KEYS), real)
    look = AttentionContext(PositionalEncoding(config()), pair, combine_masks(("padding",), pair))
    torch.testing.assert_close(
        made(x, AttentionInputs(look, memory), no_hook)[0], fused(made, x, memory, look), atol=2e-5, rtol=1e-4
    )


def kept(made: Attention, x: Tensor) -> Callable[[str], Tensor]:
    """The values that a causal self-attention passes to its hook, by name."""
    values: dict[str, Tensor] = {}
    pair = QueryKeyPositions(torch.arange(x.shape[1]), torch.arange(x.shape[1]))
    made(
        x,
        AttentionInputs(AttentionContext(PositionalEncoding(config()), pair, combine_masks(("causal",), pair))),
        lambda name, v: values.setdefault(name, v),
    )
    return values.__getitem__


def test_the_scale_is_one_over_the_root_of_the_key_width_and_can_be_off() -> None:
    x = torch.randn(1, QUERIES, 16)
    on, off = (
        kept(attention(attention=AttentionConfig(scale=scale), head_dim=9), x)("scores") for scale in (True, False)
    )
    torch.testing.assert_close(on * 3, off)


def test_dropout_falls_on_weights_in_training_alone_and_the_trace_shows_the_weights_before_it() -> None:
    made = attention(dropout=0.9)
    x = torch.randn(1, QUERIES, 16)
    calm = kept(made, x)
    torch.testing.assert_close(calm("weighted_values"), calm("weights") @ calm("v"))
    wild = kept(made.train(), x)
    torch.testing.assert_close(wild("weights"), calm("weights"))
    assert not torch.allclose(wild("weighted_values"), calm("weighted_values"))
