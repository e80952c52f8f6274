"""variant(): the same weights in another configuration, shared and never random."""

from operator import attrgetter
from typing import Any

import pytest
import torch
from torch import Tensor

from headlight import ATTENTION_FUNCTIONS, POSITIONAL_ENCODINGS, Transformer, UnknownNameError, variant
from headlight.config.flat_names import FLAT_NAMES
from headlight.nn.transformer import describe_missing_weights
from tests.model import toys

IDS = toys.numbers(1, 8)
CHOICES: list[dict[str, Any]] = [
    *({"positional_encoding": name} for name in sorted(POSITIONAL_ENCODINGS)),
    *({"attention_function": name} for name in sorted(ATTENTION_FUNCTIONS)),
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
    model = toys.model(positional_encoding="relative")
    same = variant(model, positional_encoding="relative", attention_function="softmax", masks=("causal",), scale=True)
    assert torch.equal(answer(same), answer(model))
    assert same.new_parameters == ()


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_weight_is_the_models_own_memory(choice: dict[str, Any]) -> None:
    model = toys.model(positional_encoding="sinusoidal")
    rewired = variant(model, **choice)
    theirs = model.state_dict()
    for name, weight in rewired.state_dict().items():
        assert (name in rewired.new_parameters) != (name in theirs and weight.data_ptr() == theirs[name].data_ptr())


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("parts", toys.UNUSUAL, ids=["unlike", "streams"])
def test_layers_of_several_sizes_take_every_part(parts: dict[str, Any], choice: dict[str, Any]) -> None:
    model = toys.model(**parts)
    rewired = variant(model, **choice)
    is_new = any(attrgetter(FLAT_NAMES.get(name, name))(model.config) != value for name, value in choice.items())
    assert torch.equal(answer(rewired), answer(model)) != is_new


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_the_model_itself_is_untouched(choice: dict[str, Any]) -> None:
    model = toys.model(positional_encoding="learned").requires_grad_(True).train()
    before, config = {name: weight.clone() for name, weight in model.state_dict().items()}, model.config
    answer(variant(model, **choice))
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
    assert model.config is config
    assert model.training
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize(
    ("position", "added"),
    [
        ("learned", ("decoder.positional_encoding.table.weight",)),
        ("relative", ("decoder.positional_encoding.bias_table.weight",)),
        ("alibi", ()),
    ],
)
def test_what_the_model_lacks_is_zero_and_named(position: str, added: tuple[str, ...]) -> None:
    model = toys.model(positional_encoding="none")
    rewired = variant(model, positional_encoding=position)
    assert rewired.new_parameters == added
    assert not any(rewired.state_dict()[name].any() for name in added)
    if added:
        assert torch.equal(answer(rewired), answer(model)), "a zero table has no effect"


@pytest.mark.parametrize("position", sorted(POSITIONAL_ENCODINGS))
def test_what_is_learned_changes_nothing_until_it_is_and_says_so(position: str) -> None:
    model = toys.model(positional_encoding="none")
    rewired, learned_weights = (
        variant(model, positional_encoding=position),
        POSITIONAL_ENCODINGS[position].learned_weights,
    )
    assert bool(learned_weights) == bool(rewired.new_parameters)
    assert learned_weights in describe_missing_weights(rewired)
    assert bool(describe_missing_weights(rewired)) == bool(learned_weights)
    if learned_weights:
        assert torch.equal(answer(rewired), answer(model))
    assert not describe_missing_weights(toys.model(positional_encoding=position))


def test_a_variant_of_a_variant_still_names_what_is_zero() -> None:
    learned = variant(toys.model(positional_encoding="none"), positional_encoding="learned")
    assert variant(learned, attention_function="linear").new_parameters == learned.new_parameters
    assert variant(learned, positional_encoding="rope").new_parameters == ()


@pytest.mark.parametrize(("context", "width"), [(24, 16), (32, 4)])  # in the second both tables are of equal size
def test_a_learned_table_is_never_taken_for_t5_biases(context: int, width: int) -> None:
    model = toys.model(positional_encoding="learned", context_length=context, d_model=width)
    rewired = variant(model, positional_encoding="relative")
    assert rewired.new_parameters == ("decoder.positional_encoding.bias_table.weight",)
    assert variant(rewired, positional_encoding="learned").new_parameters == (
        "decoder.positional_encoding.table.weight",
    )


def test_there_and_back_is_the_model_again() -> None:
    model = toys.model(positional_encoding="rope")
    back = variant(
        variant(model, positional_encoding="learned", attention_function="hardmax"),
        positional_encoding="rope",
        attention_function="softmax",
    )
    assert torch.equal(answer(back), answer(model))


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_nothing_is_drawn_at_random(choice: dict[str, Any]) -> None:
    model = toys.model(positional_encoding="none")
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = answer(variant(model, **choice))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(answer(variant(model, **choice)), first)


@pytest.mark.parametrize("choice", [{"masks": ()}, {"attention_function": "hardmax"}, {"positional_encoding": "alibi"}])
def test_a_tied_head_stays_tied(choice: dict[str, Any]) -> None:
    rewired = variant(toys.model(), **choice)
    assert rewired.output_head.projection.weight is rewired.embedding.weight  # type: ignore[union-attr]


def test_unknown_parts_list_the_known_ones() -> None:
    model = toys.model()
    with pytest.raises(UnknownNameError, match=r"no positional encoding 'spiral'.*alibi"):
        variant(model, positional_encoding="spiral")
    with pytest.raises(UnknownNameError, match=r"no attention function 'soft'.*softmax"):
        variant(model, attention_function="soft")
    with pytest.raises(UnknownNameError, match=r"no mask 'sideways'.*causal"):
        variant(model, masks=("sideways",))


def test_masks_may_be_a_list_or_their_text_form() -> None:
    model = toys.model()
    assert variant(model, masks=["causal", "window:2"]).config.masks == ("causal", "window:2")
    assert variant(model, masks="causal+window:2").config.masks == ("causal", "window:2")
    assert variant(model, masks="none").config.masks == ()
