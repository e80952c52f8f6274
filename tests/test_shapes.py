"""The tests' import hook detects wrong shapes and is active for `headlight`."""

from dataclasses import dataclass

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from tests.shapes import jaxtyped_once

FEW, MANY = torch.zeros(2, 3), torch.zeros(4, 3)
checked = jaxtyped_once(typechecker=None)


@checked
def scores(q: Float[Tensor, "query d"], k: Float[Tensor, "key d"], turned: bool) -> Float[Tensor, "query key"]:
    return k @ q.T if turned else q @ k.T


@checked
class Cell:
    @property
    @checked
    def size(self) -> "int":
        return "large"  # type: ignore[return-value]

    @staticmethod
    @checked
    def doubled(number: int, of: "nowhere.Imported" = None) -> int:  # type: ignore[name-defined]
        return 2 * number


@checked
@dataclass
class Row:
    weights: Float[Tensor, "key"]


def test_a_dimension_is_one_number_in_arguments_and_answer() -> None:
    assert scores(FEW, MANY, False).shape == (2, 4)
    for given in ((FEW, MANY, True), (FEW, torch.zeros(4, 2), False), (FEW.int(), MANY, False), (FEW, MANY, "yes")):
        with pytest.raises(TypeError, match="violates type hint"):
            scores(*given)


def test_what_has_no_shapes_is_checked_too() -> None:
    assert Cell.doubled(2, of="what only the type checker imports") == 4
    for wrong in (lambda: Cell().size, lambda: Cell.doubled("2"), lambda: Row(weights=FEW)):
        with pytest.raises(TypeError, match="violates type hint"):
            wrong()


def test_it_stands_around_every_function_of_the_backend() -> None:
    softmax = ATTENTION_FUNCTIONS["softmax"]
    with pytest.raises(TypeError, match="violates type hint"):
        softmax.add_bias(torch.zeros(1, 2, 3), torch.zeros(5, 1, 4))
