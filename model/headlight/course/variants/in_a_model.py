"""Attention functions and temperatures on a head of an opened model, and what they do to its predictions."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from headlight.analysis.head_metrics import entropy
from headlight.array_types import Float
from headlight.cancellation import check_cancelled
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import BarsPicture, HeatMapPicture, LinesPicture, Verdict, row, verdict_row, weights_map
from headlight.course.questions import ask_direction
from headlight.course.requirements import require_part
from headlight.course.screen import Answer, StateFields, link
from headlight.course.sentences import HEAD, LAYER, require_layer, sentence_batch, target_loss, token_labels, value
from headlight.nn.attention import repeat_key_values
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.transformer import Transformer, variant
from headlight.tracing.interventions import InterventionHook
from headlight.tracing.run import parse_interventions, run
from headlight.tracing.trace import Trace
from headlight.training.objectives.batch import Batch

HEAD_VALUES = ("rotated_q", "rotated_k", "scale", "bias", "mask", "weights")
TEMPERATURES = (0.05, 0.1, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 10.0, 20.0)
NOTABLE = 0.01  # bits
SAME = 1e-4
MODEL_CONTROLS = {
    "model": ModelControl(default="stories-causal", needs="softmax"),
    "text": TextControl(title="Sentence", default="The little dog ran to the park and the dog was happy."),
    "layer": replace(LAYER, default="2"),  # where both shipped language models look at the token before
    "head": replace(HEAD, default="5"),
}
EXPLORE_HEAD = link("model", "text", "layer", "head")


def functions_in_model(model: Checkpoint, text: str, layer: int, head: int) -> Answer:
    """The weights that each function makes of the same queries and keys of one head, and the loss with it in all."""
    path = _require_head(model.model, layer, head)
    _, batch = sentence_batch(model, text)
    trace = run(model.model, model.tokenizer, text, keep=tuple(f"{path}.{name}" for name in HEAD_VALUES))
    weights = {name: head_weights(model.model, trace, path, head, name) for name in ATTENTION_FUNCTIONS}
    losses = [target_loss(variant(model.model, attention_function=name), batch) for name in ATTENTION_FUNCTIONS]
    titles = tuple(function.title for function in ATTENTION_FUNCTIONS.values())
    error = float((weights["softmax"] - value(trace, f"{path}.weights")[head]).abs().max())
    return (
        row(
            *(_weights(title, trace, found) for title, found in zip(titles, weights.values(), strict=True)),
            title=f"Layer {layer}, head {head}: the same queries and keys",
        ),
        verdict_row(
            f"Softmax gives the weights that the model itself had (difference {error:.1g}).", good=error < SAME
        ),
        row(
            BarsPicture(
                title="Entropy of a row of this head, on average (bits)",
                labels=titles,
                series={"": [_mean_entropy(found) for found in weights.values()]},
                note="0 is one key alone; 1 bit is as much as two keys with half of the weight each.",
            ),
            BarsPicture(
                title="Loss on this sentence, with the function in all heads (nats for each token predicted)",
                labels=titles,
                series={"": losses},
            ),
        ),
        row(_loss_verdict(dict(zip(titles, losses, strict=True)))),
    )


def head_weights(
    model: Transformer, trace: Trace, path: str, head: int, attention_function: str
) -> Float[Tensor, "query key"]:
    """What an attention function makes of the recorded queries, keys, bias and mask of a head, step by step."""
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


def _weights(title: str, trace: Trace, weights: Tensor) -> HeatMapPicture:
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
        text=(cost if max(others) > trained else "")
        + "The model was trained with softmax. One that is trained with another function has other queries and keys."
    )


def temperature_in_model(model: Checkpoint, text: str, layer: int, head: int, temperature: float) -> Answer:
    """The weights of a head as trained and at a temperature, and the loss over temperatures of all heads."""
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
            _weights("As trained", trained, weights[0]),
            _weights(f"At temperature {temperature:g}", changed, weights[1]),
            title=f"Layer {layer}, head {head}",
            question=ask_direction(
                f"At temperature {temperature:g}: what becomes of the entropy of this head's rows?",
                _mean_entropy(weights[1]) - _mean_entropy(weights[0]),
                NOTABLE,
            ),
        ),
        verdict_row(
            f"Entropy of a row, on average: {_mean_entropy(weights[0]):.2f} bits as trained, "
            f"{_mean_entropy(weights[1]):.2f} at temperature {temperature:g}. The edit of Explore that does this "
            f"is {edit}."
        ),
        row(_loss_lines(losses)),
    )


def temperature_edit(path: str, index: str, temperature: float) -> str:
    """The edit that divides scores by a temperature."""
    return f"{path}.scores{index}=scale:{1 / temperature:.6g}"


def losses_by_temperature(model: Transformer, batch: Batch) -> list[float]:
    """The loss with every head of every layer at each of TEMPERATURES."""
    losses = []
    for each in TEMPERATURES:
        check_cancelled()
        edit = temperature_edit(f"{model.config.stacks[-1]}.*.self", "", each)
        losses.append(target_loss(model, batch, InterventionHook(parse_interventions([edit]))))
    return losses


def _loss_lines(losses: list[float]) -> LinesPicture:
    return LinesPicture(
        title="Loss on this sentence, with all heads of all layers at one temperature",
        x=TEMPERATURES,
        series={"loss": losses},
        x_title="temperature",
        y_title="nats for each token predicted",
        log_x=True,
        note="It was trained at temperature 1; on a single sentence another may do better by chance.",
    )


def link_to_edit(model: str, text: str, layer: int, head: int, temperature: float) -> StateFields:
    # A link knows a model by its name alone: the edit is for a layer of either stack.
    edit = temperature_edit(f"*.{layer}.self", f"[{head}]", temperature)
    return EXPLORE_HEAD(model=model, text=text, layer=layer, head=head) | {"edits": edit}
