"""A learner's function or module, made ready for one case, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from headlight.code_exercises.case import Case
from headlight.code_exercises.finding import CheckFailed, Diagnosis, Hints, NothingToCheck
from headlight.code_exercises.layers import find_layers

Solution = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class BoundSolution:
    """A function, or a module that was built for the case; the case then has the module's layers."""

    case: Case
    call: Solution
    module: nn.Module | None = None
    takes_one_input: bool = False

    def arguments(self) -> list[Tensor]:
        """Copies of the inputs, so that nothing that the call changes spoils the comparison."""
        query = self.case.query.clone()
        if self.takes_one_input:
            return [query]
        key = query if self.case.key is self.case.query else self.case.key.clone()
        value = key if self.case.value is self.case.key else self.case.value.clone()
        return [query, key, value, *([] if self.case.mask is None else [self.case.mask.clone()])]

    def answer(self, *arguments: Any) -> tuple[Tensor, Tensor | None]:
        """The output, and the weights where they are returned, too."""
        return read_answer(self.call(*(arguments or self.arguments())))


Bind = Callable[[Solution, Case, float], BoundSolution]


def read_answer(returned: object) -> tuple[Tensor, Tensor | None]:
    """The output and the weights that were returned, as float32. Raises CheckFailed where there is no tensor."""
    parts = list(returned) if isinstance(returned, tuple | list) else [returned]
    tensors = [part.float() for part in parts[:2] if isinstance(part, Tensor)]
    if not parts or len(tensors) < len(parts[:2]):
        given = "nothing (None)" if returned is None else f"a {type(returned).__name__}"
        raise CheckFailed(
            f"It returned {given}; a tensor is expected, or the output and the weights.", NOTHING_RETURNED
        )
    return tensors[0], tensors[1] if len(tensors) > 1 else None


def bind_function(solution: Solution, case: Case, dropout: float) -> BoundSolution:
    """A function, which gets its dropout as an argument."""
    return BoundSolution(case=case, call=solution)


def bind_single_head(solution: Solution, case: Case, dropout: float) -> BoundSolution:
    """A module of one head without an output projection, built with its width alone."""
    width = case.query.shape[-1]
    module = _build(solution, width)
    layers = find_layers(module, ("query", "key", "value"), width)
    return BoundSolution(case=replace(case, layers=layers), call=module, module=module, takes_one_input=True)


def bind_multi_head(solution: Solution, case: Case, dropout: float) -> BoundSolution:
    """A module of several heads, built with their number, its width and the dropout."""
    width = case.query.shape[-1]
    module = _build(solution, case.heads, width, dropout)
    layers = find_layers(module, ("query", "key", "value", "output"), width)
    return BoundSolution(case=replace(case, layers=layers), call=module, module=module)


def _build(solution: Solution, *sizes: int | float) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        module = solution(*sizes)
    if not isinstance(module, nn.Module):
        raise NothingToCheck(f"It makes a {type(module).__name__}; a subclass of nn.Module is expected.", NO_MODULE)
    return module.eval()


NOTHING_RETURNED = Diagnosis(
    "the function ends without a `return` of what it has computed.",
    Hints(
        nudge="What does the last line of your function hand back?",
        concrete="Return the output and the weights.",
        show_me="return output, weights",
    ),
)
NO_MODULE = Diagnosis(
    "the class is not a module.",
    Hints(
        nudge="What does the class inherit from?",
        concrete="Inherit from nn.Module, and call super().__init__() first.",
        show_me="class MultiHeadedAttention(nn.Module): ...",
    ),
)
