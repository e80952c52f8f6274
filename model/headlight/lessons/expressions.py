"""Expressions of a lesson: a small part of Python's syntax, parsed to a tree and computed here, never run by Python."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from headlight.errors import InputError, shortened
from headlight.lessons.quantities import QUANTITIES, Quantity, whole
from headlight.lessons.scope import Scope, Value
from headlight.lessons.tables import Table
from headlight.views.words import digits, percent

MAX_LENGTH = 400  # characters of an expression
MAX_DEPTH = 24
KINDS: dict[str, tuple[type, ...]] = {"number": (float, int), "text": (str,), "table": (Table,)}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.Gt: operator.gt, ast.LtE: operator.le, ast.GtE: operator.ge,
}  # fmt: skip
_ALLOWED = (
    "An expression consists of quantities such as weights(0, 1), numbers, “texts”, [places], + - * / % and < > <= >=."
)
_FIELD = re.compile(r"\{([^{}]*)\}")
_FORMAT = re.compile(r":(\.\d[fg%])\s*$")


@lru_cache(maxsize=2_048)
def parse(text: str) -> ast.expr:
    """The tree of an expression. Raises InputError if the text is not an expression."""
    if len(text) > MAX_LENGTH:
        raise InputError(f"The expression has {len(text)} characters; at most {MAX_LENGTH} are read.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"“{shortened(text, 60)}” cannot be read as an expression. {_ALLOWED}") from None
    _require_known(tree, 0)
    return tree


def _require_known(node: ast.AST, depth: int) -> None:
    """Raise InputError for all but the few allowed kinds of nodes."""
    if depth > MAX_DEPTH:
        raise InputError(f"The expression is nested more than {MAX_DEPTH} deep.")
    parts = _parts(node)
    if parts is None:
        raise InputError(f"“{shortened(ast.unparse(node), 60)}” is not allowed here. {_ALLOWED}")
    for part in parts:
        _require_known(part, depth + 1)


def _parts(node: ast.AST) -> list[ast.expr] | None:
    """The parts of a node; None for a kind that is not allowed."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            _require_arguments(name, len(arguments))
            return arguments
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return [left, right]
        case ast.Compare(left=left, ops=[comparison], comparators=[right]) if type(comparison) in _COMPARISONS:
            return [left, right]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [operand]
        case ast.Subscript(value=value, slice=place):
            return [value, *(place.elts if isinstance(place, ast.Tuple) else [place])]
        case ast.Constant(value=constant) if type(constant) in (int, float, str):
            return []
        case ast.Name():
            return []
    return None


def _require_arguments(name: str, given: int) -> None:
    wanted = QUANTITIES[name].arguments  # raises UnknownNameError
    if given != len(wanted):
        takes = ", ".join(wanted) or "nothing"
        raise InputError(f"{name}() takes {takes}: {len(wanted)}, not {given}.")


def evaluate(text: str, scope: Scope) -> Value:
    """The value of an expression. Raises HeadlightError with a sentence if it cannot be computed."""
    try:
        return _compute(parse(text), scope)
    except (ZeroDivisionError, OverflowError):
        raise InputError(f"“{shortened(text, 60)}” divides by zero or grows too large.") from None


def _compute(node: ast.expr, scope: Scope) -> Value:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Constant(value=(int() | float()) as number):
            return float(number)
        case ast.Name(id=name):
            return _named(name, scope)
        case ast.UnaryOp(operand=operand):
            return _finish(operator.neg, _arithmetic(operand, scope))
        case ast.BinOp(left=left, op=sign, right=right):
            return _finish(_OPERATORS[type(sign)], _arithmetic(left, scope), _arithmetic(right, scope))
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            return _COMPARISONS[type(comparison)](number_of(left, scope), number_of(right, scope))
        case ast.Subscript(value=table, slice=place):
            places = place.elts if isinstance(place, ast.Tuple) else [place]
            return _table(table, scope).at([_place(each, scope) for each in places])
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, QUANTITIES[name], arguments, scope)
    raise InputError(_ALLOWED)


def _named(name: str, scope: Scope) -> Value:
    names: dict[str, Value] = {"text": scope.text, "seed": float(scope.seed), **scope.names}
    if name not in names:
        hint = f" Did you mean {name}()?" if name in QUANTITIES else ""
        raise InputError(f"Nothing is called {shortened(name, 30)!r} here.{hint} Known: {', '.join(names)}.")
    return names[name]


def _call(name: str, quantity: Quantity, arguments: list[ast.expr], scope: Scope) -> Value:
    given: list[Any] = []
    for what, kind, node in zip(quantity.arguments, quantity.kinds, arguments, strict=True):
        if kind == "expression":
            given.append(lambda inner, node=node: _compute(node, inner))
            continue
        value = _compute(node, scope)
        if not isinstance(value, KINDS[kind]) or isinstance(value, bool):
            raise InputError(f"The {what} of {name}() must be a {kind}; “{shortened(ast.unparse(node), 40)}” is not.")
        given.append(value)
    return quantity.compute(scope, *given)


def number_of(node: ast.expr, scope: Scope) -> float:
    """A number. Raises InputError for any other value."""
    return _as_number(_compute(node, scope), node)


def _as_number(value: Value, node: ast.expr) -> float:
    """The value of a node. Raises InputError unless it is a number."""
    if isinstance(value, bool) or not isinstance(value, float | int):
        raise InputError(
            f"“{shortened(ast.unparse(node), 60)}” is not a single number. Take one place of it, with [ ]."
        )
    return float(value)


def _arithmetic(node: ast.expr, scope: Scope) -> float | Table:
    value = _compute(node, scope)
    return value if isinstance(value, Table) else _as_number(value, node)


def _finish(function: Callable[..., Any], *operands: float | Table) -> Value:
    """Apply a function to numbers, or to tables place by place."""
    tables = [each for each in operands if isinstance(each, Table)]
    if not tables:
        return float(function(*operands))
    if len({each.values.shape for each in tables}) > 1:
        raise InputError("These two tables have different sizes, so they cannot be computed place by place.")
    with np.errstate(all="ignore"):
        values = function(*(each.values if isinstance(each, Table) else each for each in operands))
    return Table(values, tables[0].axes, tables[0].labels)


def _table(node: ast.expr, scope: Scope) -> Table:
    value = _compute(node, scope)
    if not isinstance(value, Table):
        raise InputError(f"“{shortened(ast.unparse(node), 60)}” is not a table, so it has no places.")
    return value


def _place(node: ast.expr, scope: Scope) -> int | str:
    value = _compute(node, scope)
    return value if isinstance(value, str) else whole(_as_number(value, node), "place")


def fill(template: str, scope: Scope, *, plain: bool = False) -> str:
    """A text with the values of its {expressions}; `:.2f`, `:.0%` or `:.3g` after one is the format of a number.

    `plain` numbers are as a control or an address takes them (-1234.5); the others are as people read them (−1,234.5).
    """

    def written(found: re.Match[str]) -> str:
        form = _FORMAT.search(found[1])
        value = evaluate(_FORMAT.sub("", found[1]), scope)
        return value if isinstance(value, str) else _written(value, form[1] if form else ".4g", plain)

    return _FIELD.sub(written, template)


def _written(value: float | bool | Table, form: str, plain: bool) -> str:
    if isinstance(value, Table):
        raise InputError("A sentence can show a number or a name, not a table. Take one place of it, with [ ].")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if plain:
        return format(value, form)
    places, kind = int(form[1]), form[2]
    if kind == "%":
        return percent(value, places)
    return digits(value, places) if kind == "g" else format(value, f",{form}").replace("-", "−")
