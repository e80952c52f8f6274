"""Optimizers include each weight once; schedules decay as in their papers."""

import math
from dataclasses import dataclass

import pytest
import torch

from headlight.config import Config
from headlight.errors import ConfigError
from headlight.nn.transformer import Transformer
from headlight.training.optimizers import OPTIMIZERS, SCHEDULES, cosine, wsd


@dataclass(frozen=True)
class Options:
    learning_rate: float = 1e-3
    muon_learning_rate: float = 0.0
    weight_decay: float = 0.1


def model() -> Transformer:
    return Transformer(
        Config(
            vocabulary_size=50,
            context_length=8,
            d_model=16,
            layers=2,
            heads=2,
            positional_encoding="learned",
            bias=True,
        )
    )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_weight_is_in_exactly_one_group(name: str) -> None:
    if name == "muon" and not hasattr(torch.optim, "Muon"):
        pytest.skip("this torch has no Muon")
    made = model()
    groups = [group for optimizer in OPTIMIZERS[name](made, Options()) for group in optimizer.param_groups]
    taken = [id(parameter) for group in groups for parameter in group["params"]]
    assert sorted(taken) == sorted(id(parameter) for parameter in made.parameters())
    for group in groups:
        assert all((parameter.dim() > 1) == (group["weight_decay"] > 0) for parameter in group["params"])


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="this torch has no Muon")
def test_muon_takes_the_matrices_of_the_blocks_alone() -> None:
    made = model()
    inner = {id(p) for group in OPTIMIZERS["muon"](made, Options())[0].param_groups for p in group["params"]}
    names = {name for name, parameter in made.named_parameters() if id(parameter) in inner}
    assert len(names) == 2 * 7 and all(".blocks." in name and name.endswith("weight") for name in names)


def test_a_torch_without_muon_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.optim, "Muon", raising=False)
    with pytest.raises(ConfigError, match=r"has no Muon.*adamw"):
        OPTIMIZERS["muon"](model(), Options())


def test_cosine_decays_over_the_whole_run() -> None:
    factors = [cosine(done / 10, 1.0, 0.1) for done in range(11)]
    assert factors[0] == 1 and math.isclose(factors[5], 0.55) and math.isclose(factors[-1], 0.1)
    assert factors == sorted(factors, reverse=True)


def test_wsd_is_constant_then_decays_linearly() -> None:
    assert [wsd(done, 0.8, 0.0) for done in (0.0, 0.5, 0.8)] == [1.0, 1.0, 1.0]
    assert math.isclose(wsd(0.9, 0.8, 0.0), 0.5) and wsd(1.0, 0.8, 0.0) == 0.0
    assert wsd(1.0, 0.8, 0.25) == 0.25
    assert wsd(0.99, 1.0, 0.0) == 1.0  # the cooldown has not begun


def test_unknown_schedules_list_the_known_ones() -> None:
    with pytest.raises(KeyError, match="cosine, wsd"):
        SCHEDULES["linear"]
