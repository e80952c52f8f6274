"""Finds the linear maps of a learner's module, whatever they are called."""

from __future__ import annotations

import re

from torch import nn

from headlight.code_exercises.case import Layers
from headlight.code_exercises.finding import Diagnosis, Hints, NothingToCheck

ROLE_NAMES = {
    **dict.fromkeys(("q", "query", "queries"), "query"),
    **dict.fromkeys(("k", "key", "keys"), "key"),
    **dict.fromkeys(("v", "value", "values"), "value"),
    **dict.fromkeys(("o", "out", "output"), "output"),
}
FILLERS = re.compile(r"linears?|layers?|projection|proj|weights?|matrix|to|fc|in|w|_|\d|\.")


def find_layers(module: nn.Module, roles: tuple[str, ...], d_model: int) -> Layers:
    """The layers by their names (query, W_q, q_proj ...), else in the order of their definition.

    Raises NothingToCheck where they are not as many square linear maps as there are roles.
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
                f"{d_model} to {d_model} is expected, all heads together.",
                WRONG_SIZE,
            )
    named = {role: layer for name, layer in linears.items() if (role := role_of(name))}
    return Layers(**(named if set(named) == set(roles) else dict(zip(roles, linears.values(), strict=True))))


def role_of(name: str) -> str:
    """The role that a layer's name tells; empty where it tells none."""
    last = name.rpartition(".")[2].lower()
    return next((ROLE_NAMES[each] for each in (last, FILLERS.sub("", last)) if each in ROLE_NAMES), "")


def _count(layers: int) -> str:
    return "no linear layer" if not layers else "1 linear layer" if layers == 1 else f"{layers} linear layers"


def _diagnose(module: nn.Module, found: int, roles: tuple[str, ...]) -> Diagnosis:
    own = [value for name, value in vars(module).items() if not name.startswith("_")]  # nn.Module has dicts of its own
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


HIDDEN_LAYERS = Diagnosis(
    "the layers are in a plain Python list or dict. PyTorch does not see them there: they would never be trained, "
    "saved or moved to another device.",
    Hints(
        nudge="Print list(module.parameters()). How many are there?",
        concrete="Put the layers in an nn.ModuleList.",
        show_me="self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))",
    ),
)
SHARED_LAYER = Diagnosis(
    "one layer stands in the list several times. Queries, keys and values are then made by the same weights.",
    Hints(
        nudge="Are the layers of your list different objects?",
        concrete="[layer] * 4 repeats one layer. Make a new one each time, or copy it with copy.deepcopy.",
        show_me="self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))",
    ),
)
WRONG_COUNT = Diagnosis(
    "the module has other layers than the exercise describes.",
    Hints(
        nudge="Count the linear maps that the task names.",
        concrete="Make each of them one nn.Linear, named query, key, value (and output) or defined in this order.",
        show_me="self.query = nn.Linear(d_model, d_model)",
    ),
)
WRONG_SIZE = Diagnosis(
    "a layer has another size. One layer makes the channels of all heads; they are split afterwards.",
    Hints(
        nudge="How many channels do all heads have together?",
        concrete="h heads of d_model / h channels are d_model channels: nn.Linear(d_model, d_model).",
        show_me="self.query = nn.Linear(d_model, d_model)",
    ),
)
