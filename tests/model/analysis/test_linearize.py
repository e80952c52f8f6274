"""Linearized layers: the components' outputs add up to the output of the layer."""

import pytest
import torch
from torch import nn

from headlight.analysis.residual_stream import linearize, linearize_activation
from headlight.errors import ConfigError
from headlight.nn.layers import ACTIVATIONS, NORMS


def table(seed: int = 3) -> torch.Tensor:
    return torch.randn(5, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("name", NORMS)
def test_the_components_of_a_norm_add_up_to_the_norm_of_their_sum(name: str) -> None:
    norm = NORMS[name].make(8, 1e-5, True).double()
    for parameter in norm.parameters():
        parameter.data = table(4)[0, : len(parameter)]
    parts = table()
    assert torch.allclose(linearize(norm, parts, 2).sum(0), norm(parts.sum(0)), atol=1e-12)


@pytest.mark.parametrize("name", NORMS)
def test_a_component_is_divided_by_the_scale_of_the_sum(name: str) -> None:
    norm = NORMS[name].make(8, 1e-5, False).double()
    parts = table()
    once, twice = linearize(norm, parts, 0), linearize(norm, 2 * parts, 0)
    assert torch.allclose(once, twice, atol=1e-4)  # up to the epsilon, doubling all parts changes nothing
    swapped = linearize(norm, parts.flip(0), 0)
    assert torch.allclose(swapped.flip(0), once)


def test_a_bias_goes_to_the_bias_row() -> None:
    layer, parts = nn.Linear(8, 3).double(), table()
    out = linearize(layer, parts, 4)
    assert torch.allclose(out[:4], parts[:4] @ layer.weight.T)
    assert torch.allclose(out.sum(0), layer(parts.sum(0)))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_components_of_an_activation_add_up_to_the_activation_of_their_sum(name: str) -> None:
    parts = table()
    parts[:, 0] = 0.0  # a silent channel
    assert torch.allclose(
        linearize_activation(ACTIVATIONS[name], parts, 1).sum(0), ACTIVATIONS[name](parts.sum(0)), atol=1e-12
    )


def test_a_layer_without_linearization_is_refused() -> None:
    with pytest.raises(ConfigError, match="Softmax"):
        linearize(nn.Softmax(dim=-1), table(), 0)
