"""Softmax, argmax and linear attention on the same queries, keys and values; and softmax at every temperature."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from headlight.checkpoints.load import Checkpoint
from headlight.course.attention import HeadValues, attend
from headlight.course.controls import ON, Axis, MatrixControl, NumberControl, only_when
from headlight.course.pictures import LinesPicture, MatrixPicture, TablePicture, Verdict, row
from headlight.course.questions import ask_largest, ask_number
from headlight.course.screen import Answer, Screen, StateFields, link
from headlight.course.sentences import require_width
from headlight.course.variants.in_a_model import (
    MODEL_CONTROLS,
    functions_in_model,
    head_weights,
    link_to_edit,
    losses_by_temperature,
    temperature_in_model,
)
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS, HardmaxAttention, LinearAttention, SoftmaxAttention

TOKENS, CHANNELS, OUTPUTS, ONE = (
    Axis("tokens", 2, 6),
    Axis("channels", 1, 4),
    Axis("value channels", 1, 4),
    Axis("row", 1, 1),
)
HEAD = {
    "queries": MatrixControl(title="Queries", default="2,0;0,2;1,1", rows=TOKENS, columns=CHANNELS),
    "keys": MatrixControl(title="Keys", default="2,0;0,2;-1,1", rows=TOKENS, columns=CHANNELS),
    "values": MatrixControl(title="Values", default="10,0;0,10;5,5", rows=TOKENS, columns=OUTPUTS),
}  # fmt: skip
TEMPERATURES = torch.logspace(-2, 2, 41)


def functions(
    on: str, queries: Tensor, keys: Tensor, values: Tensor, model: Checkpoint, text: str, layer: int, head: int
) -> Answer:
    """The three functions on typed numbers, or on a head of a model."""
    return functions_in_model(model, text, layer, head) if on == "model" else _on_numbers(queries, keys, values)


def _on_numbers(queries: Tensor, keys: Tensor, values: Tensor) -> Answer:
    """The weights and outputs of each function on one head."""
    require_width(len(values), {"queries": len(queries), "keys": len(keys)}, "tokens")
    heads = {name: attend(queries, keys, values, attention_function=name) for name in ATTENTION_FUNCTIONS}
    return (
        row(
            *(_weights(name, head) for name, head in heads.items()),
            title="Weights",
            question=ask_largest(
                "Which function spreads the weights most evenly?",
                {ATTENTION_FUNCTIONS[name].title: float(head.weights.max()) for name, head in heads.items()},
                {ATTENTION_FUNCTIONS["hardmax"].title: "It gives all to the best key."},
                least=True,
            ),
        ),
        row(
            *(
                MatrixPicture(title=ATTENTION_FUNCTIONS[name].title, values=head.output, column_axis="value channel")
                for name, head in heads.items()
            ),
            title="Outputs",
        ),
        row(
            TablePicture(
                columns=("function", "what it does", "largest weight", "smallest weight"),
                rows=tuple(
                    (ATTENTION_FUNCTIONS[name].title, ATTENTION_FUNCTIONS[name].description,
                     float(head.weights.max()), float(head.weights.min()))
                    for name, head in heads.items()
                ),
                digits=3,
            )
        ),
    )  # fmt: skip


def _weights(name: str, head: HeadValues) -> MatrixPicture:
    return MatrixPicture(
        title=ATTENTION_FUNCTIONS[name].title,
        values=head.weights,
        rows=TOKENS.label_all(len(head.weights)),
        columns=TOKENS.label_all(head.weights.shape[1]),
        colours="weights",
        row_sums=True,
        row_axis="query",
        column_axis="key",
    )


FUNCTIONS = Screen(
    title="Three functions on the same head",
    lesson=(
        "Softmax gives every key a share, and larger scores far more of it; argmax gives all to the best key. Linear "
        "attention leaves out the exponential: queries and keys are made positive, and their products are the "
        "shares. In all three a row adds up to 1; what a model loses with each, a trained head shows."
    ),
    controls={"on": ON, **only_when("on=numbers", HEAD), **only_when("on=model", MODEL_CONTROLS)},
    compute=functions,
    formulas=tuple(function.formula for function in ATTENTION_FUNCTIONS.values()),
    code=(head_weights, SoftmaxAttention, HardmaxAttention, LinearAttention),
    explore=link("model", "text", "layer", "head"),
)


def temperature(
    on: str,
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    temperature: float,
    model: Checkpoint,
    text: str,
    layer: int,
    head: int,
) -> Answer:
    """One temperature, on typed numbers or in a model."""
    if on == "model":
        return temperature_in_model(model, text, layer, head, temperature)
    return _at_temperature(query, keys, values, temperature)


def _at_temperature(query: Tensor, keys: Tensor, values: Tensor, temperature: float) -> Answer:
    """The weights of one query at a temperature, and over all of them."""
    require_width(query.shape[1], {"channels of the keys": keys.shape[1]})
    require_width(len(keys), {"values": len(values)}, "keys")
    head = attend(query / temperature, keys, values, scale=False)
    best = attend(query, keys, values, scale=False, attention_function="hardmax")
    uniform = values.mean(0, keepdim=True)
    weights = torch.cat([attend(query / float(t), keys, values, scale=False).weights for t in TEMPERATURES])
    return (
        row(
            _weights("softmax", head),
            MatrixPicture(title="Output", values=head.output, column_axis="value channel", before="→"),
            MatrixPicture(title="Argmax gives", values=best.output, column_axis="value channel"),
            MatrixPicture(title="The plain mean is", values=uniform, column_axis="value channel"),
            title=f"At temperature {temperature:g}",
            question=ask_number(
                f"What goes into the softmax for key {TOKENS.label(0)}, at temperature {temperature:g}?",
                float(query[0] @ keys[0]) / temperature,
                (float(query[0] @ keys[0]) * temperature, "Scores are divided by the temperature, not multiplied."),
                (float(query[0] @ keys[0]), "That is the score before it is divided by the temperature."),
            ),
        ),
        row(
            LinesPicture(
                title="Weight of each key",
                x=TEMPERATURES.tolist(),
                series={f"key {name}": weights[:, at].tolist() for at, name in enumerate(TOKENS.label_all(len(keys)))},
                x_title="temperature",
                y_title="weight",
                log_x=True,
            )
        ),
        row(_limits(head.output, best.output, uniform)),
    )


def _limits(output: Tensor, best: Tensor, uniform: Tensor) -> Verdict:
    to_best, to_uniform = float((output - best).norm()), float((output - uniform).norm())
    nearer = "argmax" if to_best < to_uniform else "the plain mean"
    return Verdict(
        text=f"The output is {to_best:.2g} away from what argmax gives and {to_uniform:.2g} from the plain mean of "
        f"all values: nearer to {nearer}. As the temperature falls to 0 softmax becomes argmax; as it grows, every "
        "key gets the same."
    )


def _link_to_edit(**values: Any) -> StateFields:
    return link_to_edit(*(values[name] for name in ("model", "text", "layer", "head", "temperature")))


TEMPERATURE = Screen(
    title="Temperature: from argmax to the plain mean",
    lesson=(
        "Scores are divided by a temperature before the softmax. The colder, the more goes to the best key; the "
        "hotter, the more alike all keys become. The factor 1/√d of attention is a temperature of √d."
    ),
    controls={
        "on": ON,
        **only_when(
            "on=numbers",
            {
                "query": MatrixControl(title="Query", default="1,0.5", rows=ONE, columns=CHANNELS),
                "keys": MatrixControl(title="Keys", default="2,0;0,2;-1,1", rows=TOKENS, columns=CHANNELS),
                "values": HEAD["values"],
            },
        ),
        "temperature": NumberControl(title="Temperature", default="0.5", low=0.05, high=20, step=0.05),
        **only_when("on=model", MODEL_CONTROLS),
    },
    compute=temperature,
    formulas=(r"a_{ij} = \mathrm{softmax}_j(s_{ij} / T)",),
    code=(temperature, losses_by_temperature, SoftmaxAttention),
    explore=_link_to_edit,
)
