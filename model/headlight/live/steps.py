"""Steps: what the interpreter does, one operator after the other, and what each of them reads.

An argument is a plain value, a list, {"step": n} for the result of an earlier step, {"input": name}, {"weight": n},
{"length": [a, b]} for the size a n + b in a text of n tokens, or {"number": text} for a number that JSON does not have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from headlight.errors import ConfigError

Argument = None | bool | int | float | str | list[Any] | dict[str, Any]
Step = list[Argument]  # the operator's name and its arguments
UNKNOWN = -1  # in a shape: the size that the number of cells leaves

UNARY = (
    *("abs", "ceil", "cos", "exp", "floor", "log", "log1p", "neg", "reciprocal", "relu", "rsqrt", "sigmoid", "sign"),
    *("silu", "sin", "sqrt", "square", "tanh"),
)
BINARY = ("mul", "div", "remainder", "ge", "gt", "le", "lt", "eq", "ne")
# The operators of the interpreter; `operators/operators.ts` has the same.
OPERATORS = frozenset(
    (
        *UNARY,
        *BINARY,
        *("point", "add", "sub", "pow", "floor_divide", "gelu", "gelu_tanh", "softplus", "clamp", "where", "trunc"),
        *("bfloat16", "reshape", "expand", "permute", "slice", "select", "cat", "roll", "flip", "full", "arange"),
        *("sum", "mean", "max", "min", "softmax", "cumsum", "tril", "layer_norm", "rms_norm"),
        *("linear", "matmul", "solve_unit_lower", "embedding", "index", "masked_rows", "with_masked_rows"),
        *("gather", "scatter", "topk_indices", "topk_values", "argmax"),
    )
)


class Steps:
    """The steps of one program, and what each node of its graph has become: `results`."""

    def __init__(self, length: Any) -> None:
        """`length` is the symbol of the number of tokens; None if the model reads one alone."""
        self.steps: list[Step] = []
        self.results: dict[Node, Argument] = {}
        self._length = length

    def step(self, name: str, *arguments: Argument) -> Argument:
        """Add a step; its result as an argument."""
        assert name in OPERATORS, name
        self.steps.append([name, *arguments])
        return {"step": len(self.steps) - 1}

    def argument(self, given: Any) -> Argument:
        """An argument of a node as one of a step."""
        if isinstance(given, Node):
            value = given.meta["val"]
            return self.size(value) if isinstance(value, torch.SymInt) else self.results[given]
        if isinstance(given, Sequence) and not isinstance(given, str):
            return [self.argument(each) for each in given]
        if isinstance(given, float) and not math.isfinite(given):
            return {"number": "NaN" if math.isnan(given) else f"{'-' * (given < 0)}Infinity"}
        if isinstance(given, bool):
            return int(given)
        return self.size(given) if isinstance(given, torch.SymInt) else given

    def size(self, value: int | torch.SymInt) -> Argument:
        """A size: a number, or a multiple of the text's length plus a number. Raises ConfigError for another."""
        if isinstance(value, int):
            return value
        expression, length = value.node.expr, self._length
        if expression.free_symbols == {length}:
            slope, start = int(expression.coeff(length, 1)), int(expression.subs(length, 0))
            if expression == slope * length + start:
                return {"length": [slope, start]}
        raise ConfigError(f"This model has a size of {expression}, which the engine of a live page does not know.")

    def shape(self, node: Node) -> list[Argument]:
        """The shape of a node's value; one size may depend on values and is UNKNOWN."""
        sizes = tensor_of(node).shape
        unknown = {axis for axis, size in enumerate(sizes) if self._depends(size)}
        if len(unknown) > 1:
            raise ConfigError(f"This model has a value of shape {tuple(sizes)}, which a live page does not know.")
        return [UNKNOWN if axis in unknown else self.size(size) for axis, size in enumerate(sizes)]

    def _depends(self, size: int | torch.SymInt) -> bool:
        """Whether a size depends on values, such as the number of tokens that an expert reads."""
        return isinstance(size, torch.SymInt) and bool(size.node.expr.free_symbols - {self._length})


def tensor_of(node: Node) -> Tensor:
    """The tensor that stands for a node's value: its type, and its shape."""
    value = node.meta["val"]
    assert isinstance(value, Tensor)
    return value


def without_unused(steps: list[Step], result: Argument) -> dict[str, Any]:
    """The program without the steps that no hook point and no later step reads."""
    used = set(_steps_in(result))
    for number in reversed(range(len(steps))):
        if number in used or steps[number][0] == "point":
            used |= {number, *_steps_in(steps[number])}
    numbers = {old: new for new, old in enumerate(sorted(used))}
    return {"steps": [_renumbered(steps[old], numbers) for old in numbers], "result": _renumbered(result, numbers)}


def _steps_in(argument: Argument) -> Iterator[int]:
    """The steps whose results an argument reads."""
    if isinstance(argument, dict) and "step" in argument:
        yield argument["step"]
    elif isinstance(argument, list):
        for each in argument:
            yield from _steps_in(each)


def _renumbered(argument: Any, numbers: Mapping[int, int]) -> Any:
    if isinstance(argument, list):
        return [_renumbered(each, numbers) for each in argument]
    is_step = isinstance(argument, dict) and "step" in argument
    return {"step": numbers[argument["step"]]} if is_step else argument
