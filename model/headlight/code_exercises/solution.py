"""A learner's function or module, prepared for one case, and its answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from headlight.code_exercises.cases import Case, Layers
from headlight.code_exercises.diagnoses import CheckFailed, Diagnosis, NothingToCheck, diagnosis

ROLE_NAMES = {
    **dict.fromkeys(("q", "query", "queries"), "query"),
    **dict.fromkeys(("k", "key", "keys"), "key"),
    **dict.fromkeys(("v", "value", "values"), "value"),
    **dict.fromkeys(("o", "out", "output"), "output"),
}
FILLERS = re.compile(r"linears?|layers?|projection|proj|weights?|matrix|to|fc|in|w|_|\d|\.")


def find_layers(module: nn.Module, roles: tuple[str, ...], d_model: int) -> Layers:
    """The layers by name (query, W_q, q_proj ...), else in the order of their definition.

    Raises NothingToCheck unless there is one square linear map for each role.
    """
    linears = {name: layer for name, layer in module.named_modules() if isinstance(layer, nn.Linear)}
    if len(linears) != len(roles):
        raise NothingToCheck(
            f"{type(module).__name__} has {_count(len(linears))}; {len(roles)} are expected, for {', '.join(roles)}.",
            _diagnose(module, len(linears), roles),
        )
    for name, layer in linears.items():
        if tuple(layer.weight.shape) != (d_model, d_model):
            raise NothingToCheck(
                f"{name} maps {layer.in_features} channels to {layer.out_features}; "
                f"{d_model} to {d_model} is expected, for all heads together.",
                WRONG_SIZE,
            )
    named = {role: layer for name, layer in linears.items() if (role := role_of(name))}
    return Layers(**(named if set(named) == set(roles) else dict(zip(roles, linears.values(), strict=True))))


def role_of(name: str) -> str:
    """The role that a layer's name states; empty if it states none."""
    last = name.rpartition(".")[2].lower()
    return next((ROLE_NAMES[each] for each in (last, FILLERS.sub("", last)) if each in ROLE_NAMES), "")


def _count(layers: int) -> str:
    return "no linear layer" if not layers else "1 linear layer" if layers == 1 else f"{layers} linear layers"


def _diagnose(module: nn.Module, found: int, roles: tuple[str, ...]) -> Diagnosis:
    own = [value for name, value in vars(module).items() if not name.startswith("_")]  # others are nn.Module's
    if any(isinstance(each, list | tuple | dict) and _holds_linear(each) for each in own):
        return HIDDEN_LAYERS
    repeated = any(
        isinstance(each, nn.ModuleList | nn.Sequential) and len({id(layer) for layer in each}) < len(each)
        for each in module.modules()
    )
    return SHARED_LAYER if repeated and found < len(roles) else WRONG_COUNT


def _holds_linear(container: list[object] | tuple[object, ...] | dict[object, object]) -> bool:
    items = container.values() if isinstance(container, dict) else container
    return any(isinstance(item, nn.Linear) for item in items)


HIDDEN_LAYERS = diagnosis(
    "the layers are in a plain Python list or dict. PyTorch does not find them there: they would never be trained, "
    "saved or moved to another device.",
    nudge="Print list(module.parameters()). How many are there?",
    concrete="Put the layers in an nn.ModuleList.",
    show_me="self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))",
)
SHARED_LAYER = diagnosis(
    "the list contains one layer several times. Queries, keys and values are then made by the same weights.",
    nudge="Are the layers of your list different objects?",
    concrete="[layer] * 4 repeats one layer. Create a new one each time, or copy it with copy.deepcopy.",
    show_me="self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))",
)
WRONG_COUNT = diagnosis(
    "the layers of the module differ from those that the exercise describes.",
    nudge="Count the linear maps that the task names.",
    concrete="Define each as one nn.Linear, named query, key, value (and output) or in this order.",
    show_me="self.query = nn.Linear(d_model, d_model)",
)
WRONG_SIZE = diagnosis(
    "a layer has the wrong size. One layer makes the channels of all heads; they are split afterwards.",
    nudge="How many channels do all heads have together?",
    concrete="h heads of d_model / h channels are d_model channels: nn.Linear(d_model, d_model).",
    show_me="self.query = nn.Linear(d_model, d_model)",
)


Solution = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class BoundSolution:
    """A function, or a module built for the case; the case then has the module's layers."""

    case: Case
    call: Solution
    module: nn.Module | None = None
    takes_one_input: bool = False

    def arguments(self) -> list[Tensor]:
        """Copies of the inputs, so that in-place changes do not affect the comparison."""
        query = self.case.query.clone()
        if self.takes_one_input:
            return [query]
        key = query if self.case.key is self.case.query else self.case.key.clone()
        value = key if self.case.value is self.case.key else self.case.value.clone()
        return [query, key, value, *([] if self.case.mask is None else [self.case.mask.clone()])]

    def answer(self, *arguments: Any) -> tuple[Tensor, Tensor | None]:
        """The output, and the weights if they are returned."""
        return read_answer(self.call(*(arguments or self.arguments())))


Bind = Callable[[Solution, Case, float], BoundSolution]


def read_answer(returned: object) -> tuple[Tensor, Tensor | None]:
    """The returned output and weights as float32. Raises CheckFailed if there is no tensor."""
    parts = list(returned) if isinstance(returned, tuple | list) else [returned]
    tensors = [part.float() for part in parts[:2] if isinstance(part, Tensor)]
    if not parts or len(tensors) < len(parts[:2]):
        given = "nothing (None)" if returned is None else f"a {type(returned).__name__}"
        raise CheckFailed(
            f"It returned {given}; a tensor is expected, or the output and the weights.", NOTHING_RETURNED
        )
    return tensors[0], tensors[1] if len(tensors) > 1 else None


def bind_function(solution: Solution, case: Case, dropout: float) -> BoundSolution:
    """A function, which takes dropout as an argument."""
    return BoundSolution(case=case, call=solution)


def bind_single_head(solution: Solution, case: Case, dropout: float) -> BoundSolution:
    """A module of one head without an output projection; its only argument is the width."""
    width = case.query.shape[-1]
    module = _build(solution, width)
    layers = find_layers(module, ("query", "key", "value"), width)
    return BoundSolution(case=replace(case, layers=layers), call=module, module=module, takes_one_input=True)


def bind_multi_head(solution: Solution, case: Case, dropout: float) -> BoundSolution:
    """A module of several heads; its arguments are their number, the width and the dropout rate."""
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


NOTHING_RETURNED = diagnosis(
    "the function does not `return` its result.",
    nudge="What does the last line of your function return?",
    concrete="Return the output and the weights.",
    show_me="return output, weights",
)
NO_MODULE = diagnosis(
    "the class is not a module.",
    nudge="What does the class inherit from?",
    concrete="Inherit from nn.Module, and call super().__init__() first.",
    show_me="class MultiHeadedAttention(nn.Module): ...",
)
