"""The quantities that a head's view can show: a number for each query and key, and whether the mask allows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from headlight.analysis.attention_maps import attention_rollout
from headlight.analysis.contacts import predict_contacts
from headlight.analysis.moved_values import moved_values
from headlight.analysis.residual_stream import require_attention_alone
from headlight.analysis.weight_importance import attention_gradient, weighted_value_norm
from headlight.attention_groups import AttentionGroup
from headlight.config import Config
from headlight.errors import EditError
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.registry import Registry
from headlight.text.word_groups import TokenGroups
from headlight_app.contract.question import MEASURES
from headlight_app.contract.state import HeadChoice
from headlight_app.inference.resolved_question import ResolvedQuestion

HeadArrays = tuple[np.ndarray, np.ndarray]  # numbers and allowed cells, both [head query key]
Compute = Callable[["QuantityRequest", int], HeadArrays]  # computes all heads of a layer
JoinKeys = Callable[["QuantityRequest", int, TokenGroups], np.ndarray]  # numbers, [head query group]


@dataclass(frozen=True)
class QuantityRequest:
    """The inputs of a quantity: a question, and one kind of attention in it.

    A difference subtracts `other_text` or `other_head` (layer, head); a gradient is taken of the probability of `token`
    at `position`.
    """

    resolved: ResolvedQuestion
    attention_group: AttentionGroup
    other_text: str = ""
    other_head: tuple[int, int] = (0, 0)
    position: int = -1
    token: int = 0

    @property
    def about_other_text(self) -> ResolvedQuestion:
        """The same question about the other text (or the name of an image or sound), without masked positions."""
        config = self.resolved.config
        is_signal = not config.reads_text or (config.reads_signal and self.attention_group.keys == "source")
        field = "image" if is_signal else "source" if self.attention_group.keys == "source" else "text"
        return self.resolved.with_input(masked_positions=(), **{field: self.other_text})


@dataclass(frozen=True)
class Expression:
    """The Python code that computes a quantity for `head` of the attention at `path`, from `trace`.

    `imports` is a line of Python; a partial trace must keep the `hook_points`. `other` is the question whose trace the
    code calls `other`. A <word> in the code is a placeholder for a value of the request.
    """

    code: str
    imports: str = ""
    hook_points: tuple[str, ...] = ("weights",)
    other: Callable[[QuantityRequest], ResolvedQuestion] | None = None


@dataclass(frozen=True)
class Quantity:
    """A quantity: its title in the menu, a short description, and its computation for a layer.

    The sign of `signed` numbers matters. `scale` is "probability" (0 to 1, painted by its square root), "sqrt" or
    "linear". An `additive` quantity can be summed over the tokens of a word, and limited to its largest values;
    `join_keys` computes it for whole words if it is not a plain sum. The value of a `hook_point` can be recomputed for
    one region of a long text; other quantities need all heads of a layer. A quantity `of_all_heads` is the same for
    each head. `note` names the parts of a model it ignores, `exists` says whether a model has it; `require` raises a
    HeadlightError, with the reason, for a model in which it cannot be computed.
    """

    title: str
    description: str
    compute: Compute
    expression: Expression
    signed: bool = False
    scale: Literal["probability", "sqrt", "linear"] = "linear"
    additive: bool = True
    join_keys: JoinKeys | None = None
    hook_point: str = ""
    is_masked: bool = True
    of_all_heads: bool = False
    note: Callable[[Config, AttentionGroup], str] = lambda config, group: ""
    exists: Callable[[Config], bool] = lambda config: True
    require: Callable[[Config], None] = lambda config: None


def _recorded(hook_point: str, is_masked: bool = True) -> Compute:
    """The values of a hook point; without the mask, all of them count as allowed."""

    def compute(request: QuantityRequest, layer: int) -> HeadArrays:
        values = request.resolved.value(f"{request.attention_group.path(layer)}.{hook_point}")
        if not is_masked:
            return values, np.ones(values.shape, dtype=bool)
        allowed = request.resolved.value(f"{request.attention_group.path(layer)}.mask") > 0
        return values, np.broadcast_to(allowed, values.shape)

    return compute


_weights = _recorded("weights")


def _value_norm(request: QuantityRequest, layer: int) -> HeadArrays:
    path = request.attention_group.path(layer)
    traced = request.resolved.trace_of(f"{path}.weights", f"{path}.v")
    return weighted_value_norm(request.resolved.model, traced, path), _weights(request, layer)[1]


def _value_norm_of_words(request: QuantityRequest, layer: int, key_groups: TokenGroups) -> np.ndarray:
    path = request.attention_group.path(layer)
    traced = request.resolved.trace_of(f"{path}.weights", f"{path}.v")
    return weighted_value_norm(request.resolved.model, traced, path, key_groups)


def _moved(request: QuantityRequest, layer: int) -> HeadArrays:
    path = request.attention_group.path(layer)
    traced = request.resolved.trace_of(f"{path}.weights", f"{path}.v")
    return moved_values(request.resolved.model, traced, path).length, _weights(request, layer)[1]


def has_residual(config: Config) -> bool:
    """Whether the model has residual connections."""
    return NORM_PLACEMENTS[config.norm_placement].has_residual


def _rollout(request: QuantityRequest, layer: int) -> HeadArrays:
    if request.attention_group.kind != "self":
        raise EditError("Rollout follows a text through its own attention; attention to another text has none.")
    QUANTITIES["rollout"].require(request.resolved.config)
    weights = request.resolved.trace.attention(stack=request.attention_group.stack)
    rollout_weights = attention_rollout(weights, has_residual(request.resolved.config))[layer]
    per_head = np.broadcast_to(rollout_weights, (request.attention_group.heads, *rollout_weights.shape))
    return per_head, per_head > 0


def _contacts(request: QuantityRequest, layer: int) -> HeadArrays:
    resolved = request.resolved
    touching = predict_contacts(resolved.model, resolved.trace)
    per_head = np.broadcast_to(touching, (request.attention_group.heads, *touching.shape))
    return per_head, per_head > 0


def _rollout_note(config: Config, group: AttentionGroup) -> str:
    """The parts of this model that a rollout ignores."""
    if not has_residual(config):
        return "without a residual stream, because this model has no residual connections"
    reads_source = config.has_cross_attention and group.stack == "decoder"
    return "without what attention to the source brings" if reads_source else ""


def _gradient(request: QuantityRequest, layer: int) -> HeadArrays:
    weights, allowed = _weights(request, layer)
    gradients = attention_gradient(
        request.resolved.model,
        request.resolved.trace,
        request.attention_group.path(layer),
        request.position,
        request.token,
    )
    return weights * gradients, allowed


def _minus_head(request: QuantityRequest, layer: int) -> HeadArrays:
    other_layer, head = request.other_head
    return _subtract(_weights(request, layer), _single_head(_weights(request, other_layer), head))


def _minus_trained(request: QuantityRequest, layer: int) -> HeadArrays:
    if not request.resolved.is_changed:
        raise EditError("Nothing is changed yet. Switch a head off or replace a part to see the difference.")
    trained = replace(request, resolved=request.resolved.as_trained)
    return _subtract(_weights(request, layer), _weights(trained, layer))


def _minus_text(request: QuantityRequest, layer: int) -> HeadArrays:
    if not request.other_text.strip():
        raise EditError("Type the text to compare with; it must have as many tokens as this text.")
    weights = _weights(request, layer)
    other_weights = _weights(replace(request, resolved=request.about_other_text), layer)
    if weights[0].shape != other_weights[0].shape:
        counts = f"this one has {weights[0].shape[-1]} and the other {other_weights[0].shape[-1]}"
        raise EditError(f"Two texts are compared token by token, so they must have equally many tokens: {counts}.")
    return _subtract(weights, other_weights)


def _single_head(heads: HeadArrays, head: int) -> HeadArrays:
    return heads[0][head : head + 1], heads[1][head : head + 1]


def _subtract(minuend: HeadArrays, subtrahend: HeadArrays) -> HeadArrays:
    return minuend[0] - subtrahend[0], minuend[1] | subtrahend[1]


_WEIGHTS, _OTHER_WEIGHTS = 'trace[f"{path}.weights"][head]', 'other[f"{path}.weights"][head]'

QUANTITIES: Registry[Quantity] = Registry(
    "quantity",
    {
        "weights": Quantity(
            "Weights", "attention weight", _weights, Expression(_WEIGHTS), scale="probability", hook_point="weights"
        ),
        "scores": Quantity(
            "Scores",
            "score q·k before mask and softmax",
            _recorded("scores", is_masked=False),
            Expression('trace[f"{path}.scores"][head]', hook_points=("scores",)),
            additive=False,
            hook_point="scores",
            is_masked=False,
        ),
        "masked_scores": Quantity(
            "Masked scores",
            "score where the mask allows it",
            _recorded("masked_scores"),
            Expression('trace[f"{path}.masked_scores"][head]', hook_points=("masked_scores",)),
            additive=False,
            hook_point="masked_scores",
        ),
        "value_norm": Quantity(
            "Weight × value",
            "length of weight × value × output projection (Kobayashi et al. 2020)",
            _value_norm,
            Expression(
                "weighted_value_norm(model, trace, path)[head]",
                "from headlight.analysis.weight_importance import weighted_value_norm",
                ("weights", "v"),
            ),
            scale="sqrt",
            join_keys=_value_norm_of_words,
        ),
        "moved": Quantity(
            "By what moves",
            MEASURES["moved"],
            _moved,
            Expression(
                "moved_values(model, trace, path).length[head]",
                "from headlight.analysis.moved_values import moved_values",
                ("weights", "v"),
            ),
            scale="probability",
        ),
        "rollout": Quantity(
            "Rollout",
            "rollout of all heads up to this layer (Abnar & Zuidema 2020)",
            _rollout,
            Expression(
                'attention_rollout(trace.attention(stack="<stack>"), residual=<residual>)[layer]',
                "from headlight.analysis.attention_maps import attention_rollout",
            ),
            scale="probability",
            of_all_heads=True,
            note=_rollout_note,
            require=lambda config: require_attention_alone(config, "attention rollout"),
        ),
        "contacts": Quantity(
            "Contacts",
            "probability that two residues touch, from all heads of all layers (Rao et al. 2021)",
            _contacts,
            Expression("predict_contacts(model, trace)", "from headlight.analysis.contacts import predict_contacts"),
            scale="probability",
            additive=False,
            of_all_heads=True,
            exists=lambda config: config.output_head_config.contact_end_id is not None,
        ),
        "gradient": Quantity(
            "Gradient × weight",
            "weight × gradient",
            _gradient,
            Expression(
                f"{_WEIGHTS} * attention_gradient(model, trace, path, <position>, <token>)[head]",
                "from headlight.analysis.weight_importance import attention_gradient",
            ),
            signed=True,
        ),
        "minus_head": Quantity(
            "Minus another head",
            "weight minus the weight of",
            _minus_head,
            Expression(f'{_WEIGHTS} - trace["<other_path>"][<other_head>]'),
            signed=True,
        ),
        "minus_trained": Quantity(
            "Minus as trained",
            "weight minus the weight in the model as trained",
            _minus_trained,
            Expression(f"{_WEIGHTS} - {_OTHER_WEIGHTS}", other=lambda request: request.resolved.as_trained),
            signed=True,
        ),
        "minus_text": Quantity(
            "Minus another text",
            "weight minus the weight in the other text",
            _minus_text,
            Expression(f"{_WEIGHTS} - {_OTHER_WEIGHTS}", other=lambda request: request.about_other_text),
            signed=True,
        ),
    },
)


def shown_quantity(resolved: ResolvedQuestion, choice: HeadChoice) -> str:
    """The displayed quantity of a choice: "moved" replaces the weights if the question requests it."""
    return "moved" if choice.quantity == "weights" and resolved.shows_moved else choice.quantity


def quantity_json(name: str) -> dict[str, str | bool]:
    """A quantity for the browser."""
    quantity = QUANTITIES[name]
    return {
        "name": name,
        "title": quantity.title,
        "description": quantity.description,
        "scale": quantity.scale,
        "additive": quantity.additive,
    }
