"""Lowers the graph of an exported program to steps: an operator of the interpreter, and its arguments.

An argument is a plain value, a list, {"step": n} for the result of an earlier step, {"input": name}, {"weight": n}, or
{"length": [a, b]}: the size a n + b in a text of n tokens.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Node

from headlight.errors import ConfigError
from headlight.live.program import POINT
from headlight.live.weights import WeightTable

Argument = None | bool | int | float | str | list[Any] | dict[str, Any]
Step = list[Argument]  # the operator's name and its arguments
POINT_TARGET = f"{POINT.replace('::', '.')}.default"
UNKNOWN = -1  # in a shape: the size that the number of cells leaves


def lower(program: ExportedProgram, weights: WeightTable) -> dict[str, Any]:
    """The steps of a program, whose weights are added to the table, and the argument that is its result.

    Raises ConfigError for an operator that the interpreter does not know.
    """
    lowering = Lowering(program, weights)
    for node in program.graph.nodes:
        if node.op == "output":
            return _without_unused(lowering.steps, lowering.argument(node.args[0][0]))
        lowering.add(node)
    raise AssertionError("an exported graph has an output")


def _without_unused(steps: list[Step], result: Argument) -> dict[str, Any]:
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


class Lowering:
    """The lowering of one program, node by node."""

    def __init__(self, program: ExportedProgram, weights: WeightTable) -> None:
        self.steps: list[Step] = []
        self.results: dict[Node, Argument] = {}
        self._stored = _stored_tensors(program)
        self._weights = weights
        self._length = _length_symbol(program)

    def add(self, node: Node) -> None:
        """Lower a node: what later nodes read of it is then in `results`."""
        if node.op == "placeholder":
            stored = self._stored.get(node.name)
            self.results[node] = {"input": node.name} if stored is None else {"weight": self._weights.number(*stored)}
        elif node.op == "call_function" and not isinstance(node.meta.get("val"), torch.SymInt | torch.SymBool):
            name = str(node.target)
            if node.target is operator.getitem:
                name = "getitem"
            if name in NOT_NEEDED:
                return
            rule = RULES.get(name.removeprefix("aten."))
            if rule is None:
                raise ConfigError(
                    f"This model computes with {name}, which the engine of a live page does not know. It cannot become one."
                )
            self.results[node] = self._rounded(node, rule(self, node, _arguments(node)))

    def step(self, name: str, *arguments: Argument) -> Argument:
        """Add a step; its result as an argument."""
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
        return self.size(given) if isinstance(given, torch.SymInt) else given

    def size(self, value: int | torch.SymInt) -> Argument:
        """A size: a number, or a multiple of the text's length plus a number; UNKNOWN if it depends on values."""
        if isinstance(value, int):
            return value
        expression, length = value.node.expr, self._length
        if expression.free_symbols != {length}:
            return UNKNOWN
        slope, start = int(expression.coeff(length, 1)), int(expression.subs(length, 0))
        if expression != slope * length + start:
            raise ConfigError(f"This model has a size of {expression}, which the engine of a live page does not know.")
        return {"length": [slope, start]}

    def shape(self, node: Node) -> list[Argument]:
        """The shape of a node's value."""
        return [self.size(each) for each in _value(node).shape]

    def _rounded(self, node: Node, result: Argument) -> Argument:
        """The result in the precision of bfloat16, if the node has it: the interpreter computes in float32."""
        value = node.meta["val"]
        if not isinstance(value, Tensor) or value.dtype != torch.bfloat16:
            return result
        return self.step("bfloat16", result)


def _stored_tensors(program: ExportedProgram) -> dict[str, tuple[str, Tensor]]:
    """The name and the tensor of each parameter, buffer and constant, by its placeholder."""
    named = program.state_dict | program.constants
    kept = (spec for spec in program.graph_signature.input_specs if spec.kind != InputKind.USER_INPUT)
    return {spec.arg.name: (spec.target or "", named[spec.target or ""]) for spec in kept}


def _length_symbol(program: ExportedProgram) -> Any:
    """The symbol of the number of tokens; None if the model reads one alone."""
    lengths = [node.meta["val"].shape[1] for node in program.graph.nodes if node.name == "ids"]
    return next((length.node.expr for length in lengths if isinstance(length, torch.SymInt)), None)


def _arguments(node: Node) -> dict[str, Any]:
    """The arguments of a node by the names of its operator's schema, with defaults."""
    if node.target is operator.getitem:
        return {"self": node.args[0], "index": node.args[1]}
    schema = node.target._schema.arguments  # type: ignore[union-attr]
    given = {argument.name: argument.default_value for argument in schema if argument.has_default_value()}
    return given | dict(zip((argument.name for argument in schema), node.args, strict=False)) | node.kwargs


def _value(node: Node) -> Tensor:
    value = node.meta["val"]
    assert isinstance(value, Tensor)
    return value


Given = dict[str, Any]
Rule = Callable[[Lowering, Node, Given], Argument]


def _same(name: str, *names: str, **fixed: Any) -> Rule:
    """The rule of an operator that the interpreter knows: the arguments of these names, where others are `fixed`."""

    def rule(lowering: Lowering, node: Node, given: Given) -> Argument:
        for argument, wanted in fixed.items():
            if given[argument] != wanted:
                raise ConfigError(f"This model computes {name} with {argument} = {given[argument]}; a live page cannot.")
        return lowering.step(name, *(lowering.argument(given[each]) for each in names or ("self",)))

    return rule


def _itself(lowering: Lowering, node: Node, given: Given) -> Argument:
    """The value as it is."""
    return lowering.argument(given.get("self", given.get("input")))


def _dropout(lowering: Lowering, node: Node, given: Given) -> Argument:
    assert not given["train"]
    return lowering.argument(given["input"])


def _reshaped(lowering: Lowering, node: Node, given: Given) -> Argument:
    return lowering.step("reshape", lowering.argument(given["self"]), lowering.shape(node))


def _expanded(lowering: Lowering, node: Node, given: Given) -> Argument:
    x = given["self"]
    if lowering.shape(x) == lowering.shape(node):
        return lowering.argument(x)
    return lowering.step("expand", lowering.argument(x), lowering.shape(node))


def _permuted(lowering: Lowering, node: Node, given: Given) -> Argument:
    order = list(range(_value(node).dim()))
    if "dims" in given:
        order = [each % len(order) for each in given["dims"]]
    else:
        one, other = given["dim0"], given["dim1"]
        order[one], order[other] = order[other], order[one]
    return lowering.step("permute", lowering.argument(given["self"]), order)


def _axis(given: Given, name: str = "dim", of: str = "self") -> int:
    """An axis of the value, counted from the first."""
    axis: int = given[name] % max(1, _value(given[of]).dim())
    return axis


def _axes(given: Given) -> list[Argument]:
    """The axes of a reduction, all of them if none is named."""
    rank = _value(given["self"]).dim()
    named = given.get("dim")
    named = [named] if isinstance(named, int) else named
    return [each % rank for each in named or range(rank)]


def _reduced(name: str) -> Rule:
    return lambda lowering, node, given: lowering.step(
        name, lowering.argument(given["self"]), _axes(given), bool(given.get("keepdim"))
    )


def _deviation(lowering: Lowering, node: Node, given: Given) -> Argument:
    if given.get("unbiased") or given.get("correction"):
        raise ConfigError("This model computes an unbiased standard deviation, which a live page cannot.")
    x, axes, keepdim = lowering.argument(given["self"]), _axes(given), bool(given["keepdim"])
    distance = lowering.step("sub", x, lowering.step("mean", x, axes, True))
    return lowering.step("sqrt", lowering.step("mean", lowering.step("mul", distance, distance), axes, keepdim))


def _along(name: str, *names: str, of: str = "self") -> Rule:
    """The rule of an operator along one axis, its second argument."""
    return lambda lowering, node, given: lowering.step(
        name, lowering.argument(given[of]), _axis(given, of=of), *(lowering.argument(given[each]) for each in names)
    )


def _along_last(name: str, *names: str) -> Rule:
    """The rule of an operator that the interpreter knows along the last axis alone."""

    def rule(lowering: Lowering, node: Node, given: Given) -> Argument:
        if _axis(given) != _value(given["self"]).dim() - 1:
            raise ConfigError(f"This model computes {name} along another axis than the last, which a live page cannot.")
        return lowering.step(name, *(lowering.argument(given[each]) for each in ("self", *names)))

    return rule


def _sliced(lowering: Lowering, node: Node, given: Given) -> Argument:
    x, axis = given["self"], _axis(given)
    if lowering.shape(x) == lowering.shape(node) and UNKNOWN not in lowering.shape(node) and given["step"] == 1:
        return lowering.argument(x)
    limits = [lowering.argument(given[each]) for each in ("start", "end", "step")]
    return lowering.step("slice", lowering.argument(x), axis, limits[0] or 0, limits[1], limits[2])


def _part(lowering: Lowering, node: Node, given: Given) -> Argument:
    """One of the parts that another operator makes."""
    made, index = given["self"], given["index"]
    name, inner = str(made.target).removeprefix("aten."), _arguments(made)
    x = lowering.argument(inner["self"])
    if name == "topk.default":
        if not inner["largest"] or _axis(inner) != _value(inner["self"]).dim() - 1:
            raise ConfigError("This model chooses the smallest values, which a live page cannot.")
        return lowering.step("topk_indices" if index else "topk_values", x, inner["k"])
    axis = _axis(inner)
    if name == "unbind.int":
        return lowering.step("select", x, axis, index)
    sizes = [_value_of_part(part).shape[axis] for part in made.meta["val"]]
    start = sum(sizes[:index])
    return lowering.step("slice", x, axis, start, start + sizes[index], 1)


def _value_of_part(part: Any) -> Tensor:
    assert isinstance(part, Tensor)
    return part


def _later(lowering: Lowering, node: Node, given: Given) -> Argument:
    """A value in several parts: each part is lowered by itself."""
    return None


def _joined(lowering: Lowering, node: Node, given: Given) -> Argument:
    return lowering.step("cat", lowering.argument(given["tensors"]), given["dim"] % _value(node).dim())


def _stacked(lowering: Lowering, node: Node, given: Given) -> Argument:
    axis, shape = given["dim"] % _value(node).dim(), lowering.shape(node)
    single = [*shape[:axis], 1, *shape[axis + 1 :]]
    parts: list[Any] = [lowering.step("reshape", lowering.argument(each), single) for each in given["tensors"]]
    return lowering.step("cat", parts, axis)


def _filled(value: float | None = None) -> Rule:
    """The rule of an operator that makes a tensor of one number."""
    return lambda lowering, node, given: lowering.step(
        "full", lowering.shape(node), lowering.argument(given["fill_value"] if value is None else value)
    )


def _range(lowering: Lowering, node: Node, given: Given) -> Argument:
    start, end, step = (lowering.argument(given.get(name, otherwise)) for name, otherwise in _RANGE)
    return lowering.step("arange", start, end, step)


_RANGE = (("start", 0), ("end", None), ("step", 1))


def _masked_fill(lowering: Lowering, node: Node, given: Given) -> Argument:
    mask, value, x = (lowering.argument(given[name]) for name in ("mask", "value", "self"))
    return lowering.step("where", mask, value, x)


def _converted(lowering: Lowering, node: Node, given: Given) -> Argument:
    """A value in another type: the interpreter has float32 alone, and truth values of 0 and 1."""
    x, before, after = lowering.argument(given["self"]), _value(given["self"]).dtype, _value(node).dtype
    if after == torch.float16:
        raise ConfigError("This model computes in half precision, which a live page cannot.")
    if after == torch.bool != before:
        return lowering.step("ne", x, 0)
    return lowering.step("trunc", x) if before.is_floating_point and not after.is_floating_point else x


def _indexed(lowering: Lowering, node: Node, given: Given) -> Argument:
    indices = given["indices"]
    x, kinds = lowering.argument(given["self"]), {_value(index).dtype for index in indices if index is not None}
    if kinds == {torch.bool} and len(indices) == 1:
        return lowering.step("masked_rows", x, lowering.argument(indices[0]))
    if torch.bool in kinds or None in indices:
        raise ConfigError("This model picks values by a mask along a later axis, which a live page cannot.")
    return lowering.step("index", x, lowering.argument(indices))


def _put(lowering: Lowering, node: Node, given: Given) -> Argument:
    indices = given["indices"]
    if len(indices) != 1 or _value(indices[0]).dtype != torch.bool or given["accumulate"]:
        raise ConfigError("This model writes values at indices, which a live page cannot.")
    arguments = (lowering.argument(each) for each in (given["self"], indices[0], given["values"]))
    return lowering.step("with_masked_rows", *arguments)


def _in_place(rule: Rule) -> Rule:
    """The rule of an operator that changes its first argument: later nodes read the changed value."""

    def changed(lowering: Lowering, node: Node, given: Given) -> Argument:
        lowering.results[given["self"]] = result = rule(lowering, node, given)
        return result

    return changed


def _padded(lowering: Lowering, node: Node, given: Given) -> Argument:
    """Numbers before the last axis, as another part of it."""
    if len(given["pad"]) != 2 or given["pad"][1] or given["mode"] != "constant":
        raise ConfigError("This model pads values otherwise than before their last axis, which a live page cannot.")
    shape = lowering.shape(given["self"])
    before = lowering.step("full", [*shape[:-1], given["pad"][0]], given["value"] or 0)
    return lowering.step("cat", [before, lowering.argument(given["self"])], len(shape) - 1)


def _convolved(lowering: Lowering, node: Node, given: Given) -> Argument:
    """A convolution of each channel with its own few weights: a sum of shifted copies."""
    weight = _value(given["weight"])
    plain = (given["stride"], given["padding"], given["dilation"], given["bias"]) == ([1], [0], [1], None)
    if not plain or weight.shape[1] != 1 or given["groups"] != weight.shape[0]:
        raise ConfigError("This model has a convolution over several channels, which a live page cannot compute.")
    x, channels, count = lowering.argument(given["input"]), weight.shape[0], _value(node).shape[2]
    total: Argument = None
    for shift in range(weight.shape[2]):
        factor = lowering.step("select", lowering.argument(given["weight"]), 2, shift)
        window = lowering.step("slice", x, 2, shift, lowering.size(count + shift), 1)
        term = lowering.step("mul", window, lowering.step("reshape", factor, [1, channels, 1]))
        total = term if total is None else lowering.step("add", total, term)
    return total


def _gelu(lowering: Lowering, node: Node, given: Given) -> Argument:
    name = "gelu" if given["approximate"] == "none" else "gelu_tanh"
    return lowering.step(name, lowering.argument(given["self"]))


def _power(lowering: Lowering, node: Node, given: Given) -> Argument:
    return lowering.step("pow", lowering.argument(given["self"]), lowering.argument(given["exponent"]))


def _rms_norm(lowering: Lowering, node: Node, given: Given) -> Argument:
    epsilon = torch.finfo(torch.float32).eps if given["eps"] is None else given["eps"]
    return lowering.step("rms_norm", lowering.argument(given["input"]), lowering.argument(given["weight"]), epsilon)


_UNARY = ("abs", "ceil", "cos", "exp", "floor", "log", "log1p", "neg", "reciprocal", "relu", "rsqrt", "sigmoid", "sign")
_UNARY += ("silu", "sin", "sqrt", "square", "tanh")
_BINARY = ("add", "sub", "mul", "div", "pow", "remainder", "ge", "gt", "le", "lt", "eq", "ne")
_VARIANTS = ("Tensor", "Scalar", "Tensor_Scalar", "Tensor_Tensor")
_BINARY_NAMES = {f"{name}.{kind}": _same(name, "self", "other") for name in _BINARY for kind in _VARIANTS}
_SUMS = {f"{name}.{kind}": _same(name, "self", "other", alpha=1) for name in ("add", "sub") for kind in _VARIANTS[:2]}

# What the interpreter does with the value of an operator of torch.
RULES: dict[str, Rule] = {
    POINT_TARGET: _same("point", "path", "value"),
    **{f"{name}.default": _same(name) for name in _UNARY},
    **_BINARY_NAMES,
    **_SUMS,
    "add_.Tensor": _in_place(_SUMS["add.Tensor"]),
    **{f"pow.{kind}": _power for kind in ("Scalar", "Tensor_Scalar", "Tensor_Tensor")},
    "rsub.Scalar": _same("sub", "other", "self", alpha=1),
    "div.Tensor_mode": _same("floor_divide", "self", "other", rounding_mode="floor"),
    **dict.fromkeys(("__and__.Tensor", "bitwise_and.Tensor", "logical_and.default"), _same("mul", "self", "other")),
    **dict.fromkeys(("bitwise_not.default", "logical_not.default"), lambda low, node, given: low.step(
        "sub", 1, low.argument(given["self"])
    )),
    **dict.fromkeys(("__or__.Tensor", "bitwise_or.Tensor", "logical_or.default"), lambda low, node, given: low.step(
        "clamp", low.argument(given["self"]), low.argument(given["other"]), None
    )),
    "gelu.default": _gelu,
    "softplus.default": _same("softplus", beta=1, threshold=20),
    **dict.fromkeys(("clamp.default", "clamp.Tensor"), _same("clamp", "self", "min", "max")),
    "where.self": _same("where", "condition", "self", "other"),
    **{f"where.{kind}": _same("where", "condition", "self", "other") for kind in ("ScalarOther", "ScalarSelf", "Scalar")},
    **dict.fromkeys(("masked_fill.Scalar", "masked_fill.Tensor"), _masked_fill),
    # shapes
    **{f"{name}.default": _reshaped for name in ("view", "reshape", "unsqueeze")},
    **dict.fromkeys(("flatten.using_ints", "squeeze.dim", "unflatten.int"), _reshaped),
    "expand.default": _expanded,
    **dict.fromkeys(("permute.default", "transpose.int"), _permuted),
    "slice.Tensor": _sliced,
    "select.int": _along("select", "index"),
    "cat.default": _joined,
    "stack.default": _stacked,
    "getitem": _part,
    **dict.fromkeys(("split_with_sizes.default", "chunk.default", "unbind.int", "topk.default"), _later),
    "roll.default": _same("roll", "self", "shifts", "dims"),
    "flip.default": _same("flip", "self", "dims"),
    "pad.default": _padded,
    # new values
    **dict.fromkeys(("zeros.default", "zeros_like.default", "new_zeros.default"), _filled(0.0)),
    **dict.fromkeys(("ones.default", "ones_like.default", "new_ones.default"), _filled(1.0)),
    **dict.fromkeys(("full.default", "full_like.default"), _filled()),
    **{f"arange.{kind}": _range for kind in ("default", "start", "start_step")},
    # along axes
    **dict.fromkeys(("sum.dim_IntList", "sum.default"), _reduced("sum")),
    **dict.fromkeys(("mean.dim", "mean.default"), _reduced("mean")),
    **dict.fromkeys(("any.dim", "any.default", "amax.default", "max.default"), _reduced("max")),
    **dict.fromkeys(("all.dim", "all.default", "amin.default", "min.default"), _reduced("min")),
    **dict.fromkeys(("std.dim", "std.correction"), _deviation),
    "argmax.default": _along_last("argmax"),
    "softmax.int": _along_last("softmax"),
    "cumsum.default": _along_last("cumsum"),
    "tril.default": _same("tril", "self", "diagonal"),
    "layer_norm.default": _same("layer_norm", "input", "weight", "bias", "eps"),
    "rms_norm.default": _rms_norm,
    # products
    "linear.default": _same("linear", "input", "weight", "bias"),
    "matmul.default": _same("matmul", "self", "other"),
    "conv1d.default": _convolved,
    "linalg_solve_triangular.default": _same(
        "solve_unit_lower", "self", "B", upper=False, left=True, unitriangular=True
    ),
    # indices
    "embedding.default": _same("embedding", "weight", "indices"),
    "index.Tensor": _indexed,
    "index_put_.default": _in_place(_put),
    "gather.default": _along_last("gather", "index"),
    **{f"scatter.{kind}": _along_last("scatter", "index", kind) for kind in ("src", "value")},
    # other types, and the value as it is
    **{f"to.{kind}": _converted for kind in ("dtype", "dtype_layout", "device", "other")},
    **dict.fromkeys(("type_as.default", "_to_copy.default"), _converted),
    **{f"{name}.default": _itself for name in ("alias", "clone", "contiguous", "detach", "lift_fresh_copy")},
    "detach_.default": _itself,
    "dropout.default": _dropout,
}  # fmt: skip
NOT_NEEDED = ("aten._assert_tensor_metadata.default", "aten._assert_scalar.default", "aten._assert_async.msg")
# The operators of the interpreter; `operators/table.ts` has the same.
OPERATORS = frozenset(
    (*_UNARY, *_BINARY, "point", "floor_divide", "gelu", "gelu_tanh", "softplus", "clamp", "where", "trunc", "bfloat16")
    + ("reshape", "expand", "permute", "slice", "select", "cat", "roll", "flip", "full", "arange")
    + ("sum", "mean", "max", "min", "argmax", "softmax", "cumsum", "tril", "layer_norm", "rms_norm")
    + ("linear", "matmul", "solve_unit_lower", "embedding", "index", "masked_rows", "with_masked_rows")
    + ("gather", "scatter", "topk_indices", "topk_values")
)
