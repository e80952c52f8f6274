"""Fits a tuned lens: at each depth, the affine map whose predictions are closest to the model's (Belrose et al. 2023).

The loss is the divergence of the lens's distribution from the model's, KL(model || lens), as a mean over tokens; the
model is frozen. Every map is initialized as the logit lens. Each step seeds its random texts with its number, so a
resumed run reads the same texts as an uninterrupted one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.lenses.tuned_lens import TunedLens, lens_shape
from headlight.array_types import Float
from headlight.data.corpus import Log, TokenizedText
from headlight.nn.transformer import Transformer
from headlight.training.objectives import TextObjective
from headlight.training.objectives.batch import IGNORE_INDEX, Batch
from headlight.training.optimizers import choose_precision
from headlight.training.run_dir import Progress, read_snapshot, write_snapshot
from headlight.training.train_step import cross_entropy

ROWS_PER_CHUNK = 256  # rows whose logits are in memory at the same time
LOG_EVERY = 50  # steps
NATS_PER_BIT = math.log(2)


@dataclass(frozen=True)
class LensOptions:
    """The settings of a fit. The learning rate falls linearly to zero over the steps."""

    steps: int = 400
    tokens: int = 1024  # of a step
    context: int = 128
    learning_rate: float = 2e-3
    seed: int = 0


class LensFit:
    """A lens during fitting: its maps, the optimizer, and the next step."""

    def __init__(self, model: Transformer, objective: TextObjective, options: LensOptions) -> None:
        self.model, self.objective, self.options, self.step = model, objective, options, 0
        depths, width = lens_shape(model.config)
        self.maps = {
            "weight": torch.zeros(depths, width, width, device=model.device, requires_grad=True),
            "bias": torch.zeros(depths, width, device=model.device, requires_grad=True),
        }
        self.optimizer = torch.optim.Adam(self.maps.values(), lr=options.learning_rate)
        self.precision = choose_precision("auto", model.device)

    @property
    def lens(self) -> TunedLens:
        """The lens as it is now."""
        return TunedLens(self.maps["weight"].detach(), self.maps["bias"].detach())

    def run(self, snapshot: Path, log: Log, should_stop: Callable[[], bool] = lambda: False) -> bool:
        """Fit to the last step, from a snapshot if there is one; False if stopped earlier."""
        if snapshot.is_file():
            progress, parts = read_snapshot(snapshot)
            self._restore(progress.step, parts)
        while self.step < self.options.steps and not should_stop():
            divergence = self.fit_step()
            if self.step % LOG_EVERY == 0 or self.step == self.options.steps:
                log(f"step {self.step:,} of {self.options.steps:,}: {divergence:.3f} nats per token and depth")
                self.save(snapshot)
        return self.step == self.options.steps

    def fit_step(self) -> float:
        """One update; returns the mean divergence over depths before the update, in nats per token."""
        options = self.options
        context = min(options.context, self.model.config.context_length)
        generator = np.random.default_rng((options.seed, self.step))
        batch = self.objective.batch(generator, max(1, options.tokens // context), context).to(self.model.device)
        with torch.autocast(self.model.device.type, self.precision, enabled=self.precision != torch.float32):
            streams, final = residual_streams(self.model, batch)
            scale = 1 / (len(final) * len(streams))
            chunks = zip(torch.split(streams, ROWS_PER_CHUNK, 1), torch.split(final, ROWS_PER_CHUNK), strict=True)
            divergence = scale * sum(self._backward(*chunk, scale) for chunk in chunks)
        self.optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - self.step / options.steps)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        return divergence

    def _backward(
        self, streams: Float[Tensor, "depth row d_model"], final: Float[Tensor, "row d_model"], scale: float
    ) -> float:
        """Add the gradient of some rows, times a scale; returns their divergence, summed over rows and depths."""
        with torch.no_grad():
            wanted = self.model.output_head(final).float().softmax(-1)
            entropy = -torch.xlogy(wanted, wanted).sum().item()
        total, lens = 0.0, TunedLens(self.maps["weight"], self.maps["bias"])
        for depth, stream in enumerate(streams):
            logits = read_depth(self.model, lens(depth, stream))
            with torch.no_grad():  # the gradient of cross-entropy, without autograd's copies
                log_probabilities = logits.float().log_softmax(-1)
                total -= entropy + (wanted * log_probabilities).sum().item()
                gradient = log_probabilities.exp_().sub_(wanted).mul_(scale)
            logits.backward(gradient.to(logits))  # type: ignore[no-untyped-call]
        return total

    def save(self, snapshot: Path) -> None:
        """Write the snapshot from which `run` resumes."""
        maps = {name: each.detach() for name, each in self.maps.items()}
        write_snapshot(snapshot, Progress(self.step), {"maps": maps, "optimizer": self.optimizer.state_dict()})

    def _restore(self, step: int, state: dict[str, Any]) -> None:
        self.step = step
        with torch.no_grad():
            for name, each in self.maps.items():
                each.copy_(state["maps"][name])
        self.optimizer.load_state_dict(state["optimizer"])


@torch.no_grad()
def residual_streams(
    model: Transformer, batch: Batch
) -> tuple[Float[Tensor, "depth row d_model"], Float[Tensor, "row d_model"]]:
    """The input of each block of the predicting stack at each token of a batch, and the input of the output head."""
    stack = model.config.stacks[-1]
    paths = [f"{stack}.{layer}.residual" for layer in range(model.config.num_layers(stack))]
    found: dict[str, Tensor] = {}

    def keep(path: str, value: Tensor) -> Tensor:
        if path in paths:
            found[path] = value
        return value

    final = model.encode_hidden(batch.ids, **batch.inputs, hook=keep)
    return torch.stack([found[path].flatten(0, 1) for path in paths]), final.flatten(0, 1)


def read_depth(model: Transformer, stream: Float[Tensor, "row d_model"]) -> Float[Tensor, "row token"]:
    """The output head on a residual stream, after the final norm."""
    stack = model.stack(model.config.stacks[-1])
    logits: Tensor = model.output_head(stack.project_out(stack.final_norm(stream)))
    return logits


@torch.inference_mode()
def measure_lens(
    model: Transformer, lens: TunedLens, objective: TextObjective, texts: Sequence[TokenizedText], rows: int = 64
) -> dict[str, Any]:
    """LensLosses on at most `rows` rows of each held-out text; texts have equal weights."""
    own, *by_depth = np.mean([_text_losses(model, lens, objective, text, rows) for text in texts], axis=0)
    logit_lens, tuned_lens = np.split(np.array(by_depth) - own, 2)
    return {
        "bits_per_byte": float(own),
        "logit_lens": tuple(logit_lens.tolist()),
        "tuned_lens": tuple(tuned_lens.tolist()),
    }


def _text_losses(
    model: Transformer, lens: TunedLens, objective: TextObjective, text: TokenizedText, rows: int
) -> Float[np.ndarray, " loss"]:
    """Bits per byte of the model, then of the logit lens at each depth, then of the tuned lens."""
    nats, count = np.zeros(2 * len(lens.bias) + 1), 0
    context = min(LensOptions.context, model.config.context_length)
    for part in objective.validation_batch(text, rows, context).split(max(1, ROWS_PER_CHUNK // context)):
        batch = part.to(model.device)
        streams, final = residual_streams(model, batch)
        chosen = (batch.targets.flatten() != IGNORE_INDEX).nonzero()[:, 0]
        targets, streams = batch.targets.flatten()[chosen], streams[:, chosen]
        tuned = [lens(depth, stream) for depth, stream in enumerate(streams)]
        logits = (model.output_head(final[chosen]), *(read_depth(model, stream) for stream in (*streams, *tuned)))
        nats += [cross_entropy(each, targets).item() for each in logits]
        count += len(targets)
    return nats / NATS_PER_BIT / count * len(text.ids) / text.byte_count
