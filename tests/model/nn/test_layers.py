"""Layers besides attention."""

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from headlight import Transformer, variant
from headlight.nn.layers import FEW_ROWS, PACKED_ROWS, Linear, PackedWeight
from tests.model import toys


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", range(FEW_ROWS + 3))
def test_a_linear_map_of_few_rows_is_that_of_many(rows: int, bias: bool) -> None:
    layer = Linear(40, 24, bias=bias)
    x = torch.randn(1, rows, 40, generator=torch.Generator().manual_seed(0), requires_grad=True)
    found, expected = layer(x), nn.functional.linear(x, layer.weight, layer.bias)
    assert_close(found, expected, atol=1e-6, rtol=1e-6)
    assert found.is_contiguous()
    gradient = torch.autograd.grad(found.square().sum(), layer.weight)
    assert_close(gradient, torch.autograd.grad(expected.square().sum(), layer.weight), atol=1e-5, rtol=1e-5)


CAN_PACK = torch.backends.quantized.engine in ("x86", "fbgemm")
needs_packing = pytest.mark.skipif(not CAN_PACK, reason="FBGEMM does not support this processor")


def short_layer(bias: bool = True) -> Linear:
    """A layer with weights as loaded from a bfloat16 file."""
    torch.manual_seed(0)
    layer = Linear(300, 200, bias=bias).requires_grad_(False)
    layer.weight.copy_(layer.weight.bfloat16())
    return layer


@needs_packing
@pytest.mark.parametrize("bias", [True, False])
def test_products_of_packed_weights_are_as_exact_as_others(bias: bool) -> None:
    layer = short_layer(bias)
    layer.packed = PackedWeight.of(layer.weight, layer.bias)
    assert layer.packed
    for rows in (0, 1, 2, PACKED_ROWS, PACKED_ROWS + 1):
        x = torch.randn(1, 300, rows).mT  # not contiguous
        exact = nn.functional.linear(*(x.double(), layer.weight.double(), layer.bias.double() if bias else None))
        with torch.inference_mode():
            assert_close(layer(x), exact.float(), atol=5e-6, rtol=0)
            assert not rows or layer(x[0, 0]).shape == (200,)


@needs_packing
@pytest.mark.parametrize("weight", [1e6, 1.0001, 1e-12, float("nan"), float("inf")])
def test_weights_that_half_precision_would_change_are_not_packed(weight: float) -> None:
    layer = short_layer()
    layer.weight[100] = weight
    assert PackedWeight.of(layer.weight, layer.bias) is None or weight == 1e-12  # tiny beside the others
    layer.weight[:] = weight
    assert PackedWeight.of(layer.weight, layer.bias) is None


@needs_packing
@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer.weight.mul_(2),
        lambda layer: layer.bias.add_(1),
        lambda layer: setattr(layer, "weight", nn.Parameter(2 * layer.weight, requires_grad=False)),
        lambda layer: layer.load_state_dict({"weight": 2 * layer.weight, "bias": layer.bias}, assign=True),
    ],
)
def test_a_weight_that_has_changed_is_no_longer_the_packed_one(change: Callable[[Linear], object]) -> None:
    layer, x = short_layer(), torch.randn(1, 300)
    layer.packed = PackedWeight.of(layer.weight, layer.bias)
    change(layer)
    with torch.no_grad():
        assert torch.equal(layer(x), nn.functional.linear(x, layer.weight, layer.bias))


@needs_packing
def test_copies_of_packed_weights_are_not_packed_and_gradients_are_of_the_weights() -> None:
    layer, x = short_layer(), torch.randn(2, 300, requires_grad=True)
    layer.packed = PackedWeight.of(layer.weight, layer.bias)
    assert_close(torch.autograd.grad(layer(x).sum(), x)[0], layer.weight.sum(0).expand(2, -1))
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert copied.packed is None
        assert_close(copied(x), layer(x))


@needs_packing
def test_a_variant_shares_what_is_packed_of_the_same_weights() -> None:
    model = toys.decoder()
    for weight in model.parameters():
        weight.data = weight.data.bfloat16().float()
    model.pack_weights()
    other = variant(model, positional_encoding="alibi")
    assert other.packed_bytes == model.packed_bytes > 0

    def packed(made: Transformer) -> list[PackedWeight | None]:
        return [module.packed for module in made.modules() if isinstance(module, Linear)]

    pairs = zip(packed(model), packed(other), strict=True)
    assert all(one and theirs and one.packed is theirs.packed for one, theirs in pairs)
