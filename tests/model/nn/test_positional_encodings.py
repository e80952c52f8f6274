"""Every positional encoding compared with its paper, reimplemented in reference.py."""

import math
import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import POSITIONAL_ENCODINGS
from headlight.config import AlibiConfig, ImageConfig, RelativePositionConfig, RopeConfig
from headlight.errors import ConfigError
from headlight.nn.positional_encodings import (
    Alibi,
    DisentangledPositions,
    LearnedBiases,
    PatchBias,
    PositionalEncoding,
    RelativeBias,
    Rope,
    Sinusoidal,
)
from headlight.nn.stack import Stack
from tests.model import reference
from tests.model.toys import config

AT = torch.arange(7)
ACTS_BY = {
    "sinusoidal": {"embed"},
    "sinusoidal-halves": {"embed"},
    "learned": {"embed"},
    "rope": {"rotate"},
    "rope-patches": {"rotate"},
    "alibi": {"bias"},
    "relative": {"bias"},
    "relative-patches": {"bias"},
    "disentangled": {"content_bias"},
}


def acting_methods(scheme: PositionalEncoding) -> set[str]:
    """The methods through which an encoding acts on the model."""
    x = torch.randn(1, scheme.heads, len(AT), 4, generator=torch.Generator().manual_seed(0))
    acts = {
        "embed": bool(scheme.embed(AT).any()),
        "rotate": not torch.equal(scheme.rotate(x, AT), x),
        "bias": bool(scheme.bias(AT, AT).any()),
        "content_bias": bool(
            scheme.content_bias(
                x, x, type(scheme).make_relative_position_projection(config()), AT[None] - AT[:, None]
            ).any()
        ),
    }
    return {method for method, has_effect in acts.items() if has_effect}


@pytest.mark.parametrize("name", sorted(POSITIONAL_ENCODINGS))
def test_each_encoding_acts_in_exactly_one_place(name: str) -> None:
    acting = acting_methods(POSITIONAL_ENCODINGS[name](config()))
    assert len(acting) == (name != "none")
    assert acting == ACTS_BY.get(name, acting)
    assert POSITIONAL_ENCODINGS[name].acts_in_attention() == bool(acting - {"embed"})


@pytest.mark.parametrize("name", sorted(POSITIONAL_ENCODINGS))
def test_no_scheme_depends_on_which_positions_are_asked_together(name: str) -> None:
    """The cache of generation relies on this: a position alone gives the same as among all."""
    scheme, later = POSITIONAL_ENCODINGS[name](config()), AT[4:5]
    x = torch.randn(1, 4, len(AT), 4)
    torch.testing.assert_close(scheme.embed(later), scheme.embed(AT)[4:5])
    torch.testing.assert_close(scheme.rotate(x[:, :, 4:5], later), scheme.rotate(x, AT)[:, :, 4:5])
    torch.testing.assert_close(scheme.bias(later, AT), scheme.bias(AT, AT)[:, 4:5])


@pytest.mark.parametrize("width", [2, 16, 17, 64])
def test_sinusoidal_is_the_formula(width: int) -> None:
    scheme = Sinusoidal(config(d_model=width, heads=1))
    wanted = [reference.sinusoid(position, width) for position in range(200)]
    np.testing.assert_allclose(scheme.embed(torch.arange(200)), wanted, atol=2e-5)


@pytest.mark.parametrize("made", [RelativeBias, DisentangledPositions])
@given(buckets=st.integers(0, 12), max_distance=st.integers(0, 12), bidirectional=st.booleans())
def test_buckets_are_of_every_distance_or_the_config_is_refused(
    made: Callable[..., RelativeBias | DisentangledPositions], buckets: int, max_distance: int, bidirectional: bool
) -> None:
    numbers = RelativePositionConfig(buckets=buckets, max_distance=max_distance)
    try:
        scheme = made(config(relative_position=numbers), bidirectional)
    except ConfigError:
        return
    found = scheme.bucket(torch.arange(-30, 31))
    rows = buckets if made is RelativeBias else 2 * buckets
    assert found.min() >= 0 and found.max() < rows


@pytest.mark.parametrize("heads", range(1, 21))
def test_alibi_slopes_are_the_published_ones(heads: int) -> None:
    scheme = Alibi(config(heads=heads, head_dim=4))
    np.testing.assert_allclose(scheme.slopes(), reference.slopes(heads), rtol=1e-6)


@pytest.mark.parametrize("heads", range(1, 21))
def test_the_formula_that_pages_show_gives_the_slopes_of_any_number_of_heads(heads: int) -> None:
    """Its exponents are computed as they are written."""
    first, rest = re.findall(r"m_h = 2\^\{(.+?)\}\\ ", Alibi.formula)
    power = 2 ** math.floor(math.log2(heads))
    found = []
    for head in range(1, heads + 1):
        exponent = re.sub(r"(?<=\d)(?=[h(])", "*", first if head <= power else rest)
        found.append(2 ** eval(exponent, {"h": head, "p": power}))
    np.testing.assert_allclose(Alibi(config(heads=heads, head_dim=4)).slopes(), found, rtol=1e-6)


def test_alibi_slopes_are_those_of_its_bias_in_bfloat16_too() -> None:
    """As in Falcon: the slopes of more than eight heads are rounded."""
    scheme = Alibi(config(heads=12, head_dim=4, alibi=AlibiConfig(scale=0.5, bfloat16=True)))
    bias = scheme.bias(torch.arange(2), torch.arange(2))
    np.testing.assert_array_equal(scheme.slopes(), -bias[:, 1, 0])


def test_alibi_slopes_of_eight_heads_are_halves_of_each_other() -> None:
    assert Alibi(config(heads=8)).slopes().tolist() == [2.0**-power for power in range(1, 9)]


def test_alibi_falls_with_distance_alike_in_both_directions() -> None:
    scheme = Alibi(config(heads=2))
    bias = scheme.bias(AT, AT)
    assert torch.equal(bias, bias.transpose(1, 2))
    assert bias[0, 2].tolist() == [-2 / 16, -1 / 16, 0.0, -1 / 16, -2 / 16, -3 / 16, -4 / 16]


def test_rope_turns_as_complex_numbers_do() -> None:
    scheme = Rope(config(head_dim=6, rope=RopeConfig(theta=500.0)))
    x = torch.randn(1, 1, 1, 6, generator=torch.Generator().manual_seed(1))
    for position in (0, 1, 5, 23):
        turned = scheme.rotate(x, torch.tensor([position]))[0, 0, 0]
        np.testing.assert_allclose(turned, reference.rotated(x[0, 0, 0].double().numpy(), position, 500.0), atol=1e-5)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200), st.integers(2, 9))
def test_under_rope_a_dot_product_depends_on_distance_only(query: int, key: int, shift: int, width: int) -> None:
    scheme = Rope(config(head_dim=width))
    q, k = torch.randn(2, 1, 1, 1, width, generator=torch.Generator().manual_seed(width))

    def product(at_query: int, at_key: int) -> float:
        turned = scheme.rotate(q, torch.tensor([at_query])) * scheme.rotate(k, torch.tensor([at_key]))
        return float(turned.sum())

    assert product(query, key) == pytest.approx(product(query + shift, key + shift), abs=1e-3)


def test_an_odd_last_channel_is_not_turned() -> None:
    x = torch.randn(1, 1, 7, 5)
    assert torch.equal(Rope(config(head_dim=5)).rotate(x, AT)[..., 4], x[..., 4])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rope_keeps_its_angles_exact_in_half_precision(dtype: torch.dtype) -> None:
    scheme, far = Rope(config(head_dim=8)), torch.tensor([1_001])
    x = torch.ones(1, 1, 1, 8)
    half = scheme.rotate(x.to(dtype), far).float()
    torch.testing.assert_close(half, scheme.rotate(x, far), atol=0.02, rtol=0)


@pytest.mark.parametrize("both_ways", [True, False])
def test_t5_buckets_are_the_papers(both_ways: bool) -> None:
    ahead = torch.arange(-1_000, 1_001)
    wanted = [reference.bucket(int(distance), both_ways) for distance in ahead]
    assert RelativeBias(config(), both_ways).bucket(ahead).tolist() == wanted


def test_t5_buckets_that_one_can_check_by_hand() -> None:
    near, far = torch.tensor([0, -1, 1, -7, 7, -8, 8]), torch.tensor([-127, -128, -5_000, 5_000])
    assert RelativeBias(config(), bidirectional=True).bucket(near).tolist() == [0, 1, 17, 7, 23, 8, 24]
    assert RelativeBias(config(), bidirectional=True).bucket(far).tolist() == [15, 15, 15, 31]
    assert RelativeBias(config(), bidirectional=False).bucket(near).tolist() == [0, 1, 0, 7, 0, 8, 0]
    assert RelativeBias(config(), bidirectional=False).bucket(far).tolist() == [31, 31, 31, 0]


def test_patches_of_an_offset_share_a_row_and_the_class_token_has_its_own() -> None:
    image = ImageConfig(channels=3, height=6, width=8, patch_height=2, patch_width=2)
    scheme = PatchBias(config(architecture="encoder", masks=(), image=image, context_length=13))
    places = torch.arange(13)
    buckets = scheme.bucket(places, places)
    rows = {(down, right): 7 * (down + 2) + right + 3 for down in range(-2, 3) for right in range(-3, 4)}
    assert list(rows.values()) == list(range(35)) and len(scheme.bias_table.weight) == 38
    for query, key in product(range(12), range(12)):
        offset = query // 4 - key // 4, query % 4 - key % 4
        assert buckets[1 + query, 1 + key] == rows[offset]
    assert buckets[0].tolist() == [37, *[35] * 12] and buckets[1:, 0].tolist() == [36] * 12


@pytest.mark.parametrize("name", ["relative", "relative-patches"])
def test_each_layer_may_have_biases_of_its_own(name: str) -> None:
    own = config(positional_encoding=name, relative_position=RelativePositionConfig(each_layer=True))
    stack, shared = Stack(own, "decoder"), Stack(config(positional_encoding=name), "decoder").positional_encoding
    first, second = stack.layer_positional_encodings
    assert isinstance(first, LearnedBiases) and isinstance(shared, LearnedBiases)
    table = torch.nn.init.normal_(first.bias_table.weight)
    assert table.shape[1] == 2 * own.heads
    shared.bias_table.weight.data = table[:, own.heads :]
    torch.testing.assert_close(second.bias(AT, AT), shared.bias(AT, AT))
    assert not torch.allclose(first.bias(AT, AT), second.bias(AT, AT))


def test_t5_bias_is_the_tables_number_for_each_head() -> None:
    scheme = RelativeBias(config(), bidirectional=False)
    table = torch.arange(32 * 4, dtype=torch.float32).view(32, 4)
    scheme.bias_table.weight.data = table
    bias = scheme.bias(AT, AT)
    assert bias[3, 5, 2] == table[3, 3]
    assert bias[1, 0, 6] == table[0, 1]
