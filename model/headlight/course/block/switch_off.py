"""Parts of a trained model switched off, one at a time, and the loss on a sentence."""

from __future__ import annotations

from math import log

import torch
from torch import Tensor

from headlight.cancellation import check_cancelled
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import BarsPicture, ScreenLink, TablePicture, row, verdict_row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import sentence_batch, target_loss
from headlight.nn.hooks import Hook
from headlight.nn.stack import NORM_PLACEMENTS, ResidualConnection
from headlight.nn.transformer import Transformer
from headlight.tracing.interventions import InterventionHook
from headlight.tracing.run import parse_interventions
from headlight.training.objectives.batch import Batch

RESIDUALS = ("residual", "residual_after_self", "residual_after_cross")
CONNECTIONS = {"self": "self_attention_residual", "cross": "cross_attention_residual"}  # by a part of a path


class SublayerSwitches:
    """A hook on the blocks of a model: each residual connection without its stream, or without its norms.

    Where `residual` is off, a sublayer's output is added to nothing; where `norm` is off, the norms, wherever they
    stand, are left out. Use a new one for each forward pass: it remembers the values before.
    """

    def __init__(self, model: Transformer, residual: bool = True, norm: bool = True) -> None:
        self.model, self.residual, self.norm = model, residual, norm
        self._stream: Tensor | None = None
        self._output: tuple[ResidualConnection, Tensor] | None = None

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value, as it is without the parts that are off."""
        place, _, name = path.rpartition(".")
        if name in RESIDUALS:
            self._stream = value if self._stream is None or self._output is None else self._joined(self._stream)
            return self._stream
        if name == "input" and not self.norm and self._stream is not None:
            return self._stream
        if name == "output":
            self._output = self._connection(place), value
        return value

    def _connection(self, path: str) -> ResidualConnection:
        """The residual connection around the sublayer at a path (`decoder.3.self`)."""
        stack, layer, sublayer = path.split(".")
        block = self.model.stack(stack).blocks[int(layer)]
        connection = getattr(block, CONNECTIONS.get(sublayer, "feed_forward_residual"))
        assert isinstance(connection, ResidualConnection)
        return connection

    def _joined(self, stream: Tensor) -> Tensor:
        """The stream after a sublayer, by the connection's own arithmetic with the parts that are on."""
        assert self._output is not None
        connection, output = self._output
        norms = (connection.norm, connection.output_norm) if self.norm else (torch.nn.Identity(), torch.nn.Identity())
        residual = stream if self.residual else torch.zeros_like(stream)
        return connection.placement.apply(stream, residual, norms[0], lambda h: output, norms[1])


def can_separate(config: Config) -> bool:
    """Whether norms and residual connections can be switched off one without the other.

    Not where sublayers stand side by side, nor where the stream itself is replaced by its norm.
    """
    return not config.parallel_residual and NORM_PLACEMENTS[config.norm_placement].norm_on_stream != "before"


Part = tuple[str, str, str]  # its name, the edit that switches it off (or ""), and how that reads


def switch_off(model: Checkpoint, text: str) -> Answer:
    """The loss with each part off in all layers, and with attention and feed-forward off in each."""
    network = model.model
    _, batch = sentence_batch(model, text)
    whole = target_loss(network, batch)
    parts = losses_without_parts(network, batch)
    layers = losses_by_layer(network, batch)
    worst = max(parts, key=lambda name: parts[name])
    return (
        row(
            BarsPicture(
                title="Loss on this sentence, with one part off in all layers (nats for each token predicted)",
                labels=("everything on", *(f"no {name}" for name in parts)),
                series={"": [whole, *parts.values()]},
                note=f"{batch.target_count} tokens are predicted; guessing at random costs "
                f"{log(network.config.vocabulary_size):.2f}.",
            ),
            question=ask_largest("Without which part will this trained model predict worst?", parts),
        ),
        row(
            BarsPicture(
                title="Off in one layer only: what is added to the loss",
                labels=tuple(f"layer {layer}" for layer in range(len(layers["attention"]))),
                series={name: [loss - whole for loss in losses] for name, losses in layers.items()},
            )
        ),
        verdict_row(
            f"Most is lost without {worst}: {parts[worst] - whole:+.2f} nats. The model was trained with all "
            "of its parts: this tells what it relies on, not how a model that was trained without one would do."
        ),
        row(_edits(network), title="How each is switched off"),
    )


def losses_without_parts(model: Transformer, batch: Batch) -> dict[str, float]:
    """The loss without each part, in all layers."""
    losses = {}
    for name, edit, _ in _parts(model):
        hook: Hook = (
            _edit_hook(edit)
            if edit
            else SublayerSwitches(model, residual="residual" not in name, norm="norm" not in name)
        )
        losses[name] = target_loss(model, batch, hook)
        check_cancelled()
    return losses


def losses_by_layer(model: Transformer, batch: Batch) -> dict[str, list[float]]:
    """The loss with attention, or the feed-forward network, off in one layer."""
    stack, losses = model.config.stacks[-1], {}
    kinds = {"attention": "self"} | ({"feed-forward": "feed_forward"} if model.config.has_feed_forward else {})
    for name, module in kinds.items():
        edits = [f"{stack}.{layer}.{module}.output=set:0" for layer in range(model.config.num_layers(stack))]
        losses[name] = [target_loss(model, batch, _edit_hook(edit)) for edit in edits]
        check_cancelled()
    return losses


def _edit_hook(edit: str) -> Hook:
    return InterventionHook(parse_interventions((edit,)))


def _parts(model: Transformer) -> tuple[Part, ...]:
    """The parts that the model has and that can be switched off in it."""
    config, stack = model.config, model.config.stacks[-1]
    placement, separable = NORM_PLACEMENTS[config.norm_placement], can_separate(config)
    has = {
        "feed-forward": config.has_feed_forward,
        "positions": config.positional_encoding != "none",
        "1/√d": config.scale,
        "norms": separable and (placement.norm_before or placement.norm_after),
        "residual connections": separable and placement.has_residual,
    }
    parts = (
        ("attention", f"{stack}.*.self.output=set:0", "an edit: its output is 0"),
        ("feed-forward", f"{stack}.*.feed_forward.output=set:0", "an edit: its output is 0"),
        ("positions", f"{stack}.position_ids=set:0", "an edit: every token stands at position 0"),
        ("1/√d", f"{stack}.*.self.scale=set:1", "an edit: scores are not scaled"),
        ("norms", "", "a hook: no norm in any layer; a final norm after them stays"),
        ("residual connections", "", "a hook: a sublayer's output is added to nothing"),
    )
    return tuple(part for part in parts if has.get(part[0], True))


def _edits(model: Transformer) -> TablePicture:
    rows = tuple((name, edit or "—", text) for name, edit, text in _parts(model))
    note = (
        "Norms and residual connections cannot be taken apart in this model." if not can_separate(model.config) else ""
    )
    return TablePicture(columns=("part", "edit", "what it does"), rows=rows, note=note)


SWITCH_OFF = Screen(
    title="Switch each part off",
    lesson="A trained model reads your sentence, once whole and once without each of its parts. The loss tells how "
    "surprised it is by the words that follow (or that are masked, in a model that fills masks: here every fourth).",
    controls={
        "model": ModelControl(default="stories-causal", needs="predicts-tokens"),
        "text": TextControl(title="Sentence", default="Once upon a time there was a little girl. She loved to play."),
    },
    compute=switch_off,
    formulas=(r"L = -\frac{1}{n} \sum_i \log p(\mathrm{token}_i)",),
    code=(target_loss, SublayerSwitches),
    explore=link("model", "text", fixed={"tab": "model"}),
    see_also=(ScreenLink("training", "ladder"),),
)
