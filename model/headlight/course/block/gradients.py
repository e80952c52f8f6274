"""Gradients by layer in models that are trained here and now, with and without residual connections and norms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Int
from headlight.config import Config
from headlight.course.block.switch_off import SublayerSwitches
from headlight.course.controls import NumberControl, SeedControl, TextControl
from headlight.course.fitting import fit
from headlight.course.pictures import LinesPicture, row, verdict_row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen
from headlight.errors import InputError
from headlight.nn.transformer import Transformer

# The name of each of the four, and what is on in it: residual connections, norms.
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


def gradients(text: str, depth: int, steps: int, seed: int) -> Answer:
    """Four models from the same seed, trained on the same batches of the learner's text."""
    runs = {name: train(text, depth, steps, seed, *parts) for name, parts in CONDITIONS.items()}
    return (
        row(
            LinesPicture(
                title="Gradient of each layer at the first step (2-norm)",
                x=list(range(depth)),
                series={name: training.gradients for name, training in runs.items()},
                x_title="layer (0 is the first; the loss is behind the last)",
                y_title="gradient",
                log_y=True,
            ),
            LinesPicture(
                title="Loss while they learn (nats a character)",
                x=list(range(1, steps + 1)),
                series={name: training.losses for name, training in runs.items()},
                x_title="step",
                y_title="loss",
            ),
            question=ask_largest(
                "In which network does the first layer get the largest gradient?",
                {name: training.gradients[0] for name, training in runs.items()},
            ),
        ),
        verdict_row(_told(runs)),
    )


def train(text: str, depth: int, steps: int, seed: int, residual: bool, norm: bool) -> Training:
    """A character model of `depth` layers, trained for some steps on windows of the text."""
    ids = character_ids(text)
    torch.manual_seed(seed)
    model = Transformer(_config(int(ids.max()) + 1, depth)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    batches, gradients = _windows(ids, steps, seed), list[float]()

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
    """Each character's number, the text repeated until a window fits. Raises InputError for less than two kinds."""
    characters = sorted(set(text))
    if len(characters) < 2:
        raise InputError("The text has only one kind of character; there is nothing to learn. Type a sentence.")
    repeated = (text + " ") * (2 + WINDOW // len(text))
    known = sorted(set(repeated))
    return torch.tensor([known.index(each) for each in repeated])


def _config(vocabulary_size: int, depth: int) -> Config:
    return Config(
        vocabulary_size=vocabulary_size, context_length=WINDOW, d_model=D_MODEL, layers=depth, heads=HEADS,
        norm="layernorm", feed_forward="gelu", positional_encoding="rope", bias=True,
    )  # fmt: skip


def _windows(ids: Tensor, steps: int, seed: int) -> Iterator[Int[Tensor, "row pos"]]:
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        starts = torch.randint(len(ids) - WINDOW, (ROWS, 1), generator=generator)
        yield ids[starts + torch.arange(WINDOW + 1)]


def _told(runs: dict[str, Training]) -> str:
    last = {name: training.losses[-1] for name, training in runs.items()}
    best = min(last, key=lambda name: last[name])
    both, neither = (runs[name].gradients for name in ("both", "neither"))
    return (
        f"The first layer's gradient is {both[0]:.2g} with both parts and {neither[0]:.1g} with neither. "
        f"After {len(runs['both'].losses)} steps the lowest loss has “{best}”: "
        + ", ".join(f"{name} {loss:.2f}" for name, loss in last.items())
        + "."
    )


GRADIENTS = Screen(
    title="Why residuals and norms: the gradient by layer",
    lesson="Four small models begin with the same weights and learn your text, character by character, here and now: "
    "with residual connections and norms, without one of them, and without both. See how much of the gradient reaches "
    "the first layer, and which of them learn.",
    controls={
        "text": TextControl(title="Text to learn", default="The cat chased the dog, and the dog chased the cat."),
        "depth": NumberControl(title="Layers", default="6", low=2, high=16, whole=True),
        "steps": NumberControl(title="Steps", default="20", low=5, high=100, step=5, whole=True),
        "seed": SeedControl(),
    },
    compute=gradients,
    formulas=(r"g_l = \lVert \nabla_{\theta_l} L \rVert",),
    code=(train, fit, gradient_norms, SublayerSwitches),
    is_long=True,
)
