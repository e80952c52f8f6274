"""The loop: steps, measurements, saves, and the way back after a kill."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from model.checkpoints import save
from model.checkpoints.load import choose_device
from model.checkpoints.source import CONFIG
from model.data.corpus import expand
from model.errors import DataError
from model.nn.transformer import Transformer
from model.training import snapshots
from model.training.hardware import keep_memory
from model.training.model_card import card
from model.training.optimizers import SCHEDULES
from model.training.run_dir import Workspace
from model.training.train_step import Learner, Score
from model.training.warm_start import begin_with

SECONDS_BETWEEN_LINES = 20.0


@dataclass
class Run:
    """A training run in its workspace: begun anew, or taken up where its newest save left it.

    `stop` is asked before every step; once it says True the run saves and ends.
    """

    workspace: Workspace
    stop: Callable[[], bool] = lambda: False
    place: snapshots.Place = field(default_factory=snapshots.Place)

    def __post_init__(self) -> None:
        keep_memory()
        self.recipe, self.training = self.workspace.recipe, self.workspace.recipe.training
        if self.training.threads:
            torch.set_num_threads(self.training.threads)
        self.schedule = SCHEDULES[self.training.schedule]
        self.objective = self.workspace.objective
        torch.manual_seed(self.training.seed)
        model = Transformer(self.recipe.config(self.workspace.tokenizer.size)).train()
        if self.training.start and not (self.workspace.inside / snapshots.NEWEST).is_file():
            begin_with(expand(self.training.start), model, self.workspace.tokenizer, self.workspace.say)
        self.learner = Learner(model, self.training, choose_device(self.training.device))
        self._take_up()

    def _take_up(self) -> None:
        """Goes back to the newest save, or, where its decay is no longer wanted, to the last one before the decay."""
        path = self.workspace.inside / snapshots.NEWEST
        if not path.is_file():
            return
        place, state = snapshots.read(path)
        if place.decay_began and not self._falls_at(*place.decay_began):
            path = self.workspace.inside / snapshots.STABLE  # written when the decay began
            place, state = snapshots.read(path)
        if not (self.workspace.folder / CONFIG).is_file():
            place.best = None  # the best model so far lies elsewhere
        self.place = place
        self.learner.restore(state)
        self.workspace.say(f"Taken up at step {place.step}, after {place.seconds / 60:.1f} minutes ({path.name}).")

    def save(self, name: str = snapshots.NEWEST) -> None:
        """Writes a save into the workspace."""
        snapshots.write(self.workspace.inside / name, self.place, self.learner.state())

    # Where the run stands

    def done(self, step: int, seconds: float) -> float:
        """Which share of the run lies behind a step and a time: of the limit that is nearer."""
        shares = [step / self.training.steps] if self.training.steps else []
        shares += [seconds / (60 * self.training.minutes)] if self.training.minutes else []
        return min(1.0, max(shares))

    def _falls_at(self, step: int, seconds: float) -> bool:
        """Whether a wsd schedule is to fall at this place."""
        if self.training.schedule != "wsd":
            return False
        if self.training.decay_from:
            return step >= self.training.decay_from
        return self.done(step, seconds) >= 1 - self.training.decay

    @property
    def height(self) -> float:
        """Where the schedule stands for the step to come, from 1 down to the floor; warm-up left out."""
        began = self.done(*self.place.decay_began) if self.place.decay_began else 1.0
        return self.schedule(self.done(self.place.step, self.place.seconds), began, self.training.floor)

    @property
    def rate(self) -> float:
        """The share of the full learning rate for the step to come."""
        return self.height * min(1.0, (self.place.step + 1) / max(1, self.training.warmup))

    @property
    def context(self) -> int:
        """Tokens per row for the step to come."""
        full = self.learner.model.config.context
        early = self.done(self.place.step, self.place.seconds) < self.training.long_from
        return min(self.training.short_context, full) if self.training.short_context and early else full

    # The loop

    def train(self) -> bool:
        """Trains to the end of the recipe; False if it was stopped before."""
        pulse = Pulse(self.place.tokens, self.done(self.place.step, self.place.seconds))
        last = saved = time.monotonic()
        while self.done(self.place.step, self.place.seconds) < 1.0:
            if self.stop():
                self.save()
                self.workspace.say(f"Stopped at step {self.place.step} and saved; the same command goes on from there.")
                return False
            pulse.losses.append(self.step())
            if pulse.due:
                self._report(pulse)
            if self.place.step % self.training.evaluate_every == 0:
                self.evaluate()
            now = time.monotonic()
            self.place.seconds, last = self.place.seconds + now - last, now
            if now - saved > 60 * self.training.save_minutes:
                self.save()
                saved = now
        self.evaluate()
        self.save()
        return True

    def step(self) -> float:
        """One update; gives its loss in nats per asked token."""
        place, training = self.place, self.training
        if not place.decay_began and self._falls_at(place.step, place.seconds):
            self.save(snapshots.STABLE)
            place.decay_began = (place.step, place.seconds)
        rows = max(1, training.batch * self.learner.model.config.context // self.context)
        generator = np.random.default_rng((training.seed, place.step))
        batch = self.objective.batch(generator, rows, self.context, self.height)
        loss = self.learner.step(batch, self.rate, training.seed * 1_000_003 + place.step)
        if not math.isfinite(loss):
            raise DataError(f"The loss is {loss} at step {place.step}; try a smaller --learning-rate.")
        place.step += 1
        place.tokens += batch.ids.numel()
        return loss

    def evaluate(self) -> dict[str, Score]:
        """Measures on the held-out texts, and exports the model if it was never better."""
        rows, scores = self.training.evaluate_rows, {}
        rows = max(1, rows * self.learner.model.config.context // self.context)
        with self.learner.averaged():
            for text in self.workspace.held_out:
                scores[text.name] = self.learner.measure(self.objective.held_out(text, rows, self.context))
            mean = sum(score.loss for score in scores.values()) / max(1, len(scores))
            if self.context != self.place.best_context:  # losses in rows of another length say nothing about these
                self.place.best, self.place.best_context = None, self.context
            if not scores or self.place.best is None or mean < self.place.best:
                self.place.best = mean if scores else None
                words = card(self.recipe, self.learner.model, self.place, self._table(scores))
                save(self.workspace.folder, self.learner.model, self.workspace.tokenizer, card=words)
        for name, numbers in self._table(scores).items():
            told = ", ".join(f"{what} {number:.3f}" for what, number in numbers.items())
            self.workspace.say(f"  {name:24} {told}")
        self.workspace.log({"step": self.place.step, "seconds": self.place.seconds, "tokens": self.place.tokens,
                            "held_out": self._table(scores)})  # fmt: skip
        return scores

    def _table(self, scores: dict[str, Score]) -> dict[str, dict[str, float]]:
        """What is told of each held-out text."""
        table = {}
        for text in self.workspace.held_out:
            if text.name in scores:
                score = scores[text.name]
                table[text.name] = {"nats": score.loss, "accuracy": score.accuracy}
                if self.recipe.objective == "causal":
                    table[text.name]["bits per byte"] = score.bits_per_byte(len(text.ids), text.characters)
        return table

    def _report(self, pulse: Pulse) -> None:
        """A line on how it goes."""
        place, done = self.place, self.done(self.place.step, self.place.seconds)
        loss, speed, left = pulse.beat(place.tokens, done)
        line = f"step {place.step}  loss {loss:.3f}  rate {self.rate * self.training.learning_rate:.2e}"
        self.workspace.say(f"{line}  {speed:,.0f} tokens/s  {left / 60:.1f} minutes left")
        self.workspace.log({"step": place.step, "seconds": place.seconds, "loss": loss, "tokens_per_second": speed})


class Pulse:
    """Loss and speed since the last line, and from the speed of the whole the time that is left."""

    def __init__(self, tokens: int, done: float) -> None:
        self.losses: list[float] = []
        self.tokens = tokens
        self.first_done = done
        self.first = self.last = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether it is time for a line."""
        return time.monotonic() - self.last >= SECONDS_BETWEEN_LINES

    def beat(self, tokens: int, done: float) -> tuple[float, float, float]:
        """Mean loss, tokens per second, and seconds left; begins to count anew."""
        now = time.monotonic()
        loss = sum(self.losses) / len(self.losses)
        speed = (tokens - self.tokens) / (now - self.last)
        left = (now - self.first) * (1 - done) / max(1e-9, done - self.first_done)
        self.losses, self.tokens, self.last = [], tokens, now
        return loss, speed, left
