"""The lines of the running program behind each step of a walkthrough."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from textwrap import dedent
from typing import Any

from torch import nn

from headlight.nn.attention import Attention, merge_heads, split_heads
from headlight.nn.layers import soft_cap
from headlight.nn.masks import MASKS
from headlight.nn.output_heads import MaskedLanguageModelHead, PredictionHead, SequenceClassifier
from headlight.nn.positional_encodings import PositionalEncoding
from headlight.nn.stack import ResidualConnection, Stack
from headlight.nn.transformer import Transformer, attention_at
from headlight.problem_types import problem_type_of
from headlight_app.contract.reply import Reply
from headlight_app.explore.contract import CodeExcerptAnswer, StepCodeAnswer, StepCodeRequest
from headlight_app.inference.resolved_question import resolve


def answer_step_code(request: StepCodeRequest) -> Reply[StepCodeAnswer]:
    """The lines of code of each step of an attention and of the prediction, by the step's name."""
    model = resolve(request.question).model
    return Reply(StepCodeAnswer(code=attention_step_code(model, request.attention) | prediction_step_code(model)))


def attention_step_code(model: Transformer, attention: str) -> dict[str, tuple[CodeExcerptAnswer, ...]]:
    """The code of each step of the attention at a path, for the parts of this model."""
    attention_module, scheme = attention_at(model, attention)
    name, layer, kind = attention.split(".")
    block = model.stack(name).blocks[int(layer)]
    residual = getattr(block, f"{kind}_attention_residual")
    assert isinstance(residual, ResidualConnection)
    attention_function = attention_module.attention_function
    masks = {mask.partition(":")[0] for mask in model.stack(name).config.masks} if kind == "self" else {"padding"}
    score = (*_statement_code("score"), *_method_code(attention_function, "score"))
    return {
        "input": (*_method_code(residual.norm, "forward"), *_statement_code("hook input")),
        "project": (
            *_statement_code("query", "key", "value", "hook q", "hook k", "hook v"),
            _function_code(split_heads),
            *_query_norm_code(attention_module),
            *(_method_code(attention_module, "query_factor") if attention_module.temperature_length else ()),
        ),
        "rotate": (*_statement_code("hook rotated_q", "hook rotated_k"), *_method_code(scheme, "rotate", "angles")),
        "feature-map": _method_code(attention_function, "feature_map"),
        "multiply": score,
        "sum": score,
        "scale": (*_statement_code("self.scale", "hook scale"), *score),
        "bias": (
            *_statement_code("content_bias", "hook bias"),
            *_bias_methods(scheme),
            *_method_code(attention_function, "add_bias"),
        ),
        "soft-cap": (*_statement_code("hook scores"), _function_code(soft_cap)),
        "mask": (
            *_statement_code("hook mask", "hook masked_scores"),
            *_method_code(attention_function, "mask"),
            *(_function_code(MASKS[mask].allowed) for mask in sorted(masks)),
        ),
        "weights": (*_statement_code("hook weights"), *_method_code(attention_function, "normalize")),
        "weighted-sum": _statement_code("@", "hook weighted_values"),
        "output": (*_statement_code("hook output"), _function_code(merge_heads), *_method_code(residual, "add")),
        "feed-forward": _method_code(block.feed_forward, "forward"),
    }


def prediction_step_code(model: Transformer) -> dict[str, tuple[CodeExcerptAnswer, ...]]:
    """The code of each step from the last layer to the probabilities; empty without an output head."""
    stack, head = model.stack(model.config.stacks[-1]), model.output_head
    if not isinstance(head, PredictionHead):
        return {}
    end, forward = _statement_code("hook final_residual", owner=Stack), _method_code(head, "forward")
    transform = (
        () if isinstance(head, MaskedLanguageModelHead) else _method_code(getattr(head, "transform", None), "forward")
    )
    return {
        "last-layer": end,
        "final-norm": (*end, *_method_code(stack.final_norm, "forward")),
        "project-out": end,
        "pool": (*forward, *(_function_code(each.pool) for each in head.poolings))
        if isinstance(head, SequenceClassifier)
        else (),
        "transform": (*_method_code(head, "transformed"), *transform),
        "compare": forward,
        "logits": forward,
        "logit-soft-cap": (*forward, _function_code(soft_cap)),
        **dict.fromkeys(("probabilities", "sigmoid"), (_function_code(problem_type_of(model.config).values),)),
    }


def _query_norm_code(attention: Attention) -> tuple[CodeExcerptAnswer, ...]:
    return () if isinstance(attention.query_norm, nn.Identity) else _method_code(attention.query_norm, "forward")


def _bias_methods(scheme: PositionalEncoding) -> tuple[CodeExcerptAnswer, ...]:
    return _method_code(scheme, *(method for method in ("bias", "content_bias") if method in vars(type(scheme))))


def _method_code(instance: object, *names: str) -> tuple[CodeExcerptAnswer, ...]:
    """Methods of an object's class; those of torch's own classes are left out."""
    methods = (getattr(type(instance), name, None) for name in names)
    return tuple(_function_code(method) for method in methods if method and method.__module__.startswith("headlight."))


@lru_cache(maxsize=128)
def _function_code(function: Callable[..., Any]) -> CodeExcerptAnswer:
    lines, start = inspect.getsourcelines(function)
    where = f"{function.__qualname__} · {_module_path(function.__module__)}, line {start}"
    return CodeExcerptAnswer(location=where, code=dedent("".join(lines)).rstrip())


def _statement_code(*operations: str, owner: type = Attention) -> tuple[CodeExcerptAnswer, ...]:
    """The statements of a class that do any of these operations (see `_operations`), each once."""
    statements = _statements(owner)
    missing = [name for name in operations if all(name not in done for done, _ in statements)]
    assert not missing, f"{owner.__name__} has no statement for {missing}, whose code the walkthrough shows."
    return tuple(excerpt for done, excerpt in statements if not done.isdisjoint(operations))


@lru_cache(maxsize=2)
def _statements(owner: type) -> tuple[tuple[frozenset[str], CodeExcerptAnswer], ...]:
    """Every simple statement of a class in line order: its operations, and its code."""
    lines, first = inspect.getsourcelines(owner)
    kinds = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)
    nodes = [node for node in ast.walk(ast.parse("".join(lines))) if isinstance(node, kinds)]
    return tuple(
        (
            frozenset(_operations(node)),
            CodeExcerptAnswer(
                location=f"{_module_path(owner.__module__)}, line {first + node.lineno - 1}",
                code=dedent("".join(lines[node.lineno - 1 : node.end_lineno])).rstrip(),
            ),
        )
        for node in sorted(nodes, key=lambda node: node.lineno)
    )


def _operations(statement: ast.stmt) -> Iterator[str]:
    """The operations of a statement: its hook points, method calls, assignments to self, and matrix products."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Name(id="hook"), args=[ast.Constant(value=str(hook_point)), *_]):
                yield f"hook {hook_point}"
            case ast.Call(func=ast.Attribute(attr=method)):
                yield method
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield f"self.{name}"
            case ast.MatMult():
                yield "@"


def _module_path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
