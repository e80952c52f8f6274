"""What can be shown of a head: a table of kinds, each the numbers of one layer's heads and the cells that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from app.services.resolved_question import ResolvedQuestion
from model.analysis.gradients import attention_gradient
from model.analysis.rollout import attention_rollout
from model.analysis.value_norms import weighted_value_norm
from model.attention_groups import AttentionGroup
from model.errors import EditError
from model.registry import Registry

HeadArrays = tuple[np.ndarray, np.ndarray]  # numbers and allowed cells, both [head query key]


@dataclass(frozen=True)
class QuantityRequest:
    """Whose numbers are wanted: `other` is the text and `versus` the head (layer, head) of a difference.

    `place` and `token` name the prediction whose gradient is taken.
    """

    resolved: ResolvedQuestion
    attention_group: AttentionGroup
    other_text: str = ""
    other_head: tuple[int, int] = (0, 0)
    position: int = -1
    token: int = 0

    def attention_path(self, layer: int) -> str:
        """The attention of a layer."""
        return f"{self.attention_group.stack}.{layer}.{self.attention_group.kind}"

    @property
    def about_other_text(self) -> ResolvedQuestion:
        """The same question about the other text (of a picture: the other picture's name); nothing is masked in it."""
        reads_image = bool(self.resolved.config.image.channels)
        field = "image" if reads_image else "source" if self.attention_group.keys == "source" else "text"
        return self.resolved.with_input(masked_positions=(), **{field: self.other_text})


@dataclass(frozen=True)
class Quantity:
    """One thing to see: its name in the menu, what it is in half a sentence, and how it is made for a layer.

    `signed` numbers have a sign that matters. `scale` is "probability" (0 to 1, painted by its square root), "sqrt" or
    "linear". What is `additive` may be summed over the tokens of a word, and cut to its largest.
    """

    title: str
    description: str
    compute: Callable[[QuantityRequest, int], HeadArrays]
    signed: bool = False
    scale: str = "linear"
    additive: bool = True


def _weights(request: QuantityRequest, layer: int) -> HeadArrays:
    weights = request.resolved.value(f"{request.attention_path(layer)}.weights")
    return weights, _allowed(request.resolved, request.attention_path(layer), weights)


def _allowed(resolved: ResolvedQuestion, attention_path: str, weights: np.ndarray) -> np.ndarray:
    return np.broadcast_to(resolved.value(f"{attention_path}.mask") > 0, weights.shape)


def _scores(request: QuantityRequest, layer: int) -> HeadArrays:
    """Before the mask, so that it shows what the mask takes away."""
    scores = request.resolved.value(f"{request.attention_path(layer)}.scores")
    return scores, np.ones(scores.shape, dtype=bool)


def _masked_scores(request: QuantityRequest, layer: int) -> HeadArrays:
    scores = request.resolved.value(f"{request.attention_path(layer)}.masked_scores")
    return scores, _allowed(request.resolved, request.attention_path(layer), scores)


def _value_norm(request: QuantityRequest, layer: int) -> HeadArrays:
    path = request.attention_path(layer)
    traced = request.resolved.trace_of(f"{path}.weights", f"{path}.v")
    return weighted_value_norm(request.resolved.model, traced, path), _weights(request, layer)[1]


def _rollout(request: QuantityRequest, layer: int) -> HeadArrays:
    if request.attention_group.kind != "self":
        raise EditError("Rollout follows a text through its own attention; attention to another text has none.")
    rollout_weights = attention_rollout(request.resolved.trace.attention(stack=request.attention_group.stack))[layer]
    per_head = np.broadcast_to(rollout_weights, (request.attention_group.heads, *rollout_weights.shape))
    return per_head, per_head > 0


def _gradient(request: QuantityRequest, layer: int) -> HeadArrays:
    weights, allowed = _weights(request, layer)
    gradients = attention_gradient(
        request.resolved.model,
        request.resolved.trace,
        request.attention_path(layer),
        request.position,
        request.token,
    )
    return weights * gradients, allowed


def _minus_head(request: QuantityRequest, layer: int) -> HeadArrays:
    other_layer, head = request.other_head
    return _subtract(_weights(request, layer), _single_head(_weights(request, other_layer), head))


def _minus_trained(request: QuantityRequest, layer: int) -> HeadArrays:
    if not request.resolved.is_changed:
        raise EditError("Nothing is changed yet. Switch a head off or exchange a part; then this shows the difference.")
    before = replace(request, resolved=request.resolved.as_trained)
    return _subtract(_weights(request, layer), _weights(before, layer))


def _minus_text(request: QuantityRequest, layer: int) -> HeadArrays:
    if not request.other_text.strip():
        raise EditError("Type the text to compare with; it must have as many tokens as this one.")
    there = replace(request, resolved=request.about_other_text)
    here, other = _weights(request, layer), _weights(there, layer)
    if here[0].shape != other[0].shape:
        counts = f"this one has {here[0].shape[-1]} and the other {other[0].shape[-1]}"
        raise EditError(f"Two texts are compared token by token, so they must have equally many: {counts}.")
    return _subtract(here, other)


def _single_head(heads: HeadArrays, head: int) -> HeadArrays:
    return heads[0][head : head + 1], heads[1][head : head + 1]


def _subtract(here: HeadArrays, there: HeadArrays) -> HeadArrays:
    return here[0] - there[0], here[1] | there[1]


QUANTITIES: Registry[Quantity] = Registry(
    "quantity",
    {
        "weights": Quantity("Weights", "attention weight", _weights, scale="probability"),
        "scores": Quantity("Scores", "score q·k before mask and softmax", _scores, additive=False),
        "masked_scores": Quantity("Masked scores", "score where the mask allows it", _masked_scores, additive=False),
        "value_norm": Quantity(
            "Weight × value",
            "length of weight × value × output projection (Kobayashi et al. 2020)",
            _value_norm,
            scale="sqrt",
        ),
        "rollout": Quantity(
            "Rollout", "rollout of all heads up to this layer (Abnar & Zuidema 2020)", _rollout, scale="probability"
        ),
        "gradient": Quantity("Gradient × weight", "weight × gradient", _gradient, signed=True),
        "minus_head": Quantity("Minus another head", "weight minus that of", _minus_head, signed=True),
        "minus_trained": Quantity(
            "Minus as trained", "weight minus that of the model as trained", _minus_trained, signed=True
        ),
        "minus_text": Quantity("Minus another text", "weight minus that in the other text", _minus_text, signed=True),
    },
)
