"""Softmax, argmax and linear attention, and softmax at any temperature: on typed numbers, and in a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from headlight.analysis.head_metrics import entropy
from headlight.array_types import Float
from headlight.cancellation import check_cancelled
from headlight.checkpoints.load import Checkpoint
from headlight.course.attention import HeadValues, attend
from headlight.course.controls import ON, Axis, MatrixControl, ModelControl, NumberControl, TextControl
from headlight.course.requirements import require_part
from headlight.course.screen import Screen, ScreenRows, StateFields, link
from headlight.course.sentences import (
    HEAD,
    LAYER,
    require_layer,
    require_width,
    sentence_batch,
    target_loss,
    token_labels,
    value,
)
from headlight.nn.attention import repeat_key_values
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS, HardmaxAttention, LinearAttention, SoftmaxAttention
from headlight.nn.transformer import Transformer, variant
from headlight.questions.asking import ask_direction, ask_largest, ask_number
from headlight.tracing.interventions import InterventionHook, parse_interventions
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.training.objectives.batch import Batch
from headlight.views.forms import agreement, bars, weights_map
from headlight.views.kinds import HeatMapView, LinesView, MatrixView, TableView, Verdict
from headlight.views.rows import row
from headlight.views.words import digits

TOKENS, CHANNELS, OUTPUTS, ONE = (
    Axis("tokens", 2, 6),
    Axis("channels", 1, 4),
    Axis("value channels", 1, 4),
    Axis("row", 1, 1),
)
TYPED_HEAD = {
    "queries": MatrixControl("Queries", "2,0;0,2;1,1", rows=TOKENS, columns=CHANNELS),
    "keys": MatrixControl("Keys", "2,0;0,2;-1,1", rows=TOKENS, columns=CHANNELS),
    "values": MatrixControl("Values", "10,0;0,10;5,5", rows=TOKENS, columns=OUTPUTS),
}  # fmt: skip
TEMPERATURES = torch.logspace(-2, 2, 41)
HEAD_VALUES = ("rotated_q", "rotated_k", "scale", "bias", "mask", "weights")
MODEL_TEMPERATURES = (0.05, 0.1, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 10.0, 20.0)
NOTABLE = 0.01  # bits
MODEL_CONTROLS = {
    "model": ModelControl(default="stories-causal", needs="softmax"),
    "text": TextControl("Sentence", "The little dog ran to the park and the dog was happy."),
    "layer": replace(LAYER, default="2"),  # looks at the previous token in both shipped language models
    "head": replace(HEAD, default="5"),
}
EXPLORE_HEAD = link("model", "text", "layer", "head")


def functions_in_model(model: Checkpoint, text: str, layer: int, head: int) -> ScreenRows:
    """Each function's weights for the same queries and keys of one head, and the loss with it in all heads."""
    path = _require_head(model.model, layer, head)
    _, batch = sentence_batch(model, text)
    trace = run(model.model, model.tokenizer, text, keep=tuple(f"{path}.{name}" for name in HEAD_VALUES))
    weights = {name: head_weights(model.model, trace, path, head, name) for name in ATTENTION_FUNCTIONS}
    losses = [target_loss(variant(model.model, attention_function=name), batch) for name in ATTENTION_FUNCTIONS]
    titles = tuple(function.title for function in ATTENTION_FUNCTIONS.values())
    error = float((weights["softmax"] - value(trace, f"{path}.weights")[head]).abs().max())
    return (
        row(
            *(_head_map(title, trace, found) for title, found in zip(titles, weights.values(), strict=True)),
            title=f"Layer {layer}, head {head}: the same queries and keys",
        ),
        agreement("Softmax gives the model's own weights, up to rounding.", error),
        row(
            bars(
                "Entropy of a row of this head, on average (bits)",
                titles,
                [_mean_entropy(found) for found in weights.values()],
                note="0 bits: one key gets all of the weight. 1 bit corresponds to two keys with half of the weight "
                "each.",
            ),
            bars(
                "Loss on this sentence, with the function in all heads (nats for each token predicted)", titles, losses
            ),
        ),
        _loss_verdict(dict(zip(titles, losses, strict=True))),
    )


def head_weights(
    model: Transformer, trace: Trace, path: str, head: int, attention_function: str
) -> Float[Tensor, "query key"]:
    """The weights of an attention function for the recorded queries, keys, bias and mask of a head, step by step."""
    function = ATTENTION_FUNCTIONS[attention_function]
    q, k, scale, bias = (value(trace, f"{path}.{name}") for name in HEAD_VALUES[:4])
    allowed = torch.tensor(trace[f"{path}.mask"]).bool()
    k = repeat_key_values(k[None], q.shape[0] // k.shape[0])[0]
    one = slice(head, head + 1)
    allowed = allowed.expand(q.shape[0], -1, -1)[one][None]
    bias = bias.expand(q.shape[0], -1, -1)[one][None]
    scores = function.score(q[one][None], k[one][None], float(scale.expand(q.shape[0])[head]), bias)
    return function.normalize(function.mask(scores, allowed), allowed)[0, 0]


def _require_head(model: Transformer, layer: int, head: int) -> str:
    """The path of an attention. Raises InputError for a layer or head that does not exist."""
    require_part(model.config, "head", head)
    return f"{require_layer(model, layer)}.self"


def _head_map(title: str, trace: Trace, weights: Tensor) -> HeatMapView:
    names = token_labels(trace.text)
    return weights_map(title, weights, names)


def _mean_entropy(weights: Tensor) -> float:
    return float(entropy(weights.numpy()).mean())


def _loss_verdict(losses: dict[str, float]) -> Verdict:
    trained, *others = losses.values()
    worst = max(losses, key=lambda title: losses[title])
    worst = f"{worst[0].lower()}{worst[1:]}"
    cost = f"With {worst} in all heads a token costs {max(others) - trained:.2f} nats more than with softmax. "
    return Verdict(
        (cost if max(others) > trained else "")
        + "The model was trained with softmax. A model that is trained with another function has other queries and "
        "keys."
    )


def temperature_in_model(model: Checkpoint, text: str, layer: int, head: int, temperature: float) -> ScreenRows:
    """The weights of a head as trained and at a temperature, and the loss by the temperature of all heads."""
    path = _require_head(model.model, layer, head)
    _, batch = sentence_batch(model, text)
    edit = temperature_edit(path, f"[{head}]", temperature)
    trained, changed = (
        run(model.model, model.tokenizer, text, edits, keep=(f"{path}.weights",)) for edits in ((), (edit,))
    )
    weights = [value(trace, f"{path}.weights")[head] for trace in (trained, changed)]
    losses = losses_by_temperature(model.model, batch)
    return (
        row(
            _head_map("As trained", trained, weights[0]),
            _head_map(f"At temperature {digits(temperature, 6)}", changed, weights[1]),
            title=f"Layer {layer}, head {head}",
            question=ask_direction(
                f"At temperature {digits(temperature, 6)}, how does the entropy of this head's rows change?",
                _mean_entropy(weights[1]) - _mean_entropy(weights[0]),
                NOTABLE,
            ),
        ),
        f"Entropy of a row, on average: {_mean_entropy(weights[0]):.2f} bits as trained, "
        f"{_mean_entropy(weights[1]):.2f} at temperature {digits(temperature, 6)}. The edit for this in Explore is "
        f"{edit}.",
        LinesView(
            "Loss on this sentence, with all heads of all layers at one temperature",
            MODEL_TEMPERATURES,
            {"loss": losses},
            "temperature",
            "nats for each token predicted",
            log_x=True,
            note="The model was trained at temperature 1; on a single sentence another temperature may be better by "
            "chance.",
        ),
    )


def temperature_edit(path: str, index: str, temperature: float) -> str:
    """The edit that divides scores by a temperature."""
    return f"{path}.scores{index}=scale:{1 / temperature:.6g}"


def losses_by_temperature(model: Transformer, batch: Batch) -> list[float]:
    """The loss with every head of every layer at each of MODEL_TEMPERATURES."""
    losses = []
    for each in MODEL_TEMPERATURES:
        check_cancelled()
        edit = temperature_edit(f"{model.config.stacks[-1]}.*.self", "", each)
        losses.append(target_loss(model, batch, InterventionHook(parse_interventions([edit]))))
    return losses


def link_to_edit(*, model: str, text: str, layer: int, head: int, temperature: float, **_: Any) -> StateFields:
    """The head on Explore, with its scores divided by the temperature."""
    # A link has only the model's name, so the edit matches a layer of either stack.
    edit = temperature_edit(f"*.{layer}.self", f"[{head}]", temperature)
    return EXPLORE_HEAD(model=model, text=text, layer=layer, head=head) | {"edits": edit}


def functions_on_numbers(queries: Tensor, keys: Tensor, values: Tensor) -> ScreenRows:
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
                {ATTENTION_FUNCTIONS["hardmax"].title: "It gives all of the weight to the best key."},
                least=True,
            ),
        ),
        row(
            *(
                MatrixView(ATTENTION_FUNCTIONS[name].title, head.output, column_axis="value channel")
                for name, head in heads.items()
            ),
            title="Outputs",
        ),
        TableView(("function", "what it does", "largest weight", "smallest weight"), tuple(
                    (ATTENTION_FUNCTIONS[name].title, ATTENTION_FUNCTIONS[name].description,
                     float(head.weights.max()), float(head.weights.min()))
                    for name, head in heads.items()
                ), digits=3),
    )  # fmt: skip


def _weights(name: str, head: HeadValues) -> MatrixView:
    return MatrixView(
        ATTENTION_FUNCTIONS[name].title,
        head.weights,
        rows=TOKENS.label_all(len(head.weights)),
        columns=TOKENS.label_all(head.weights.shape[1]),
        colours="weights",
        row_sums=True,
        row_axis="query",
        column_axis="key",
    )


FUNCTIONS = Screen(
    title="Three functions on the same head",
    lesson="Softmax gives every key a share, and far more to keys with larger scores; argmax gives all to the best "
    "key. Linear attention leaves out the exponential: queries and keys are made positive, and their products are the "
    "shares. In all three a row adds up to 1; a trained model shows how much each costs in loss.",
    controls={"on": ON, **TYPED_HEAD, **MODEL_CONTROLS},
    compute={"numbers": functions_on_numbers, "model": functions_in_model},
    formulas=tuple(function.formula for function in ATTENTION_FUNCTIONS.values()),
    code=(head_weights, SoftmaxAttention, HardmaxAttention, LinearAttention),
    explore=link("model", "text", "layer", "head"),
)


def at_temperature(query: Tensor, keys: Tensor, values: Tensor, temperature: float) -> ScreenRows:
    """The weights of one query at a temperature, and by temperature."""
    require_width(query.shape[1], {"channels of the keys": keys.shape[1]})
    require_width(len(keys), {"values": len(values)}, "keys")
    head = attend(query / temperature, keys, values, scale=False)
    best = attend(query, keys, values, scale=False, attention_function="hardmax")
    uniform = values.mean(0, keepdim=True)
    weights = torch.cat([attend(query / float(t), keys, values, scale=False).weights for t in TEMPERATURES])
    return (
        row(
            _weights("softmax", head),
            MatrixView("Output", head.output, column_axis="value channel", before="→"),
            MatrixView("Argmax gives", best.output, column_axis="value channel"),
            MatrixView("The plain mean is", uniform, column_axis="value channel"),
            title=f"At temperature {digits(temperature, 6)}",
            question=ask_number(
                f"What is the input of the softmax for key {TOKENS.label(0)}, at temperature {digits(temperature, 6)}?",
                float(query[0] @ keys[0]) / temperature,
                (float(query[0] @ keys[0]) * temperature, "Scores are divided by the temperature, not multiplied."),
                (float(query[0] @ keys[0]), "That is the score before it is divided by the temperature."),
            ),
        ),
        LinesView(
            "Weight of each key",
            TEMPERATURES.tolist(),
            {f"key {name}": weights[:, at].tolist() for at, name in enumerate(TOKENS.label_all(len(keys)))},
            "temperature",
            "weight",
            log_x=True,
        ),
        _limits(head.output, best.output, uniform),
    )


def _limits(output: Tensor, best: Tensor, uniform: Tensor) -> Verdict:
    to_best, to_uniform = float((output - best).norm()), float((output - uniform).norm())
    nearer = "argmax" if to_best < to_uniform else "the plain mean"
    return Verdict(
        f"The output is {digits(to_best, 2)} away from that of argmax and {digits(to_uniform, 2)} from the plain mean "
        f"of all values: nearer to {nearer}. As the temperature falls to 0, softmax becomes argmax; as it grows, every "
        "key gets the same weight."
    )


TEMPERATURE = Screen(
    title="Temperature: from argmax to the plain mean",
    lesson="Scores are divided by a temperature before the softmax. The lower it is, the more goes to the best key; "
    "the higher, the more equal the weights become. The factor 1/√d of attention is a temperature of √d.",
    controls={
        "on": ON,
        "query": MatrixControl("Query", "1,0.5", rows=ONE, columns=CHANNELS),
        "keys": MatrixControl("Keys", "2,0;0,2;-1,1", rows=TOKENS, columns=CHANNELS),
        "values": TYPED_HEAD["values"],
        "temperature": NumberControl("Temperature", "0.5", 0.05, 20, step=0.05),
        **MODEL_CONTROLS,
    },
    compute={"numbers": at_temperature, "model": temperature_in_model},
    formulas=(r"a_{ij} = \mathrm{softmax}_j(s_{ij} / T)",),
    code=(at_temperature, losses_by_temperature, SoftmaxAttention),
    explore=link_to_edit,
)
