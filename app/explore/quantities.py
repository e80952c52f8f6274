"""What can be shown of a head: a table of kinds, each the numbers of one layer's heads and the cells that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from app.services.traces import trace, value, wired
from app.state.state import Question
from model.analysis.gradients import gradient
from model.analysis.rollout import rollout
from model.analysis.value_norms import weighted_norm
from model.attention_groups import Grid
from model.errors import EditError
from model.registry import Registry

Heads = tuple[np.ndarray, np.ndarray]  # numbers and allowed cells, both [head query key]


@dataclass(frozen=True)
class Asked:
    """Whose numbers are wanted: `other` is the text and `versus` the head (layer, head) of a difference.

    `place` and `token` name the prediction whose gradient is taken.
    """

    question: Question
    grid: Grid
    other: str = ""
    versus: tuple[int, int] = (0, 0)
    place: int = -1
    token: int = 0

    def path(self, layer: int) -> str:
        """The attention of a layer."""
        return f"{self.grid.stack}.{layer}.{self.grid.kind}"

    @property
    def elsewhere(self) -> Question:
        """The same question about the other text (of a picture: the other picture's name); nothing is masked in it."""
        bare = replace(self.question, masked=())
        if wired(bare).config.picture.channels:
            return replace(bare, image=self.other)
        return replace(bare, source=self.other) if self.grid.keys == "source" else replace(bare, text=self.other)


@dataclass(frozen=True)
class Kind:
    """One thing to see: its name in the menu, what it is in half a sentence, and how it is made for a layer.

    `signed` numbers have a sign that matters. `scale` is "share" (0 to 1, painted by its square root), "root" or
    "linear". What is `additive` may be summed over the tokens of a word, and cut to its largest.
    """

    title: str
    about: str
    of: Callable[[Asked, int], Heads]
    signed: bool = False
    scale: str = "linear"
    additive: bool = True


def _weights(asked: Asked, layer: int) -> Heads:
    weights = value(asked.question, f"{asked.path(layer)}.weights")
    return weights, _allowed(asked.question, asked.path(layer), weights)


def _allowed(question: Question, path: str, weights: np.ndarray) -> np.ndarray:
    return np.broadcast_to(value(question, f"{path}.mask") > 0, weights.shape)


def _scores(asked: Asked, layer: int) -> Heads:
    """Before the mask, so that it shows what the mask takes away."""
    scores = value(asked.question, f"{asked.path(layer)}.scores")
    return scores, np.ones(scores.shape, dtype=bool)


def _masked(asked: Asked, layer: int) -> Heads:
    masked = value(asked.question, f"{asked.path(layer)}.masked")
    return masked, _allowed(asked.question, asked.path(layer), masked)


def _moved(asked: Asked, layer: int) -> Heads:
    path = asked.path(layer)
    held = trace(asked.question, (f"{path}.weights", f"{path}.v"))
    return weighted_norm(wired(asked.question), held, path), _weights(asked, layer)[1]


def _rollout(asked: Asked, layer: int) -> Heads:
    if asked.grid.kind != "self":
        raise EditError("Rollout follows a text through its own attention; attention to another text has none.")
    reached = rollout(trace(asked.question).attention(stack=asked.grid.stack))[layer]
    every = np.broadcast_to(reached, (asked.grid.heads, *reached.shape))
    return every, every > 0


def _gradient(asked: Asked, layer: int) -> Heads:
    weights, allowed = _weights(asked, layer)
    slopes = gradient(wired(asked.question), trace(asked.question), asked.path(layer), asked.place, asked.token)
    return weights * slopes, allowed


def _versus_head(asked: Asked, layer: int) -> Heads:
    layer_there, head = asked.versus
    return _difference(_weights(asked, layer), _one(_weights(asked, layer_there), head))


def _versus_trained(asked: Asked, layer: int) -> Heads:
    if asked.question == asked.question.untouched:
        raise EditError("Nothing is changed yet. Switch a head off or exchange a part; then this shows the difference.")
    before = replace(asked, question=asked.question.untouched)
    return _difference(_weights(asked, layer), _weights(before, layer))


def _versus_text(asked: Asked, layer: int) -> Heads:
    if not asked.other.strip():
        raise EditError("Type the text to compare with; it must have as many tokens as this one.")
    there = replace(asked, question=asked.elsewhere)
    here, other = _weights(asked, layer), _weights(there, layer)
    if here[0].shape != other[0].shape:
        counts = f"this one has {here[0].shape[-1]} and the other {other[0].shape[-1]}"
        raise EditError(f"Two texts are compared token by token, so they must have equally many: {counts}.")
    return _difference(here, other)


def _one(heads: Heads, head: int) -> Heads:
    return heads[0][head : head + 1], heads[1][head : head + 1]


def _difference(here: Heads, there: Heads) -> Heads:
    return here[0] - there[0], here[1] | there[1]


KINDS: Registry[Kind] = Registry(
    "view",
    {
        "weights": Kind("Weights", "attention weight", _weights, scale="share"),
        "scores": Kind("Scores", "score q·k before mask and softmax", _scores, additive=False),
        "masked": Kind("Masked scores", "score where the mask allows it", _masked, additive=False),
        "moved": Kind(
            "Weight × value",
            "length of weight × value × output projection (Kobayashi et al. 2020)",
            _moved,
            scale="root",
        ),
        "rollout": Kind(
            "Rollout", "rollout of all heads up to this layer (Abnar & Zuidema 2020)", _rollout, scale="share"
        ),
        "gradient": Kind("Gradient × weight", "weight × gradient", _gradient, signed=True),
        "head": Kind("Minus another head", "weight minus that of", _versus_head, signed=True),
        "trained": Kind("Minus as trained", "weight minus that of the model as trained", _versus_trained, signed=True),
        "text": Kind("Minus another text", "weight minus that in the other text", _versus_text, signed=True),
    },
)
