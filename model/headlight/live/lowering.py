"""Lowers the graph of an exported program to steps of the interpreter."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Node

from headlight.errors import ConfigError
from headlight.live.rules import RULES, arguments_of
from headlight.live.steps import Argument, Steps, without_unused
from headlight.live.weights import WeightTable

NOT_NEEDED = ("aten._assert_tensor_metadata.default", "aten._assert_scalar.default", "aten._assert_async.msg")


def lower(program: ExportedProgram, weights: WeightTable) -> dict[str, Any]:
    """The steps of a program, whose weights are added to the table, and the argument that is its result.

    Raises ConfigError for an operator that the interpreter does not know.
    """
    steps, stored = Steps(_length_symbol(program)), _stored_tensors(program)
    for node in program.graph.nodes:
        if node.op == "output":
            return without_unused(steps.steps, steps.argument(node.args[0][0]))
        if node.op == "placeholder":
            kept = stored.get(node.name)
            steps.results[node] = {"input": node.name} if kept is None else {"weight": weights.number(*kept)}
        elif not isinstance(node.meta.get("val"), torch.SymInt | torch.SymBool) and str(node.target) not in NOT_NEEDED:
            steps.results[node] = _lowered(steps, node)
    raise AssertionError("an exported graph has an output")


def _lowered(steps: Steps, node: Node) -> Argument:
    """What a node becomes: the interpreter computes in float32, and rounds where torch has bfloat16."""
    name = "getitem" if node.target is operator.getitem else str(node.target).removeprefix("aten.")
    if name not in RULES:
        raise ConfigError(f"This model computes with {name}, which the engine of a live page does not know.")
    result, value = RULES[name](steps, node, arguments_of(node)), node.meta["val"]
    is_rounded = isinstance(value, Tensor) and value.dtype == torch.bfloat16
    return steps.step("bfloat16", result) if is_rounded else result


def _stored_tensors(program: ExportedProgram) -> dict[str, tuple[str, Tensor]]:
    """The name and the tensor of each parameter, buffer and constant, by its placeholder."""
    named = program.state_dict | program.constants
    kept = (spec for spec in program.graph_signature.input_specs if spec.kind != InputKind.USER_INPUT)
    return {spec.arg.name: (spec.target or "", named[spec.target or ""]) for spec in kept}


def _length_symbol(program: ExportedProgram) -> Any:
    """The symbol of the number of tokens; None if the model reads one alone."""
    lengths = [node.meta["val"].shape[1] for node in program.graph.nodes if node.name == "ids"]
    return next((length.node.expr for length in lengths if isinstance(length, torch.SymInt)), None)
