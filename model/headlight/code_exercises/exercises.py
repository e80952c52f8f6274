"""The exercises in code: tasks, hints, checks, and files with gaps (.ipynb or .py)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import fill
from typing import Any

from headlight.code_exercises.cases import (
    another_text,
    as_numbers,
    causal,
    five_tokens,
    heads_of,
    other_lengths,
    padded,
    self_attention,
    split_heads_of,
    with_empty_row,
    with_mask,
)
from headlight.code_exercises.checks import (
    Check,
    dropout_in_training,
    dropped_weights,
    empty_row,
    gradients,
    kept_weights,
    no_dropout_in_evaluation,
    numbers,
    returned_weights,
    unchanged_inputs,
)
from headlight.code_exercises.diagnoses import Hints
from headlight.code_exercises.solution import Bind, bind_function, bind_multi_head, bind_single_head
from headlight.errors import HeadlightError
from headlight.registry import Registry


@dataclass(frozen=True, kw_only=True)
class CodeExercise:
    """A function or class to write: its signature, task, arguments, hints and checks."""

    title: str
    signature: str
    task: str
    arguments: tuple[str, ...]
    hints: Hints
    bind: Bind
    checks: tuple[Check, ...]


MASK_ARGUMENT = (
    "mask: None, or 1 (True) where a query may attend and 0 (False) where it may not. It is (batch, key) for "
    "padding, the same for every query, or (batch, query, key), as for a causal mask."
)
THREE_TENSORS = (
    "query: (batch, query, d_k)",
    "key: (batch, key, d_k); there may be more or fewer keys than queries",
    "value: (batch, key, d_v); d_v may differ from d_k",
)
BASIC_CHECKS = (
    Check("two texts of five tokens", numbers, five_tokens),
    Check("other lengths, and values of another width", numbers, other_lengths),
    Check("the weights", returned_weights, other_lengths),
)
CARE_CHECKS = (
    Check("the inputs stay unchanged", unchanged_inputs, with_mask(padded, five_tokens)),
    Check("gradients", gradients, five_tokens),
)
CODE_EXERCISES: Registry[CodeExercise] = Registry(
    "exercise",
    {
        "scaled_dot_product_attention": CodeExercise(
            title="Scaled dot-product attention",
            signature="def scaled_dot_product_attention(Q, K, V):",
            task="Compare each query with each key, turn the scores into weights, and average the values with them. "
            "Return the output (batch, query, d_v) and the weights (batch, query, key).",
            arguments=tuple(
                text.replace("query:", "Q:").replace("key:", "K:").replace("value:", "V:") for text in THREE_TENSORS
            ),
            hints=Hints(
                nudge="Write down the shape of each step before you write its code.",
                concrete="Scores (batch, query, key) are queries times transposed keys, divided by √d_k. A softmax "
                "over the keys gives the weights. Weights times values are the output (batch, query, d_v).",
                show_me="scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.size(-1))\nweights = scores.softmax(dim=-1)\n"
                "return weights @ V, weights",
            ),
            bind=bind_function,
            checks=(*BASIC_CHECKS, Check("gradients", gradients, five_tokens)),
        ),
        "SingleHeadAttention": CodeExercise(
            title="One head as a module",
            signature="class SingleHeadAttention(nn.Module):\n"
            "    def __init__(self, embed_dim):\n"
            "    def forward(self, x):",
            task="Make queries, keys and values from the same input with three linear maps without bias, then attend. "
            "Return the output (batch, token, embed_dim), and keep the weights as an attribute, so that they "
            "can be drawn.",
            arguments=(
                "embed_dim: the width of the input and of each of the three maps",
                "x: (batch, token, embed_dim)",
            ),
            hints=Hints(
                nudge="What does a module have that a function does not?",
                concrete="Define three nn.Linear(embed_dim, embed_dim, bias=False) called query, key and value; "
                "forward applies each to x and continues like the function.",
                show_me="q, k, v = self.query(x), self.key(x), self.value(x)\n"
                "output, weights = scaled_dot_product_attention(q, k, v)\n"
                "self.weights = weights.detach()\nreturn output",
            ),
            bind=bind_single_head,
            checks=(
                Check("the output, with the weights of your layers", numbers, lambda: self_attention(2, 5, 16)),
                Check("another length and width", numbers, lambda: self_attention(1, 3, 6)),
                Check("the weights are kept", kept_weights, lambda: self_attention(2, 5, 16)),
                Check("gradients reach every layer", gradients, lambda: self_attention(2, 5, 16)),
            ),
        ),
        "attention": CodeExercise(
            title="Attention with a mask and dropout",
            signature="def attention(query, key, value, mask=None, dropout=None):",
            task="The same with a mask, with dropout on the weights, and for heads: each tensor may have an axis of "
            "heads after the batch axis. A query whose keys are all masked gives finite numbers. Return output and "
            "weights.",
            arguments=(
                *THREE_TENSORS,
                MASK_ARGUMENT,
                "dropout: None, or a module such as nn.Dropout(0.1), applied to the weights",
            ),
            hints=Hints(
                nudge="Add one feature at a time: the mask, the heads, dropout. Check after each.",
                concrete="Before the softmax, set scores at forbidden cells to minus infinity. The mask first needs "
                "an axis of length 1 for the queries (and the heads) if it has none. Rows without any allowed key get "
                "weights of 0.",
                show_me="mask = mask[:, None, :] if mask.dim() == 2 else mask\n"
                "mask = mask[:, None] if scores.dim() == 4 else mask\n"
                'scores = scores.masked_fill(mask == 0, float("-inf"))\n'
                "weights = scores.softmax(dim=-1).masked_fill(mask == 0, 0.0)",
            ),
            bind=bind_function,
            checks=(
                *BASIC_CHECKS,
                Check("three heads at a time", numbers, split_heads_of(2)),
                Check("padding gets no attention", numbers, with_mask(padded, five_tokens)),
                Check("a mask of the numbers 1 and 0", numbers, with_mask(as_numbers, with_mask(padded, five_tokens))),
                Check(
                    "padding with heads",
                    numbers,
                    with_mask(padded, split_heads_of(3)),
                    with_mask(padded, split_heads_of(2)),
                ),
                Check(
                    "the future gets no attention",
                    numbers,
                    with_mask(causal, five_tokens),
                    with_mask(causal, split_heads_of(3)),
                ),
                Check("a query whose keys are all masked", empty_row, with_mask(with_empty_row, five_tokens)),
                Check("dropout on the weights", dropped_weights, five_tokens),
                Check("no dropout in evaluation", no_dropout_in_evaluation, five_tokens),
                *CARE_CHECKS,
            ),
        ),
        "MultiHeadedAttention": CodeExercise(
            title="Several heads as a module",
            signature="class MultiHeadedAttention(nn.Module):\n"
            "    def __init__(self, h, d_model, dropout=0.1):\n"
            "    def forward(self, query, key, value, mask=None):",
            task="Make queries, keys and values with one linear map each, split their channels into h heads of "
            "d_model / h, attend in every head, concatenate the heads, and apply a fourth linear map. Return the "
            "output (batch, query, d_model).",
            arguments=(
                "h: the number of heads, which divides d_model",
                "d_model: the width of the input and of each of the four maps",
                "dropout: the fraction of weights that is dropped in training",
                "query: (batch, query, d_model); key and value: (batch, key, d_model), which may be another text",
                MASK_ARGUMENT,
            ),
            hints=Hints(
                nudge="What shape do queries have before and after they are split into heads?",
                concrete="View (batch, token, h, d_k), then swap the token and head axes and call attention. "
                "Swap and view back before the last layer. Define the layers in the order query, key, value, output.",
                show_me="query = self.linears[0](query).view(batch, -1, h, d_k).transpose(1, 2)  # and so on\n"
                "x, _ = attention(query, key, value, mask, self.dropout)\n"
                "return self.linears[3](x.transpose(1, 2).contiguous().view(batch, -1, h * d_k))",
            ),
            bind=bind_multi_head,
            checks=(
                Check("one head", numbers, heads_of(2, 1)),
                Check("four heads", numbers, heads_of(2)),
                Check("keys and values of another text", numbers, another_text),
                Check(
                    "padding gets no attention", numbers, with_mask(padded, heads_of(4)), with_mask(padded, heads_of(2))
                ),
                Check("the future gets no attention", numbers, with_mask(causal, heads_of(4))),
                Check("a query whose keys are all masked", empty_row, with_mask(with_empty_row, heads_of(3))),
                Check("no dropout in evaluation", no_dropout_in_evaluation, heads_of(2)),
                Check("dropout in training", dropout_in_training, heads_of(2)),
                Check("the inputs stay unchanged", unchanged_inputs, with_mask(padded, heads_of(2))),
                Check("gradients reach every layer", gradients, heads_of(2)),
            ),
        ),
    },
)


INTRODUCTION = """\
Write attention yourself, in four steps: a function, a module of one head, the function with a mask and dropout, and a
module of several heads. Each is checked against the code that Headlight runs. A wrong answer is compared with the
results of well-known mistakes, so that the check can name the likely mistake."""
COMMENT_WIDTH = 100
IMPORTS = """\
import math

import torch
from torch import nn
"""
GAP = 'raise NotImplementedError("your code")'


def write_exercises(path: Path) -> None:
    """Write the gaps to a new file. Raises HeadlightError if it exists, or is neither .ipynb nor .py."""
    if path.suffix not in (".ipynb", ".py"):
        raise HeadlightError(f"{path} is neither a notebook (.ipynb) nor a Python file (.py).")
    text = notebook_text() if path.suffix == ".ipynb" else python_text()
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise HeadlightError(f"{path} already exists and was not changed. Name another file.") from None
    except OSError as error:
        raise HeadlightError(f"{path} cannot be written: {error.strerror}.") from error


def notebook_text() -> str:
    """The notebook as JSON."""
    cells = [
        _markdown("introduction", f"# Attention in your own code\n\n{INTRODUCTION}"),
        _code("imports", f"{IMPORTS}\nfrom headlight.code_exercises import check"),
    ]
    for name, exercise in CODE_EXERCISES.items():
        cells += [
            _markdown(f"{name}-task", _task_markdown(name, exercise)),
            _code(f"{name}-gap", starter(exercise)),
            _code(f"{name}-check", f"check({name})"),
        ]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def python_text() -> str:
    """The same gaps as a Python file, for `headlight check`."""
    parts = [f'"""Fill in the gaps, then run `headlight check` on this file."""\n\n{IMPORTS}']
    for exercise in CODE_EXERCISES.values():
        comment = "\n".join(
            fill(line, COMMENT_WIDTH, initial_indent="# ", subsequent_indent="# ")
            for line in (exercise.task, *exercise.arguments)
        )
        parts.append(f"{comment}\n{starter(exercise)}\n")
    return "\n\n".join(parts)


def starter(exercise: CodeExercise) -> str:
    """The first lines of a solution, with a gap in each body."""
    lines: list[str] = []
    for line in exercise.signature.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines += ["", line] if line.lstrip().startswith("def ") and len(lines) > 1 else [line]
        if line.lstrip().startswith("def __init__"):
            lines.append(f"{indent}    super().__init__()")
        if line.lstrip().startswith("def "):
            lines.append(f"{indent}    {GAP}")
    return "\n".join(lines)


def _task_markdown(name: str, exercise: CodeExercise) -> str:
    arguments = "\n".join(f"- {_as_code(argument)}" for argument in exercise.arguments)
    hints = (("A nudge", exercise.hints.nudge), ("What to do", exercise.hints.concrete))
    ladder = [f"<details><summary>{title}</summary>{escape(text)}</details>" for title, text in hints]
    code = f"<details><summary>Show me</summary><pre>{escape(exercise.hints.show_me)}</pre></details>"
    return "\n\n".join((f"## {exercise.title}: `{name}`", exercise.task, arguments, *ladder, code))


def _as_code(argument: str) -> str:
    name, _, rest = argument.partition(":")
    return f"`{name}`:{rest}"


def _markdown(identity: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": identity, "metadata": {}, "source": text}


def _code(identity: str, text: str) -> dict[str, Any]:
    run: dict[str, Any] = {"execution_count": None, "outputs": []}
    return {"cell_type": "code", "id": identity, "metadata": {}, "source": text} | run
