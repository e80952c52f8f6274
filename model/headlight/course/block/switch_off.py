"""Parts switched off: one at a time in a trained model, and in models that are trained without them on the spot."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Int
from headlight.cancellation import check_cancelled
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config
from headlight.course.controls import CountControl, ModelControl, SeedControl, TextControl
from headlight.course.fitting import fit
from headlight.course.language_modeling.ladder import windows
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import sentence_batch, target_loss
from headlight.errors import InputError
from headlight.nn.hooks import Hook
from headlight.nn.stack import NORM_PLACEMENTS, ResidualConnection
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_largest
from headlight.tracing.interventions import InterventionHook, parse_interventions
from headlight.training.objectives.batch import Batch
from headlight.views.forms import bars
from headlight.views.kinds import BarsView, LinesView, ScreenLink, TableView
from headlight.views.rows import row
from headlight.views.words import digits, signed

RESIDUALS = ("residual", "residual_after_self", "residual_after_cross")
CONNECTIONS = {"self": "self_attention_residual", "cross": "cross_attention_residual"}  # by a component of a path


class SublayerSwitches:
    """A hook on the blocks of a model: each residual connection without its stream, or without its norms.

    If `residual` is off, a sublayer's output replaces the stream; if `norm` is off, all norms around it are left out.
    Use a new one for each forward pass: it remembers the values before.
    """

    def __init__(self, model: Transformer, residual: bool = True, norm: bool = True) -> None:
        self.model, self.residual, self.norm = model, residual, norm
        self._stream: Tensor | None = None
        self._output: tuple[ResidualConnection, Tensor] | None = None

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value without the parts that are off."""
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
        """The stream after a sublayer, computed by the connection itself with the parts that are on."""
        assert self._output is not None
        connection, output = self._output
        norms = (connection.norm, connection.output_norm) if self.norm else (torch.nn.Identity(), torch.nn.Identity())
        residual = stream if self.residual else torch.zeros_like(stream)
        read = connection.placement.sublayer_input(stream, norms[0])
        return connection.placement.add(residual, read, output, *norms)


def can_separate(config: Config) -> bool:
    """Whether norms and residual connections can be switched off separately.

    This is impossible for parallel sublayers, if a norm replaces the stream, and if a block does more than add its
    sublayers to one stream.
    """
    is_replaced = NORM_PLACEMENTS[config.norm_placement].norm_on_stream == "before"
    return config.only_adds_sublayers and not config.residual.parallel and not is_replaced


Part = tuple[str, str, str]  # its name, the edit that switches it off (or ""), and a description of that


def switch_off(model: Checkpoint, text: str) -> ScreenRows:
    """The loss with each part off in all layers, and with attention and feed-forward off in each."""
    network = model.model
    _, batch = sentence_batch(model, text)
    whole = target_loss(network, batch)
    parts = losses_without_parts(network, batch)
    layers = losses_by_layer(network, batch)
    worst = max(parts, key=lambda name: parts[name])
    return (
        row(
            bars(
                "Loss on this sentence, with one part off in all layers (nats for each token predicted)",
                ("everything on", *(f"no {name}" for name in parts)),
                [whole, *parts.values()],
                note=f"{batch.target_count} tokens are predicted; guessing at random costs "
                f"{log(network.config.vocabulary_size):.2f}.",
            ),
            question=ask_largest("Without which part will this trained model predict worst?", parts),
        ),
        BarsView(
            title="Off in one layer only: increase of the loss",
            labels=tuple(f"layer {layer}" for layer in range(len(layers["attention"]))),
            series={name: [loss - whole for loss in losses] for name, losses in layers.items()},
        ),
        f"The loss rises most without {worst}: {signed(parts[worst] - whole)} nats. The model was trained with all of "
        "its parts: this shows what it relies on, not how well a model that was trained without a part would do.",
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
    """The parts of the model that can be switched off."""
    config, stack = model.config, model.config.stacks[-1]
    placement, separable = NORM_PLACEMENTS[config.norm_placement], can_separate(config)
    has = {
        "feed-forward": config.has_feed_forward,
        "positions": config.positional_encoding != "none",
        "1/√d": config.attention.scale,
        "norms": separable and (placement.norm_before or placement.norm_after),
        "residual connections": separable and placement.has_residual,
    }
    parts = (
        ("attention", f"{stack}.*.self.output=set:0", "an edit: its output is 0"),
        ("feed-forward", f"{stack}.*.feed_forward.output=set:0", "an edit: its output is 0"),
        ("positions", f"{stack}.position_ids=set:0", "an edit: every token is at position 0"),
        ("1/√d", f"{stack}.*.self.scale=set:1", "an edit: scores are not scaled"),
        ("norms", "", "in the code: no norm in any layer; a final norm after them stays"),
        ("residual connections", "", "in the code: a sublayer's output replaces the stream"),
    )
    return tuple(part for part in parts if has.get(part[0], True))


def _edits(model: Transformer) -> TableView:
    rows = tuple((name, edit or "—", text) for name, edit, text in _parts(model))
    note = (
        "Norms and residual connections cannot be switched off separately in this model."
        if not can_separate(model.config)
        else ""
    )
    return TableView(("part", "edit", "what it does"), rows, note=note)


SWITCH_OFF = Screen(
    title="Switch each part off",
    lesson="A trained model reads your sentence, once whole and once without each of its parts. The loss shows how "
    "much the next words surprise it (or the masked words, in a model that fills masks: here every fourth).",
    controls={
        "model": ModelControl(default="stories-causal", needs="predicts-tokens"),
        "text": TextControl("Sentence", "Once upon a time there was a little girl. She loved to play."),
    },
    compute=switch_off,
    formulas=(r"L = -\frac{1}{n} \sum_i \log p(\mathrm{token}_i)",),
    code=(target_loss, SublayerSwitches),
    explore=link("model", "text", fixed={"tab": "model"}),
    see_also=(ScreenLink("training", "ladder"),),
)


# The name of each of the four, and whether residual connections and norms are on.
CONDITIONS = {
    "both": (True, True),
    "no norm": (True, False),
    "no residual": (False, True),
    "neither": (False, False),
}
WINDOW, ROWS, D_MODEL, HEADS = 16, 8, 32, 4
LEARNING_RATE = 3e-3


@dataclass(frozen=True)
class Training:
    """Losses of each step, and the 2-norm of the gradient of each layer at the first step."""

    losses: list[float]
    gradients: list[float]


def gradients(text: str, depth: int, steps: int, seed: int) -> ScreenRows:
    """Four models from the same seed, trained on the same batches of the learner's text."""
    runs = {name: train(text, depth, steps, seed, *parts) for name, parts in CONDITIONS.items()}
    return (
        row(
            LinesView(
                "Gradient of each layer at the first step (2-norm)",
                range(depth),
                {name: training.gradients for name, training in runs.items()},
                "layer (0 is the first; the loss comes after the last)",
                "gradient",
                log_y=True,
            ),
            LinesView(
                "Loss in training (nats per character)",
                range(1, steps + 1),
                {name: training.losses for name, training in runs.items()},
                "step",
                "loss",
            ),
            question=ask_largest(
                "In which network does the first layer get the largest gradient?",
                {name: training.gradients[0] for name, training in runs.items()},
            ),
        ),
        _told(runs),
    )


def train(text: str, depth: int, steps: int, seed: int, residual: bool, norm: bool) -> Training:
    """A character model of `depth` layers, trained for some steps on windows of the text."""
    ids = character_ids(text)
    torch.manual_seed(seed)
    model = Transformer(
        Config(
            vocabulary_size=(int(ids.max()) + 1),
            context_length=WINDOW,
            d_model=D_MODEL,
            layers=depth,
            heads=HEADS,
            norm="layernorm",
            feed_forward="gelu",
            positional_encoding="rope",
            bias=True,
        )
    ).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    batches, gradients = windows(ids, WINDOW + 1, steps, seed, ROWS), list[float]()

    def loss() -> Tensor:
        batch = next(batches)
        logits = model(batch[:, :-1], hook=SublayerSwitches(model, residual, norm))
        return functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())

    def keep_first(step: int) -> None:
        if step == 0:
            gradients.extend(gradient_norms(model))

    return Training(fit(optimizer, loss, steps, after_backward=keep_first), gradients)


def gradient_norms(model: Transformer) -> list[float]:
    """The 2-norm of the gradient of all parameters of each block."""
    blocks = model.stack(model.config.stacks[-1]).blocks
    gradients = ([p.grad for p in block.parameters() if p.grad is not None] for block in blocks)
    return [float(torch.stack([gradient.norm() for gradient in each]).norm()) for each in gradients]


def character_ids(text: str) -> Int[Tensor, " pos"]:
    """Each character's index, in the text repeated until a window fits. Raises InputError for fewer than two kinds."""
    characters = sorted(set(text))
    if len(characters) < 2:
        raise InputError("The text has only one kind of character; there is nothing to learn. Type a sentence.")
    repeated = (text + " ") * (2 + WINDOW // len(text))
    known = sorted(set(repeated))
    return torch.tensor([known.index(each) for each in repeated])


def _told(runs: dict[str, Training]) -> str:
    last = {name: training.losses[-1] for name, training in runs.items()}
    best = min(last, key=lambda name: last[name])
    both, neither = (runs[name].gradients for name in ("both", "neither"))
    return (
        f"The first layer's gradient is {digits(both[0], 2)} with both parts and {digits(neither[0], 1)} with neither. "
        f"After {len(runs['both'].losses)} steps “{best}” has the lowest loss: "
        + ", ".join(f"{name} {loss:.2f}" for name, loss in last.items())
        + "."
    )


GRADIENTS = Screen(
    title="Why residuals and norms: the gradient by layer",
    lesson="Four small models begin with the same weights and learn your text, character by character, here and now: "
    "with residual connections and norms, without one of them, and without both. See how much of the gradient reaches "
    "the first layer, and which of them learn.",
    controls={
        "text": TextControl("Text to learn", "The cat chased the dog, and the dog chased the cat."),
        "depth": CountControl("Layers", "6", 2, 16),
        "steps": CountControl("Steps", "20", 5, 100, step=5),
        "seed": SeedControl(),
    },
    compute=gradients,
    formulas=(r"g_l = \lVert \nabla_{\theta_l} L \rVert",),
    code=(train, fit, gradient_norms, SublayerSwitches),
    is_long=True,
)
