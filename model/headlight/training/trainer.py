"""Training runs: initialization from another model, the training loop, model cards, and the mean of several runs."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from headlight.checkpoints import Checkpoint, load, save
from headlight.checkpoints.file_rules import CONFIG
from headlight.checkpoints.load import choose_device, save_step
from headlight.data.corpus import TokenizedText, expand_path
from headlight.data.examples import ExampleTask
from headlight.errors import DataError, counted
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Tokenizer
from headlight.training.optimizers import SCHEDULES, retain_freed_memory
from headlight.training.recipe import Recipe
from headlight.training.run_dir import (
    BEFORE_COOLDOWN,
    LATEST,
    Progress,
    RunFolder,
    StepReport,
    read_snapshot,
    write_snapshot,
)
from headlight.training.train_step import TrainState, ValidationMetrics

TOKEN_EMBEDDINGS = ("embedding.weight", "source_embedding.weight")


def warm_start(folder: Path, model: Transformer, tokenizer: Tokenizer, log: Callable[[str], None]) -> None:
    """Copy the weights of the model in `folder` if name and shape agree, and embeddings token by token.

    A decoder can initialize an encoder and vice versa: causal language modeling is a good start for masked language
    modeling (Gisserot-Boukhlef et al. 2025). Raises DataError if nothing fits.
    """
    other = load(folder)
    source = {_stack_neutral_name(name): parameter for name, parameter in other.model.named_parameters()}
    copied = []
    for name, parameter in model.named_parameters():
        found = source.get(_stack_neutral_name(name))
        if found is not None and found.shape == parameter.shape and name not in TOKEN_EMBEDDINGS:
            copied.append(name)
            with torch.no_grad():
                parameter.copy_(found)
    copied_tokens = _copy_token_embeddings(other, model, tokenizer)
    if not copied or not copied_tokens:
        raise DataError(f"The model in {folder} has no weights that fit this recipe's model.")
    log(
        f"Initialized {len(copied)} weights and {copied_tokens:,} of {tokenizer.vocabulary_size:,} embeddings "
        f"from {folder}."
    )


def _stack_neutral_name(name: str) -> str:
    return name.replace("encoder.", "stack.", 1).replace("decoder.", "stack.", 1)


@torch.no_grad()
def _copy_token_embeddings(other: Checkpoint, model: Transformer, tokenizer: Tokenizer) -> int:
    """Copy embeddings token by token; start and end tokens get the embedding of the other model's start token."""
    target, source = model.embedding.weight, other.model.embedding.weight
    if target.shape[1] != source.shape[1]:
        return 0
    other_ids = other.tokenizer.backend.get_vocab(with_added_tokens=True)
    if other.tokenizer.start_id is not None:
        for number in (tokenizer.start_id, tokenizer.end_id):
            if number is not None:
                target[number] = source[other.tokenizer.start_id]
    pairs = [
        (number, other_ids[token])
        for token, number in tokenizer.backend.get_vocab(with_added_tokens=True).items()
        if token in other_ids
    ]
    if pairs:
        rows, source_rows = (torch.tensor(numbers) for numbers in zip(*pairs, strict=True))
        target[rows] = source[source_rows]
    return len(pairs)


def _sources(recipe: Recipe, task: ExampleTask | None) -> list[str]:
    """The part of a model card on the training texts."""
    if task:
        return [task.about]
    texts = (f"- {source.name}: {source.epochs:g}" for source in recipe.texts)
    return ["Training texts, with the number of times an epoch repeats each:", "", *texts]


def in_millions(count: int) -> str:
    """A large number in readable form: "2.6 M", "31,000"."""
    return f"{count / 1e6:.1f} M" if count >= 1e6 else f"{count:,}"


def draft_model_card(
    run_folder: RunFolder, model: Transformer, progress: Progress, table: Mapping[str, Mapping[str, float]]
) -> str:
    """Markdown: sizes, texts, training tokens, and the metrics on validation texts."""
    config, recipe = model.config, run_folder.recipe
    parameters = sum(parameter.numel() for parameter in model.parameters())
    lines = [
        f"# {'A' if config.architecture == 'decoder' else 'An'} {config.architecture}, trained with the objective "
        f"{recipe.objective}",
        "",
        f"{in_millions(parameters)} parameters: {counted(config.layers, 'layer')} of {counted(config.heads, 'head')}, "
        f"hidden size {config.d_model}, {config.vocabulary_size} tokens, context {config.context_length}.",
        f"Trained on {in_millions(progress.tokens)} tokens in {counted(progress.step, 'step')}, "
        f"{counted(max(1, round(progress.seconds / 60)), 'minute')}.",
        "",
        *_sources(recipe, run_folder.task),
    ]
    if table:
        columns = list(next(iter(table.values())))
        lines += ["", f"| held out | {' | '.join(columns)} |", f"|---{'|---:' * len(columns)}|"]
        lines += [
            f"| {name} | {' | '.join(f'{number:.3f}' for number in numbers.values())} |"
            for name, numbers in table.items()
        ]
    return "\n".join(lines) + "\n"


REPORT_INTERVAL_SECONDS = 20.0


@dataclass
class Trainer:
    """A training run in its folder, started or resumed from its latest snapshot.

    `should_stop` is called before every step; once it returns True the run writes a snapshot and ends.
    """

    run_folder: RunFolder
    should_stop: Callable[[], bool] = lambda: False
    progress: Progress = field(default_factory=Progress)
    scores: dict[str, ValidationMetrics] = field(default_factory=dict)  # of the last evaluation
    evaluated: tuple[int, int] | None = None  # step and context length of that evaluation

    def __post_init__(self) -> None:
        retain_freed_memory()
        self.recipe, self.training = self.run_folder.recipe, self.run_folder.recipe.training
        if self.training.threads:
            torch.set_num_threads(self.training.threads)
            if self.training.threads > (processors := os.cpu_count() or 1):
                log = self.run_folder.log
                log(f"threads is {self.training.threads}, and there are {processors} processors: fewer are faster.")
        self.schedule = SCHEDULES[self.training.schedule]
        self.objective = self.run_folder.objective
        torch.manual_seed(self.training.seed)
        model = Transformer(self.run_folder.config).train()
        if self.training.init_from and not self.run_folder.is_begun:
            warm_start(expand_path(self.training.init_from), model, self.run_folder.tokenizer, self.run_folder.log)
        self.train_state = TrainState(model, self.training, choose_device(self.training.device))
        self._resume()

    def _resume(self) -> None:
        """Restore the latest snapshot or, if the schedule no longer decays there, the one before the cooldown."""
        path = self.run_folder.path / LATEST
        if not path.is_file():
            return
        progress, state = read_snapshot(path)
        if progress.cooldown_began and not self._in_cooldown(*progress.cooldown_began):
            path = self.run_folder.path / BEFORE_COOLDOWN  # written when the cooldown began
            progress, state = read_snapshot(path)
        if not (self.run_folder.checkpoint_folder / CONFIG).is_file():
            progress.best_score = None  # the best model was exported by another run
        self.progress = progress
        self.train_state.load_state_dict(state)
        self.run_folder.log(
            f"Resumed at step {progress.step}, after {progress.seconds / 60:.1f} minutes ({path.name})."
        )

    def save_snapshot(self, name: str = LATEST) -> None:
        """Write a snapshot into the run's folder."""
        write_snapshot(self.run_folder.path / name, self.progress, self.train_state.state_dict())

    def keep_weights(self) -> None:
        """Write the weights of this step beside the checkpoint, if the recipe keeps them."""
        if self.progress.step in self.training.keep_steps:
            with self.train_state.use_ema_weights():
                save_step(self.run_folder.checkpoint_folder, self.train_state.model, self.progress.step)

    def fraction_done(self, step: int, seconds: float) -> float:
        """The completed fraction of the run at a step and a time, by the nearer limit."""
        fractions = [step / self.training.steps] if self.training.steps else []
        fractions += [seconds / (60 * self.training.minutes)] if self.training.minutes else []
        return min(1.0, max(fractions))

    def _in_cooldown(self, step: int, seconds: float) -> bool:
        """Whether a wsd schedule is in its decay at this step and time."""
        if self.training.schedule != "wsd":
            return False
        if self.training.cooldown_start_step:
            return step >= self.training.cooldown_start_step
        return self.fraction_done(step, seconds) >= 1 - self.training.cooldown_fraction

    @property
    def schedule_factor(self) -> float:
        """The schedule's value for the next step, from 1 down to min_lr_ratio, without warmup."""
        cooldown_start = self.fraction_done(*self.progress.cooldown_began) if self.progress.cooldown_began else 1.0
        return self.schedule(
            self.fraction_done(self.progress.step, self.progress.seconds), cooldown_start, self.training.min_lr_ratio
        )

    @property
    def lr_factor(self) -> float:
        """The fraction of the full learning rate for the next step."""
        return self.schedule_factor * min(1.0, (self.progress.step + 1) / max(1, self.training.warmup_steps))

    @property
    def context(self) -> int:
        """Tokens per row for the next step."""
        full = self.train_state.model.config.context_length
        early = self.fraction_done(self.progress.step, self.progress.seconds) < self.training.short_context_fraction
        return min(self.training.short_context_length, full) if self.training.short_context_length and early else full

    def train(self) -> bool:
        """Train to the end of the recipe; False if the run was stopped earlier."""
        self.keep_weights()
        meter = ProgressMeter(self.progress.tokens, self.fraction_done(self.progress.step, self.progress.seconds))
        last_step = last_save = time.monotonic()
        while self.fraction_done(self.progress.step, self.progress.seconds) < 1.0:
            if self.should_stop():
                self.save_snapshot()
                self.run_folder.log(
                    f"Stopped at step {self.progress.step} and saved; the same command resumes from there."
                )
                return False
            meter.losses.append(self.train_step())
            self.keep_weights()
            self._report_progress(meter)
            if self.progress.step % self.training.evaluate_every == 0:
                self.evaluate()
            now = time.monotonic()
            self.progress.seconds, last_step = self.progress.seconds + now - last_step, now
            if now - last_save > 60 * self.training.save_minutes:
                self.save_snapshot()
                last_save = now
        if self.evaluated != (self.progress.step, self.context):
            self.evaluate()
        if self.run_folder.show:
            self._log_metrics()
        self.save_snapshot()
        return True

    def train_step(self) -> float:
        """One update; returns its loss in nats per target."""
        progress, training = self.progress, self.training
        if not progress.cooldown_began and self._in_cooldown(progress.step, progress.seconds):
            self.save_snapshot(BEFORE_COOLDOWN)
            progress.cooldown_began = (progress.step, progress.seconds)
        rows = max(1, training.batch_size * self.train_state.model.config.context_length // self.context)
        generator = np.random.default_rng((training.seed, progress.step))
        batch = self.objective.batch(generator, rows, self.context, self.schedule_factor)
        loss = self.train_state.train_step(batch, self.lr_factor, training.seed * 1_000_003 + progress.step)
        if not math.isfinite(loss):
            raise DataError(f"The loss is {loss} at step {progress.step}; try a smaller --learning-rate.")
        progress.step += 1
        progress.tokens += batch.ids.numel()
        return loss

    def evaluate(self) -> dict[str, ValidationMetrics]:
        """Evaluate on the validation texts, and export the model if its mean score is the lowest so far."""
        rows, scores = self.training.evaluate_rows, {}
        rows = max(1, rows * self.train_state.model.config.context_length // self.context)
        with self.train_state.use_ema_weights():
            for source in self.run_folder.validation_sources:
                batch = self.objective.validation_batch(source, rows, self.context)
                scores[source.name] = self.train_state.measure(batch)
            mean = sum(map(self._to_minimize, scores.values())) / max(1, len(scores))
            if self.context != self.progress.best_context:  # losses on rows of another length are not comparable
                self.progress.best_score, self.progress.best_context = None, self.context
            if not scores or self.progress.best_score is None or mean < self.progress.best_score:
                self.progress.best_score = mean if scores else None
                card_text = draft_model_card(
                    self.run_folder, self.train_state.model, self.progress, self._metrics_table(scores)
                )
                save(
                    self.run_folder.checkpoint_folder, self.train_state.model, self.run_folder.tokenizer, card=card_text
                )
        self.scores, self.evaluated = scores, (self.progress.step, self.context)
        if not self.run_folder.show:
            self._log_metrics()
        self.run_folder.write_metrics(
            {
                "step": self.progress.step,
                "seconds": self.progress.seconds,
                "tokens": self.progress.tokens,
                "validation": self._metrics_table(scores),
            }
        )
        return scores

    def _log_metrics(self) -> None:
        """Log a line for each validation text of the last evaluation."""
        for name, numbers in self._metrics_table(self.scores).items():
            metrics = ", ".join(f"{what} {number:.3f}" for what, number in numbers.items())
            self.run_folder.log(f"  {name:24} {metrics}")

    def _to_minimize(self, metrics: ValidationMetrics) -> float:
        """The loss; for a classifier the error rate, because its loss grows with its confidence."""
        return 1 - metrics.accuracy if self._is_classifier else metrics.loss

    @property
    def _is_classifier(self) -> bool:
        return bool(self.train_state.model.config.labels)

    def _metrics_table(self, scores: dict[str, ValidationMetrics]) -> dict[str, dict[str, float]]:
        """The logged metrics of each validation text, or of the held-out examples."""
        table = {}
        for source in self.run_folder.validation_sources:
            if source.name in scores:
                score = scores[source.name]
                row = table[source.name] = {"nats per token": score.loss, "accuracy": score.accuracy}
                if not isinstance(source, TokenizedText):
                    row["exact"] = score.exact
                elif self.recipe.objective == "causal":
                    row["bits per byte"] = score.bits_per_byte(len(source.ids), source.byte_count)
        return table

    def _report_progress(self, meter: ProgressMeter) -> None:
        """Show the step or, if steps are not shown, log a line with loss, learning rate and speed when it is due."""
        progress, fraction_done = self.progress, self.fraction_done(self.progress.step, self.progress.seconds)
        if self.run_folder.show:
            self.run_folder.show(StepReport(progress.step, meter.loss, self._validation_mean(), fraction_done))
        if not meter.is_due:
            return
        loss, speed, left = meter.update(progress.tokens, fraction_done)
        line = (
            f"step {progress.step}  loss {loss:.3f}  learning rate {self.lr_factor * self.training.learning_rate:.2e}"
        )
        if not self.run_folder.show:
            self.run_folder.log(f"{line}  {speed:,.0f} tokens/s  {left / 60:.1f} minutes left")
        self.run_folder.write_metrics(
            {"step": progress.step, "seconds": progress.seconds, "loss": loss, "tokens_per_second": speed}
        )

    def _validation_mean(self) -> float | None:
        """The mean loss of the last evaluation (for a classifier the accuracy); None before the first."""
        means = [one.accuracy if self._is_classifier else one.loss for one in self.scores.values()]
        return sum(means) / len(means) if means else None


class ProgressMeter:
    """Loss and speed since the last report, and the remaining time at the run's mean speed."""

    def __init__(self, tokens: int, fraction_done: float) -> None:
        self.losses: list[float] = []
        self.tokens = tokens
        self.first_fraction = fraction_done
        self.started = self.last_report = time.monotonic()

    @property
    def loss(self) -> float:
        """The mean since the last report."""
        return sum(self.losses) / len(self.losses)

    @property
    def is_due(self) -> bool:
        """Whether the next report is due."""
        return time.monotonic() - self.last_report >= REPORT_INTERVAL_SECONDS

    def update(self, tokens: int, fraction_done: float) -> tuple[float, float, float]:
        """Mean loss, tokens per second, and seconds left; starts the next interval."""
        now = time.monotonic()
        loss = self.loss
        speed = (tokens - self.tokens) / (now - self.last_report)
        left = (now - self.started) * (1 - fraction_done) / max(1e-9, fraction_done - self.first_fraction)
        self.losses, self.tokens, self.last_report = [], tokens, now
        return loss, speed, left


def train_mean_of_seeds(run_folder: RunFolder, should_stop: Callable[[], bool]) -> bool:
    """Train once with each of the recipe's seeds, and export the mean of the weights; False if stopped earlier.

    Runs from the same pretrained weights end close enough to each other for their mean to be as good as their ensemble
    (Wortsman et al. 2022, "Model soups"); runs from random weights do not.
    """
    runs = []
    for seed in run_folder.recipe.training.seeds:
        run = Trainer(_one_seed(run_folder, seed), should_stop)
        if not run.train():
            return False
        runs.append((run.run_folder.checkpoint_folder, run.progress))
    _export_mean(run_folder, [folder for folder, _ in runs], [progress for _, progress in runs])
    return True


def _one_seed(run_folder: RunFolder, seed: int) -> RunFolder:
    """The folder of the run with one of the seeds, inside the common folder."""
    recipe = run_folder.recipe
    training = replace(recipe.training, seed=seed, seeds=())
    return replace(
        run_folder, recipe=replace(recipe, training=training), checkpoint_folder=run_folder.path / f"seed-{seed}"
    )


def _export_mean(run_folder: RunFolder, folders: list[Path], each: list[Progress]) -> None:
    """Evaluate and export the mean of models, with the total time and tokens of all runs."""
    recipe = run_folder.recipe
    finished = replace(recipe, training=replace(recipe.training, init_from="", ema_decay=0.0))
    mean = Trainer(replace(run_folder, recipe=finished))
    models = [load(folder).model for folder in folders]
    with torch.no_grad():
        for target, *weights in zip(
            mean.train_state.model.parameters(), *(m.parameters() for m in models), strict=True
        ):
            target.copy_(torch.stack([weight.float() for weight in weights]).mean(0))
    steps, tokens = sum(one.step for one in each), sum(one.tokens for one in each)
    mean.progress = Progress(step=steps, tokens=tokens, seconds=sum(one.seconds for one in each))
    mean.evaluate()
