"""Attention step by step, as a component asks for it: numbers, formulas, shapes, and the lines of code that ran."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent
from types import ModuleType
from typing import Any

import numpy as np

import model.nn.attention
from app.packing import pack
from app.services.traces import trace, wired
from app.state.request import question_of, whole
from model.analysis.attention_walkthrough import Step, Value, favourite, keep, steps
from model.nn.attention import Attention, merge, split
from model.nn.block import Residual
from model.nn.masks import MASKS
from model.nn.norms import soft_cap
from model.nn.positional_encodings import Position
from model.nn.sites import PAIRED, site_of
from model.nn.transformer import Transformer, attention_at
from model.tracing.trace import Trace

# Each step in plain words.
MEANINGS = {
    "read": "The stream of the token that looks, as attention reads it, and that of the token looked at.",
    "project": "Three linear maps: what i asks for, what j can be found by, and what j hands over.",
    "rotate": "Each pair of channels turns by an angle that grows with its position: the product sees the distance.",
    "feature": "Made positive, so that scores can be shares without a softmax.",
    "multiply": "Where query and key have the same sign, the channel speaks for a match; else against it.",
    "sum": "How well query and key match, in one number.",
    "scale": "More channels make larger sums; the scale takes that back before the kernel sees it.",
    "bias": "What the position scheme gives to this pair of places, whatever the tokens say.",
    "cap": "Very large scores are held back.",
    "mask": "What may not be seen loses its score.",
    "weigh": "The scores of all keys become shares of one: how much each is looked at.",
    "mix": "Each value is taken as far as its weight says, and all are summed.",
    "write": "The output projection makes of what was gathered a change of the stream; the heads' changes add up.",
}


def steps_work(body: dict[str, Any]) -> bytes:
    """The steps of one head between two tokens, by their numbers; a `key` of -1 is the one with the largest weight."""
    question = question_of(body)
    attention, head = str(body.get("attention", "")), whole(body.get("head", 0))
    model = wired(question)
    attention_at(model, attention)  # a path that nobody has keeps nothing, and would be told badly
    traced = trace(question, keep(attention))
    query = _place(whole(body.get("query", -1)), traced[f"{attention}.q"].shape[1])
    key = whole(body.get("key", -1))
    if key < 0:
        key = favourite(model, traced, attention, head, query)
    found = steps(model, traced, attention, head, query, key)
    numbers = [value.numbers.astype("<f4").ravel() for step in found for value in step.values]
    meta = {
        "query": query,
        "key": key,
        "steps": [_told(step, traced, attention) for step in found],
    }
    return pack(meta, np.concatenate(numbers).tobytes())


def _place(query: int, length: int) -> int:
    return query if 0 <= query < length else length - 1


def _told(step: Step, traced: Trace, attention: str) -> dict[str, Any]:
    def value(each: Value) -> dict[str, Any]:
        return {"sign": each.sign, "axis": each.axis, "count": each.numbers.size}

    queries, keys = traced[f"{attention}.q"], traced[f"{attention}.k"]
    pairs = [queries.shape[0], queries.shape[1], keys.shape[1]]

    def sizes(site: str) -> list[int]:
        return pairs if site in PAIRED else list(traced[f"{attention}.{site}"].shape)

    shapes = [{"site": site, "axes": list(site_of(site).axes), "sizes": sizes(site)} for site in step.sites]
    return {
        "name": step.name,
        "title": step.title,
        "meaning": MEANINGS[step.name],
        "formula": step.formula,
        "edited": step.edited,
        "shapes": shapes,
        "values": [value(each) for each in step.values],
    }


@dataclass(frozen=True)
class Piece:
    """Some lines of the running program, and where they stand."""

    where: str
    code: str


def code_work(body: dict[str, Any]) -> bytes:
    """The lines that each step of an attention runs, by the step's name."""
    model = wired(question_of(body))
    attention = str(body.get("attention", ""))
    found = pieces(model, attention)
    return pack({"code": {name: [vars(piece) for piece in listed] for name, listed in found.items()}})


def pieces(model: Transformer, attention: str) -> dict[str, tuple[Piece, ...]]:
    """Which code each step of the attention at a path runs, in this model with these parts."""
    part, scheme = attention_at(model, attention)
    name, layer, kind = attention.split(".")
    residual = getattr(model.stack(name).blocks[int(layer)], f"{kind}_residual")
    assert isinstance(residual, Residual)
    masks = {mask.partition(":")[0] for mask in model.stack(name).config.masks} if kind == "self" else {"padding"}
    return {
        "read": (*_methods(residual.norm, "forward"), *_lines('tap("input"')),
        "project": (*_lines('tap("q"', 'tap("k"', 'tap("v"'), _function(split), *_norm(part)),
        "rotate": (*_lines('tap("rotated_q"', 'tap("rotated_k"'), *_methods(scheme, "rotate", "angles")),
        "feature": _methods(part.kernel, "feature"),
        "multiply": (*_lines("kernel.score("), *_methods(part.kernel, "score")),
        "sum": (*_lines("kernel.score("), *_methods(part.kernel, "score")),
        "scale": (*_lines("self.scale =", 'tap("scale"', "kernel.score("), *_methods(part.kernel, "score")),
        "bias": (*_lines("scheme.relate(", "scheme.bias(", 'tap("bias"'), *_doors(scheme),
                 *_methods(part.kernel, "place")),
        "cap": (*_lines('tap("scores"'), _function(soft_cap)),
        "mask": (*_lines('tap("mask"', 'tap("masked"'), *_methods(part.kernel, "mask"),
                 *(_function(MASKS[mask]) for mask in sorted(masks))),
        "weigh": (*_lines('tap("weights"'), *_methods(part.kernel, "weigh")),
        "mix": _lines("kept @", 'tap("mixed"'),
        "write": (*_lines('tap("output"'), _function(merge), *_methods(residual, "forward")),
    }  # fmt: skip


def _norm(part: Attention) -> tuple[Piece, ...]:
    return _methods(part.query_norm, "forward") if any(True for _ in part.query_norm.parameters()) else ()


def _doors(scheme: Position) -> tuple[Piece, ...]:
    return _methods(scheme, *(door for door in ("bias", "relate") if door in vars(type(scheme))))


def _methods(thing: object, *names: str) -> tuple[Piece, ...]:
    """Methods of a thing's class as they run here; those of torch's own classes are left out."""
    found = (getattr(type(thing), name, None) for name in names)
    return tuple(_function(method) for method in found if method and method.__module__.startswith("model."))


@lru_cache(maxsize=128)
def _function(function: Callable[..., Any]) -> Piece:
    lines, start = inspect.getsourcelines(function)
    where = f"{function.__qualname__} · {_file(function.__module__)}, line {start}"
    return Piece(where, dedent("".join(lines)).rstrip())


def _lines(*marks: str) -> tuple[Piece, ...]:
    """The statements of `model.attention` in which some words stand, each once."""
    found = {statement for mark in marks for statement in _statements(model.nn.attention) if mark in statement.code}
    return tuple(sorted(found, key=lambda piece: int(piece.where.rpartition(" ")[2])))


@lru_cache(maxsize=4)
def _statements(module: ModuleType) -> tuple[Piece, ...]:
    """Every simple statement of a module: no function, class or other block, and no bare text."""
    source = inspect.getsource(module)
    kinds = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)
    return tuple(_pieces(source, (node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)), module))


def _pieces(source: str, nodes: Iterable[ast.stmt], module: ModuleType) -> Iterable[Piece]:
    lines = source.splitlines()
    for node in nodes:
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            code = dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
            yield Piece(f"{_file(module.__name__)}, line {node.lineno}", code)


def _file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
