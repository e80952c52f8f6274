"""Every positional encoding, attention function and mask: rows sum to one or are zero, nothing is ever NaN."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from headlight import ATTENTION_FUNCTIONS, MASKS, POSITIONAL_ENCODINGS, run
from tests.model import toys
from tests.sampling import combinations, is_full, parameter_set

LENGTH = 7
# The second row sees nothing, and the fourth only later keys, which causal masks forbid.
CUSTOM = "custom:1000000/0000000/1110000/0000111/1111100/1111110/0111101"
# Masks whose default argument says too little, or does not fit the text.
WRITTEN = {"window": "window:2", "custom": CUSTOM, "painted": "painted:6-0.2-5"}


def written(name: str) -> str:
    """A mask with an argument, if it takes one."""
    argument = MASKS[name].argument
    return WRITTEN.get(name, name if argument is None else f"{name}:{argument.default}")


PARTS = combinations(sorted(POSITIONAL_ENCODINGS), sorted(ATTENTION_FUNCTIONS))
# Each mask is an axis of its own, present or absent.
ALL = [
    parameter_set(position, kernel, tuple(filter(None, masks)), full=is_full(each))
    for each in combinations(
        sorted(POSITIONAL_ENCODINGS), sorted(ATTENTION_FUNCTIONS), *(("", written(name)) for name in sorted(MASKS))
    )
    for position, kernel, *masks in [each.values]
]


def named(choice: object) -> str:
    """A short name for a test."""
    return "+".join(mask.partition(":")[0] for mask in choice) or "all" if isinstance(choice, tuple) else str(choice)


def test_the_combinations_cover_every_table() -> None:
    assert len(ALL) == len(POSITIONAL_ENCODINGS) * len(ATTENTION_FUNCTIONS) * 2 ** len(MASKS)


@pytest.mark.parametrize(("position", "kernel", "masks"), ALL, ids=named)
def test_rows_sum_to_one_or_are_empty(position: str, kernel: str, masks: tuple[str, ...]) -> None:
    model = toys.decoder(positional_encoding=position, attention_function=kernel, masks=masks)
    trace = run(model, toys.causal(), "the cat sat on the mat")
    assert len(trace.text.ids) == LENGTH
    assert all(np.isfinite(value).all() for value in trace.values.values())
    weights, allowed = trace.attention(), trace.stack_layers("mask")
    np.testing.assert_allclose(weights.sum(-1), allowed.any(-1), atol=1e-5)
    assert (weights[~allowed] == 0).all()
    assert (weights >= 0).all()
    assert trace.probabilities().sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("position", "kernel"), PARTS)
def test_training_survives_rows_that_see_nothing(position: str, kernel: str) -> None:
    """Gradients stay finite with a text of only padding and a fully masked query."""
    model = toys.decoder(
        positional_encoding=position, attention_function=kernel, masks=("causal", CUSTOM)
    ).requires_grad_(True)
    real = torch.ones(3, LENGTH, dtype=torch.bool)
    real[1, 4:] = False
    real[2] = False
    logits = model(toys.numbers(3, LENGTH, below=toys.causal().vocabulary_size), padding_mask=real)
    assert logits is not None
    loss = functional.cross_entropy(logits.flatten(0, 1), toys.numbers(3 * LENGTH))
    torch.autograd.backward(loss)
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert gradients
    assert all(gradient.isfinite().all() for gradient in gradients)
