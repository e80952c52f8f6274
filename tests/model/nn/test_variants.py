"""variant(): the same weights wired another way, shared and never random."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from model import KERNELS, POSITIONS, Transformer, UnknownName, variant
from tests.model import toys

IDS = toys.numbers(1, 8)
CHOICES: list[dict[str, Any]] = [
    *({"position": name} for name in sorted(POSITIONS)),
    *({"kernel": name} for name in sorted(KERNELS)),
    {"masks": ()},
    {"masks": ("causal", "window:2")},
    {"scale": False},
]


def answer(model: Transformer) -> Tensor:
    """The logits of one text."""
    logits = model(IDS)
    assert isinstance(logits, Tensor)
    return logits


def test_a_variant_without_a_change_is_the_model() -> None:
    model = toys.model(position="relative")
    same = variant(model, position="relative", kernel="softmax", masks=("causal",), scale=True)
    assert torch.equal(answer(same), answer(model))
    assert same.added == ()


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_weight_is_the_models_own_memory(choice: dict[str, Any]) -> None:
    model = toys.model(position="sinusoidal")
    rewired = variant(model, **choice)
    theirs = model.state_dict()
    for name, weight in rewired.state_dict().items():
        assert (name in rewired.added) != (name in theirs and weight.data_ptr() == theirs[name].data_ptr())


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_the_model_itself_is_untouched(choice: dict[str, Any]) -> None:
    model = toys.model(position="learned").requires_grad_(True).train()
    before, config = {name: weight.clone() for name, weight in model.state_dict().items()}, model.config
    answer(variant(model, **choice))
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
    assert model.config is config
    assert model.training
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize(
    ("position", "added"),
    [
        ("learned", ("decoder.position.table.weight",)),
        ("relative", ("decoder.position.distances.weight",)),
        ("alibi", ()),
    ],
)
def test_what_the_model_lacks_is_zero_and_named(position: str, added: tuple[str, ...]) -> None:
    model = toys.model(position="none")
    rewired = variant(model, position=position)
    assert rewired.added == added
    assert not any(rewired.state_dict()[name].any() for name in added)
    if added:
        assert torch.equal(answer(rewired), answer(model)), "a zero table says nothing"


def test_a_variant_of_a_variant_still_names_what_is_zero() -> None:
    learned = variant(toys.model(position="none"), position="learned")
    assert variant(learned, kernel="linear").added == learned.added
    assert variant(learned, position="rope").added == ()


@pytest.mark.parametrize(("context", "width"), [(24, 16), (32, 4)])  # the second: both schemes' tables are as large
def test_a_learned_table_is_never_taken_for_t5_biases(context: int, width: int) -> None:
    model = toys.model(position="learned", context=context, width=width)
    rewired = variant(model, position="relative")
    assert rewired.added == ("decoder.position.distances.weight",)
    assert variant(rewired, position="learned").added == ("decoder.position.table.weight",)


def test_there_and_back_is_the_model_again() -> None:
    model = toys.model(position="rope")
    back = variant(variant(model, position="learned", kernel="hard"), position="rope", kernel="softmax")
    assert torch.equal(answer(back), answer(model))


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_nothing_is_drawn_at_random(choice: dict[str, Any]) -> None:
    model = toys.model(position="none")
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = answer(variant(model, **choice))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(answer(variant(model, **choice)), first)


@pytest.mark.parametrize("choice", [{"masks": ()}, {"kernel": "hard"}, {"position": "alibi"}])
def test_a_tied_head_stays_tied(choice: dict[str, Any]) -> None:
    rewired = variant(toys.model(), **choice)
    assert rewired.top.project.weight is rewired.embedding.weight  # type: ignore[union-attr]


def test_unknown_parts_list_the_known_ones() -> None:
    model = toys.model()
    with pytest.raises(UnknownName, match=r"no position scheme 'spiral'.*alibi"):
        variant(model, position="spiral")
    with pytest.raises(UnknownName, match=r"no kernel 'soft'.*softmax"):
        variant(model, kernel="soft")
    with pytest.raises(UnknownName, match=r"no mask 'sideways'.*causal"):
        variant(model, masks=("sideways",))


def test_masks_may_be_a_list_or_their_text_form() -> None:
    model = toys.model()
    assert variant(model, masks=["causal", "window:2"]).config.masks == ("causal", "window:2")
    assert variant(model, masks="causal+window:2").config.masks == ("causal", "window:2")
    assert variant(model, masks="none").config.masks == ()
