"""The rules of the operators of torch: the steps that compute what a node of an exported graph does."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

from headlight.errors import ConfigError
from headlight.live.program import POINT
from headlight.live.steps import BINARY, UNARY, UNKNOWN, Argument, Steps, tensor_of

POINT_TARGET = f"{POINT.replace('::', '.')}.default"


def arguments_of(node: Node) -> dict[str, Any]:
    """The arguments of a node by the names of its operator's schema, with defaults."""
    if node.target is operator.getitem:
        return {"self": node.args[0], "index": node.args[1]}
    schema = node.target._schema.arguments  # type: ignore[union-attr]
    given = {argument.name: argument.default_value for argument in schema if argument.has_default_value()}
    return given | dict(zip((argument.name for argument in schema), node.args, strict=False)) | node.kwargs


Given = dict[str, Any]
Rule = Callable[[Steps, Node, Given], Argument]


def _same(name: str, *names: str, **fixed: Any) -> Rule:
    """The rule of an operator that the interpreter knows: the arguments of these names, where others are `fixed`."""

    def rule(steps: Steps, node: Node, given: Given) -> Argument:
        for argument, wanted in fixed.items():
            if given[argument] != wanted:
                raise ConfigError(
                    f"This model computes {name} with {argument} = {given[argument]}; a live page cannot."
                )
        return steps.step(name, *(steps.argument(given[each]) for each in names or ("self",)))

    return rule


def _itself(steps: Steps, node: Node, given: Given) -> Argument:
    """The value as it is."""
    return steps.argument(given.get("self", given.get("input")))


def _reshaped(steps: Steps, node: Node, given: Given) -> Argument:
    return steps.step("reshape", steps.argument(given["self"]), steps.shape(node))


def _expanded(steps: Steps, node: Node, given: Given) -> Argument:
    x = given["self"]
    if steps.shape(x) == steps.shape(node):
        return steps.argument(x)
    return steps.step("expand", steps.argument(x), steps.shape(node))


def _permuted(steps: Steps, node: Node, given: Given) -> Argument:
    order = list(range(tensor_of(node).dim()))
    if "dims" in given:
        order = [each % len(order) for each in given["dims"]]
    else:
        one, other = given["dim0"], given["dim1"]
        order[one], order[other] = order[other], order[one]
    return steps.step("permute", steps.argument(given["self"]), order)


def _axis(given: Given) -> int:
    """An axis of the value, counted from the first."""
    if given["dim"] is None:
        raise ConfigError("This model treats a matrix as one row of numbers, which a live page cannot.")
    axis: int = given["dim"] % max(1, tensor_of(given["self"]).dim())
    return axis


def _axes(given: Given) -> list[Argument]:
    """The axes of a reduction, all of them if none is named."""
    rank = tensor_of(given["self"]).dim()
    named = given.get("dim")
    named = [named] if isinstance(named, int) else named
    return [each % rank for each in named or range(rank)]


def _reduced(name: str) -> Rule:
    return lambda steps, node, given: steps.step(
        name, steps.argument(given["self"]), _axes(given), bool(given.get("keepdim"))
    )


def _deviation(steps: Steps, node: Node, given: Given) -> Argument:
    if given.get("unbiased") or given.get("correction"):
        raise ConfigError("This model computes an unbiased standard deviation, which a live page cannot.")
    x, axes, keepdim = steps.argument(given["self"]), _axes(given), bool(given["keepdim"])
    distance = steps.step("sub", x, steps.step("mean", x, axes, True))
    return steps.step("sqrt", steps.step("mean", steps.step("mul", distance, distance), axes, keepdim))


def _along_last(name: str, *names: str) -> Rule:
    """The rule of an operator that the interpreter knows along the last axis alone."""

    def rule(steps: Steps, node: Node, given: Given) -> Argument:
        if _axis(given) != tensor_of(given["self"]).dim() - 1:
            raise ConfigError(f"This model computes {name} along another axis than the last, which a live page cannot.")
        return steps.step(name, *(steps.argument(given[each]) for each in ("self", *names)))

    return rule


def _sliced(steps: Steps, node: Node, given: Given) -> Argument:
    x, axis = given["self"], _axis(given)
    if steps.shape(x) == steps.shape(node) and UNKNOWN not in steps.shape(node) and given["step"] == 1:
        return steps.argument(x)
    limits = [steps.argument(given[each]) for each in ("start", "end", "step")]
    return steps.step("slice", steps.argument(x), axis, limits[0] or 0, limits[1], limits[2])


def _selected(steps: Steps, node: Node, given: Given) -> Argument:
    return steps.step("select", steps.argument(given["self"]), _axis(given), steps.argument(given["index"]))


def _part(steps: Steps, node: Node, given: Given) -> Argument:
    """One of the parts that another operator makes."""
    made, index = given["self"], given["index"]
    name, inner = str(made.target).removeprefix("aten."), arguments_of(made)
    x = steps.argument(inner["self"])
    if name == "topk.default":
        if not inner["largest"] or _axis(inner) != tensor_of(inner["self"]).dim() - 1:
            raise ConfigError("This model chooses the smallest values, which a live page cannot.")
        return steps.step("topk_indices" if index else "topk_values", x, inner["k"])
    axis = _axis(inner)
    if name == "unbind.int":
        return steps.step("select", x, axis, index)
    sizes = [part.shape[axis] for part in made.meta["val"]]
    start = sum(sizes[:index])
    return steps.step("slice", x, axis, start, start + sizes[index], 1)


def _later(steps: Steps, node: Node, given: Given) -> Argument:
    """A value in several parts: each part is lowered by itself."""
    return None


def _joined(steps: Steps, node: Node, given: Given) -> Argument:
    return steps.step("cat", steps.argument(given["tensors"]), given["dim"] % tensor_of(node).dim())


def _stacked(steps: Steps, node: Node, given: Given) -> Argument:
    axis, shape = given["dim"] % tensor_of(node).dim(), steps.shape(node)
    single = [*shape[:axis], 1, *shape[axis + 1 :]]
    parts: list[Any] = [steps.step("reshape", steps.argument(each), single) for each in given["tensors"]]
    return steps.step("cat", parts, axis)


def _filled(value: float | None = None) -> Rule:
    """The rule of an operator that makes a tensor of one number."""

    def rule(steps: Steps, node: Node, given: Given) -> Argument:
        shape = [steps.size(size) for size in tensor_of(node).shape]
        return steps.step("full", shape, steps.argument(given["fill_value"] if value is None else value))

    return rule


def _range(steps: Steps, node: Node, given: Given) -> Argument:
    start, end, step = (steps.argument(given.get(name, otherwise)) for name, otherwise in _RANGE)
    return steps.step("arange", start, end, step)


_RANGE = (("start", 0), ("end", None), ("step", 1))


def _masked_fill(steps: Steps, node: Node, given: Given) -> Argument:
    mask, value, x = (steps.argument(given[name]) for name in ("mask", "value", "self"))
    return steps.step("where", mask, value, x)


def _converted(steps: Steps, node: Node, given: Given) -> Argument:
    """A value in another type: the interpreter has float32 alone, and truth values of 0 and 1."""
    x, before, after = steps.argument(given["self"]), tensor_of(given["self"]).dtype, tensor_of(node).dtype
    if after == torch.float16:
        raise ConfigError("This model computes in half precision, which a live page cannot.")
    if after == torch.bool != before:
        return steps.step("ne", x, 0)
    return steps.step("trunc", x) if before.is_floating_point and not after.is_floating_point else x


def _indexed(steps: Steps, node: Node, given: Given) -> Argument:
    indices = given["indices"]
    x, kinds = steps.argument(given["self"]), {tensor_of(index).dtype for index in indices if index is not None}
    if kinds == {torch.bool} and len(indices) == 1:
        return steps.step("masked_rows", x, steps.argument(indices[0]))
    if torch.bool in kinds or None in indices:
        raise ConfigError("This model picks values by a mask along a later axis, which a live page cannot.")
    return steps.step("index", x, steps.argument(indices))


def _put(steps: Steps, node: Node, given: Given) -> Argument:
    indices = given["indices"]
    if len(indices) != 1 or tensor_of(indices[0]).dtype != torch.bool or given["accumulate"]:
        raise ConfigError("This model writes values at indices, which a live page cannot.")
    arguments = (steps.argument(each) for each in (given["self"], indices[0], given["values"]))
    return steps.step("with_masked_rows", *arguments)


def _in_place(rule: Rule) -> Rule:
    """The rule of an operator that changes its first argument: later nodes read the changed value."""

    def changed(steps: Steps, node: Node, given: Given) -> Argument:
        steps.results[given["self"]] = result = rule(steps, node, given)
        return result

    return changed


def _padded(steps: Steps, node: Node, given: Given) -> Argument:
    """Numbers before the last axis, as another part of it."""
    if len(given["pad"]) != 2 or given["pad"][1] or given["mode"] != "constant":
        raise ConfigError("This model pads values otherwise than before their last axis, which a live page cannot.")
    shape = steps.shape(given["self"])
    before = steps.step("full", [*shape[:-1], given["pad"][0]], given["value"] or 0)
    return steps.step("cat", [before, steps.argument(given["self"])], len(shape) - 1)


def _convolved(steps: Steps, node: Node, given: Given) -> Argument:
    """A convolution of each channel with its own few weights: a sum of shifted copies."""
    weight = tensor_of(given["weight"])
    plain = (given["stride"], given["padding"], given["dilation"], given["bias"]) == ([1], [0], [1], None)
    if not plain or weight.shape[1] != 1 or given["groups"] != weight.shape[0]:
        raise ConfigError("This model has a convolution over several channels, which a live page cannot compute.")
    x, channels, count = steps.argument(given["input"]), weight.shape[0], tensor_of(node).shape[2]
    total: Argument = None
    for shift in range(weight.shape[2]):
        factor = steps.step("select", steps.argument(given["weight"]), 2, shift)
        window = steps.step("slice", x, 2, shift, steps.size(count + shift), 1)
        term = steps.step("mul", window, steps.step("reshape", factor, [1, channels, 1]))
        total = term if total is None else steps.step("add", total, term)
    return total


def _gelu(steps: Steps, node: Node, given: Given) -> Argument:
    name = "gelu" if given["approximate"] == "none" else "gelu_tanh"
    return steps.step(name, steps.argument(given["self"]))


def _elu(steps: Steps, node: Node, given: Given) -> Argument:
    """x, or e^x - 1 below 0."""
    x = steps.argument(given["self"])
    below = steps.step("sub", steps.step("exp", steps.step("clamp", x, None, 0)), 1)
    return steps.step("where", steps.step("gt", x, 0), x, below)


def _close(steps: Steps, node: Node, given: Given) -> Argument:
    """Whether two values differ by no more than a number and a share of the second."""
    one, other = steps.argument(given["self"]), steps.argument(given["other"])
    most = steps.step("add", steps.step("mul", steps.step("abs", other), given["rtol"]), given["atol"])
    return steps.step("le", steps.step("abs", steps.step("sub", one, other)), most)


def _power(steps: Steps, node: Node, given: Given) -> Argument:
    return steps.step("pow", steps.argument(given["self"]), steps.argument(given["exponent"]))


def _normed(name: str, *names: str) -> Rule:
    """The rule of a norm over the last axis."""

    def rule(steps: Steps, node: Node, given: Given) -> Argument:
        if len(given["normalized_shape"]) != 1:
            raise ConfigError("This model has a norm over several axes, which a live page cannot compute.")
        epsilon = torch.finfo(torch.float32).eps if given["eps"] is None else given["eps"]
        return steps.step(name, *(steps.argument(given[each]) for each in ("input", "weight", *names)), epsilon)

    return rule


def _multiplied(steps: Steps, node: Node, given: Given) -> Argument:
    factors = given["self"], given["other"]
    if any(tensor_of(each).dim() < 2 for each in factors):
        raise ConfigError("This model multiplies a matrix by a vector, which a live page cannot.")
    return steps.step("matmul", *map(steps.argument, factors))


_CHOICES = ("self", "ScalarOther", "ScalarSelf", "Scalar")
_KINDS = ("Tensor", "Scalar")
_SUMS = {f"{name}.{kind}": _same(name, "self", "other", alpha=1) for name in ("add", "sub") for kind in _KINDS}

# What the interpreter does with the value of an operator of torch.
RULES: dict[str, Rule] = {
    POINT_TARGET: _same("point", "path", "value"),
    **{f"{name}.default": _same(name) for name in UNARY},
    **{f"{name}.{kind}": _same(name, "self", "other") for name in BINARY for kind in _KINDS},
    **_SUMS,
    "add_.Tensor": _in_place(_SUMS["add.Tensor"]),
    **{f"pow.{kind}": _power for kind in ("Scalar", "Tensor_Scalar", "Tensor_Tensor")},
    "rsub.Scalar": _same("sub", "other", "self", alpha=1),
    "div.Tensor_mode": _same("floor_divide", "self", "other", rounding_mode="floor"),
    **dict.fromkeys(("__and__.Tensor", "bitwise_and.Tensor", "logical_and.default"), _same("mul", "self", "other")),
    **dict.fromkeys(("bitwise_not.default", "logical_not.default"), lambda steps, node, given: steps.step(
        "sub", 1, steps.argument(given["self"])
    )),
    **dict.fromkeys(("__or__.Tensor", "bitwise_or.Tensor", "logical_or.default"), lambda steps, node, given: steps.step(
        "clamp", steps.argument(given["self"]), steps.argument(given["other"]), None
    )),
    "gelu.default": _gelu,
    "elu.default": _elu,
    "isclose.default": _close,
    "softplus.default": _same("softplus", beta=1, threshold=20),
    **dict.fromkeys(("clamp.default", "clamp.Tensor"), _same("clamp", "self", "min", "max")),
    **{f"where.{kind}": _same("where", "condition", "self", "other") for kind in _CHOICES},
    **dict.fromkeys(("masked_fill.Scalar", "masked_fill.Tensor"), _masked_fill),
    # shapes
    **{f"{name}.default": _reshaped for name in ("view", "reshape", "unsqueeze")},
    **dict.fromkeys(("flatten.using_ints", "squeeze.dim", "unflatten.int"), _reshaped),
    "expand.default": _expanded,
    **dict.fromkeys(("permute.default", "transpose.int"), _permuted),
    "slice.Tensor": _sliced,
    "select.int": _selected,
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
    "layer_norm.default": _normed("layer_norm", "bias"),
    "rms_norm.default": _normed("rms_norm"),
    # products
    "linear.default": _same("linear", "input", "weight", "bias"),
    "matmul.default": _multiplied,
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
    "dropout.default": _itself,
}  # fmt: skip
