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
from app.services.resolved_question import resolve
from app.state.request import integer_or_zero, parse_question
from app.ui.wire_format import pack
from model.analysis.attention_walkthrough import (
    StepValue,
    WalkthroughStep,
    attention_walkthrough,
    most_attended_key,
    paths_to_keep,
)
from model.nn.attention import Attention, merge_heads, split_heads
from model.nn.block import ResidualConnection
from model.nn.hook_points import QUERY_KEY_HOOK_POINTS, hook_point_of
from model.nn.masks import MASKS
from model.nn.norms import soft_cap
from model.nn.positional_encodings import PositionalEncoding
from model.nn.transformer import Transformer, attention_at
from model.tracing.trace import Trace


def handle_walkthrough(body: dict[str, Any]) -> bytes:
    """The steps of one head between two tokens, by their numbers; a `key` of -1 is the one with the largest weight."""
    resolved = resolve(parse_question(body))
    model = resolved.model
    attention, head = str(body.get("attention", "")), integer_or_zero(body.get("head", 0))
    attention_at(model, attention)  # an unknown path would keep nothing, and the error would not name it
    traced = resolved.trace_of(*paths_to_keep(attention))
    query = _valid_query(integer_or_zero(body.get("query", -1)), traced[f"{attention}.q"].shape[1])
    key = integer_or_zero(body.get("key", -1))
    if key < 0:
        key = most_attended_key(model, traced, attention, head, query)
    walkthrough_steps = attention_walkthrough(model, traced, attention, head, query, key)
    arrays = [value.array.astype("<f4").ravel() for step in walkthrough_steps for value in step.values]
    meta = {
        "query": query,
        "key": key,
        "steps": [_step_payload(step, traced, attention) for step in walkthrough_steps],
    }
    return pack(meta, np.concatenate(arrays).tobytes())


def _valid_query(query: int, length: int) -> int:
    return query if 0 <= query < length else length - 1


def _step_payload(step: WalkthroughStep, traced: Trace, attention: str) -> dict[str, Any]:
    def value_payload(each: StepValue) -> dict[str, Any]:
        return {"symbol": each.symbol, "axis": each.axis, "count": each.array.size}

    queries, keys = traced[f"{attention}.q"], traced[f"{attention}.k"]
    head_query_key = [queries.shape[0], queries.shape[1], keys.shape[1]]

    def hook_point_sizes(hook_point: str) -> list[int]:
        return (
            head_query_key if hook_point in QUERY_KEY_HOOK_POINTS else list(traced[f"{attention}.{hook_point}"].shape)
        )

    shapes = [
        {"hook_point": name, "axes": list(hook_point_of(name).axes), "sizes": hook_point_sizes(name)}
        for name in step.hook_points
    ]
    return {
        "name": step.name,
        "title": step.description.title,
        "explanation": step.description.explanation,
        "formula": step.formula,
        "edited": step.edited,
        "shapes": shapes,
        "values": [value_payload(each) for each in step.values],
    }


@dataclass(frozen=True)
class CodeExcerpt:
    """Some lines of the running program, and where they stand."""

    location: str
    code: str


def handle_step_code(body: dict[str, Any]) -> bytes:
    """The lines that each step of an attention runs, by the step's name."""
    model = resolve(parse_question(body)).model
    attention = str(body.get("attention", ""))
    found = step_code(model, attention)
    return pack({"code": {name: [vars(piece) for piece in listed] for name, listed in found.items()}})


def step_code(model: Transformer, attention: str) -> dict[str, tuple[CodeExcerpt, ...]]:
    """Which code each step of the attention at a path runs, in this model with these parts."""
    attention_module, scheme = attention_at(model, attention)
    name, layer, kind = attention.split(".")
    residual = getattr(model.stack(name).blocks[int(layer)], f"{kind}_attention_residual")
    assert isinstance(residual, ResidualConnection)
    attention_function = attention_module.attention_function
    masks = {mask.partition(":")[0] for mask in model.stack(name).config.masks} if kind == "self" else {"padding"}
    return {
        "input": (*_method_code(residual.norm, "forward"), *_statement_code('hook("input"')),
        "project": (
            *_statement_code('hook("q"', 'hook("k"', 'hook("v"'),
            _function_code(split_heads),
            *_query_norm_code(attention_module),
        ),
        "rotate": (*_statement_code('hook("rotated_q"', 'hook("rotated_k"'), *_method_code(scheme, "rotate", "angles")),
        "feature-map": _method_code(attention_function, "feature_map"),
        "multiply": (*_statement_code("attention_function.score("), *_method_code(attention_function, "score")),
        "sum": (*_statement_code("attention_function.score("), *_method_code(attention_function, "score")),
        "scale": (
            *_statement_code("self.scale =", 'hook("scale"', "attention_function.score("),
            *_method_code(attention_function, "score"),
        ),
        "bias": (
            *_statement_code("positional_encoding.content_bias(", "positional_encoding.bias(", 'hook("bias"'),
            *_bias_methods(scheme),
            *_method_code(attention_function, "add_bias"),
        ),
        "soft-cap": (*_statement_code('hook("scores"'), _function_code(soft_cap)),
        "mask": (
            *_statement_code('hook("mask"', '"masked_scores"'),
            *_method_code(attention_function, "mask"),
            *(_function_code(MASKS[mask].allowed) for mask in sorted(masks)),
        ),
        "weights": (*_statement_code('hook("weights"'), *_method_code(attention_function, "normalize")),
        "weighted-sum": _statement_code("dropped @", 'hook("weighted_values"'),
        "output": (
            *_statement_code('hook("output"'),
            _function_code(merge_heads),
            *_method_code(residual, "forward"),
        ),
    }


def _query_norm_code(attention: Attention) -> tuple[CodeExcerpt, ...]:
    return _method_code(attention.query_norm, "forward") if any(True for _ in attention.query_norm.parameters()) else ()


def _bias_methods(scheme: PositionalEncoding) -> tuple[CodeExcerpt, ...]:
    return _method_code(scheme, *(method for method in ("bias", "content_bias") if method in vars(type(scheme))))


def _method_code(instance: object, *names: str) -> tuple[CodeExcerpt, ...]:
    """Methods of a thing's class as they run here; those of torch's own classes are left out."""
    methods = (getattr(type(instance), name, None) for name in names)
    return tuple(_function_code(method) for method in methods if method and method.__module__.startswith("model."))


@lru_cache(maxsize=128)
def _function_code(function: Callable[..., Any]) -> CodeExcerpt:
    lines, start = inspect.getsourcelines(function)
    where = f"{function.__qualname__} · {_module_path(function.__module__)}, line {start}"
    return CodeExcerpt(where, dedent("".join(lines)).rstrip())


def _statement_code(*fragments: str) -> tuple[CodeExcerpt, ...]:
    """The statements of `model.attention` in which some words stand, each once."""
    found = {
        statement
        for fragment in fragments
        for statement in _statements(model.nn.attention)
        if fragment in statement.code
    }
    return tuple(sorted(found, key=lambda piece: int(piece.location.rpartition(" ")[2])))


@lru_cache(maxsize=4)
def _statements(module: ModuleType) -> tuple[CodeExcerpt, ...]:
    """Every simple statement of a module: no function, class or other block, and no bare text."""
    source = inspect.getsource(module)
    kinds = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)
    return tuple(_excerpts(source, (node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)), module))


def _excerpts(source: str, nodes: Iterable[ast.stmt], module: ModuleType) -> Iterable[CodeExcerpt]:
    lines = source.splitlines()
    for node in nodes:
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            code = dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
            yield CodeExcerpt(f"{_module_path(module.__name__)}, line {node.lineno}", code)


def _module_path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
