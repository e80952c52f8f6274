"""A recipe: all settings of a model's training, from a TOML file, from flags, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch

from headlight.checkpoints.load import DEVICE_COUNTS, free_memory
from headlight.config import Config
from headlight.config.flat_names import in_groups
from headlight.data.corpus import MAX_EPOCHS, TextSource, expand_path
from headlight.data.examples import GeneratedTask
from headlight.data.own_examples import ExampleFiles, own_task
from headlight.data.text_tasks import EXAMPLE_TASKS, TextTask
from headlight.errors import DataError, shortened
from headlight.nn.output_heads import LABEL_HEADS
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer_training import TOKENIZER_TRAINERS
from headlight.training.objectives import EXAMPLE_OBJECTIVES, OBJECTIVES, TEXT_OBJECTIVES
from headlight.training.optimizers import OPTIMIZERS, PRECISIONS, SCHEDULES
from headlight.validation import from_plain, read_toml

# The config fields that the objective and the tokenizer set.
DERIVED_FIELDS = ("architecture", "vocabulary_size", "masks", "output_head", "labels")
MODEL_FIELDS = tuple(part.name for part in fields(Config) if part.name not in DERIVED_FIELDS)
MODEL_DEFAULTS: dict[str, Any] = {"context_length": 128, "d_model": 256, "layers": 6, "heads": 8}
MAX_NUMBERS = 1_000  # of a list in a recipe
_STEPS, _ROWS, _MINUTES, _RATE, _SEED = (0, 10**9), (1, 65_536), (0, 10**6), (0, 1_000), (0, 2**53)
# The least and the most that each number of a recipe may be; `epochs` are more than 0 (data/corpus.py).
RANGES: Mapping[str, tuple[float, float]] = {
    "vocabulary_size": (1, 2**20), "context_length": (1, 2**20), "short_context_length": (0, 2**20),
    "batch_size": _ROWS, "micro_batch_size": (0, 65_536), "evaluate_rows": _ROWS, "threads": (0, 1_024),
    "steps": _STEPS, "warmup_steps": _STEPS, "cooldown_start_step": _STEPS, "keep_steps": _STEPS,
    "evaluate_every": (1, 10**9), "minutes": _MINUTES, "save_minutes": _MINUTES,
    "learning_rate": _RATE, "muon_learning_rate": _RATE, "weight_decay": _RATE, "max_grad_norm": (0, 10**9),
    "seed": _SEED, "seeds": _SEED, "ema_decay": (0, 1), "min_lr_ratio": (0, 1), "cooldown_fraction": (0, 1),
    "short_context_fraction": (0, 1), "line_start_probability": (0, 1), "label_smoothing": (0, 0.999),
    "token_dropout": (0, 0.999), "mask_rate": (0.001, 0.999), "final_mask_rate": (0, 0.999), "epochs": (0, MAX_EPOCHS),
}  # fmt: skip


def option(default: Any, help_text: str) -> Any:
    """A field with a default and a line of help."""
    return field(default=default, metadata={"help": help_text})


def check_ranges(options: Any) -> None:
    """Raise DataError for a number, also in a list, out of its range, and for more than MAX_NUMBERS in a list."""
    for name, value in asdict(options).items():
        numbers = value if isinstance(value, tuple) else (value,) if name in RANGES else ()
        if len(numbers) > MAX_NUMBERS:
            raise DataError(f"{name} has {len(numbers):,} numbers; it may have {MAX_NUMBERS:,} at most.")
        for number in numbers:
            require_in_range(name, number)


def require_in_range(name: str, number: int | float) -> None:
    """Raise DataError if a number, or NaN, is not in the range of its name."""
    least, most = RANGES[name]
    if number < least:
        raise DataError(f"{name} is {shortened(str(number))}; it must be at least {least:,}.")
    if not number <= most:
        raise DataError(f"{name} is {shortened(str(number))}; it must be at most {most:,}.")


@dataclass(frozen=True)
class TokenizerOptions:
    """The settings of the tokenizer."""

    folder: str = option("", "a folder whose tokenizer.json is used, instead of training one")
    kind: str = option("", f"{', '.join(TOKENIZER_TRAINERS)} (default: the objective's usual kind)")
    vocabulary_size: int = option(8000, "entries of the vocabulary")
    plain_typography: bool = option(False, "replace curly quotes and dashes by their ASCII equivalents")


@dataclass(frozen=True)
class TrainingOptions:
    """The settings of the optimization. A step is one update of the weights."""

    batch_size: int = option(32, "rows (of context_length tokens) per step")
    micro_batch_size: int = option(0, "rows per forward pass, if a batch does not fit into memory (0: all)")
    steps: int = option(0, "stop after this many steps (0: no limit)")
    minutes: float = option(0.0, "stop after this many minutes (0: no limit)")
    optimizer: str = option("adamw", ", ".join(OPTIMIZERS))
    learning_rate: float = option(1.5e-3, "the peak learning rate")
    muon_learning_rate: float = option(0.0, "the peak learning rate of the matrices under muon (0: learning_rate)")
    weight_decay: float = option(0.1, "the decay of matrices, times the learning rate")
    schedule: str = option("cosine", ", ".join(SCHEDULES))
    warmup_steps: int = option(200, "steps until the peak learning rate")
    cooldown_fraction: float = option(0.2, "wsd: the last fraction of the run, over which the learning rate decays")
    cooldown_start_step: int = option(0, "wsd: the step at which the decay begins (0: set by cooldown_fraction)")
    min_lr_ratio: float = option(0.0, "the fraction of the learning rate that remains at the end")
    label_smoothing: float = option(0.0, "the part of each target spread over all tokens (Vaswani et al. 2017: 0.1)")
    max_grad_norm: float = option(1.0, "clip gradients to this norm")
    ema_decay: float = option(
        0.0, "evaluate and export an exponential moving average of the weights with this decay, such as 0.999 (0: none)"
    )
    short_context_length: int = option(0, "tokens per row at first (0: the model's context length throughout)")
    short_context_fraction: float = option(0.8, "the fraction of the run after which rows have the full context length")
    mask_rate: float = option(0.15, "masked: the fraction of tokens that are targets")
    final_mask_rate: float = option(
        0.0, "masked: that fraction at the run's end; it falls with the learning rate (0: mask_rate)"
    )
    token_dropout: float = option(
        0.0, "sequence- and token-classification: the fraction of the tokens that [MASK] hides in training"
    )
    line_start_probability: float = option(
        0.2, "causal: the probability that a row begins with the start token and a line, like a typed text"
    )
    evaluate_every: int = option(500, "steps between evaluations on the validation texts")
    evaluate_rows: int = option(64, "rows of each validation text")
    save_minutes: float = option(5.0, "minutes between snapshots")
    keep_steps: tuple[int, ...] = option((), "the steps after which the weights are kept permanently")
    seed: int = option(1, "the random seed of weights, batches and dropout")
    seeds: tuple[int, ...] = option((), "one run per seed, from the same start; the mean of their weights is exported")
    precision: str = option("auto", f"auto, {', '.join(PRECISIONS)}")
    device: str = option("auto", f"auto, {', '.join(DEVICE_COUNTS)}")
    threads: int = option(0, "processor threads (0: torch's choice)")
    compile: bool = option(False, "use torch.compile")
    train_head_only: bool = option(False, "train only the output head")
    init_from: str = option(
        "",
        "a model's folder to start from, or a recipe to train first: copies weights of equal name and shape, and "
        "embeddings by token",
    )

    def check(self) -> None:
        """Raise DataError for a number out of range or an unknown name."""
        if self.steps <= 0 and self.minutes <= 0:
            raise DataError("Training needs a limit. Give --steps or --minutes, or set one under [training].")
        check_ranges(self)
        self._check_seeds()
        OPTIMIZERS[self.optimizer], SCHEDULES[self.schedule]

    def _check_seeds(self) -> None:
        if self.seeds and (not self.init_from or self.keep_steps or len({*self.seeds}) < len(self.seeds)):
            raise DataError(
                "seeds must be different numbers, one for each run to average; the runs need the same start "
                "(init_from) and no keep_steps."
            )


@dataclass(frozen=True)
class Recipe:
    """The model to train, the texts, own examples or built-in task to train it on, and the settings."""

    objective: str = "causal"
    task: str = ""
    examples: ExampleFiles = field(default_factory=ExampleFiles)
    texts: tuple[TextSource, ...] = ()
    validation: tuple[Path, ...] = ()
    tokenizer: TokenizerOptions = field(default_factory=TokenizerOptions)
    model: Mapping[str, Any] = field(default_factory=lambda: dict(MODEL_DEFAULTS))
    training: TrainingOptions = field(default_factory=TrainingOptions)

    @property
    def example_task(self) -> GeneratedTask | TextTask | None:
        """The task to train on: a built-in one, or own examples; None for running text.

        Raises UnknownNameError, or DataError if the objective reads no files of examples.
        """
        if self.task:
            return EXAMPLE_TASKS[self.task]
        if not self.examples.files:
            return None
        target = EXAMPLE_OBJECTIVES[self.objective].target
        if target is None:
            known = ", ".join(name for name, each in EXAMPLE_OBJECTIVES.items() if each.target)
            raise DataError(f"The objective {self.objective} reads no files of examples; {known} do.")
        return own_task(self.examples, target, self.validation)

    def check(self) -> Recipe:
        """The recipe itself. Raises DataError if something is missing or cannot be built."""
        task = self.example_task
        if task:
            EXAMPLE_OBJECTIVES.require(self.objective)
            if self.texts or (self.task and (self.validation or self.examples.files)):
                raise DataError(f"The task {task.name} has its own examples; leave out other texts, or the task.")
        else:
            TEXT_OBJECTIVES.require(self.objective)
            if not self.texts:
                raise DataError(
                    "There is no text to train on; give one with --text FILE, or under [texts] in a recipe."
                )
        self.training.check()
        self._check_tokenizer()
        TOKENIZER_TRAINERS.require(self.tokenizer.kind or "bpe")
        with torch.device("meta"):  # builds every part without allocating weights
            self._check_memory(Transformer(self.config(self.tokenizer.vocabulary_size)))
        return self

    def _check_memory(self, model: Transformer) -> None:
        """Raise DataError if not even weights, gradients and one activation per layer fit into the free memory."""
        config, training = model.config, self.training
        require_in_range("context_length", config.context_length)
        weights = sum(parameter.numel() for parameter in model.parameters())
        rows = min(training.batch_size, training.micro_batch_size or training.batch_size)
        tokens = rows * config.context_length if self.texts else 0  # examples may be shorter
        needed = 8 * weights + 2 * tokens * config.d_model * config.layers
        on_processor = training.device == "cpu" or not torch.cuda.is_available()
        if on_processor and needed > (free := free_memory()):
            raise DataError(
                f"Training needs at least {needed / 1e9:,.1f} GB of memory ({weights:,} weights, and {tokens:,} tokens "
                f"at a time); {free / 1e9:,.1f} GB are free. Give a smaller model, context or micro_batch_size."
            )

    def _check_tokenizer(self) -> None:
        """Raise DataError for options without effect, and for an empty vocabulary."""
        given = self.tokenizer
        check_ranges(given)
        is_made = given.folder or isinstance(self.example_task, GeneratedTask)
        if is_made and replace(given, folder="") != TokenizerOptions():
            source = f"the one in {given.folder}" if given.folder else f"that of the task {self.task}"
            raise DataError(f"No tokenizer is trained, since {source} is used; leave out the options for training one.")

    def config(self, vocabulary_size: int, labels: tuple[str, ...] = ()) -> Config:
        """The model's config: the [model] section, and the fields that objective, vocabulary and labels set.

        Without `labels` they are the built-in task's; the labels of own examples are known once they are read.
        """
        derived = {"vocabulary_size": vocabulary_size, **OBJECTIVES[self.objective].config_values}
        if (task := self.example_task) and derived["output_head"] in LABEL_HEADS:
            derived["labels"] = labels or task.labels or ("0", "1")
        return Config.from_dict(_merged(self.model, derived))

    def fingerprint(self) -> dict[str, Any]:
        """The settings that must not change when a run is resumed, as plain JSON values."""
        return {
            "objective": self.objective,
            **({"task": self.task} if self.task else {}),
            **({"examples": asdict(self.examples)} if self.examples.files else {}),
            "texts": {str(source.path): source.epochs for source in self.texts},
            "tokenizer": asdict(self.tokenizer),
            "model": dict(self.model),
        }


@dataclass(frozen=True)
class RecipeFile:
    """The tables of a recipe's TOML file."""

    objective: str = "causal"
    task: str = ""
    examples: ExampleFiles = field(default_factory=ExampleFiles)
    texts: dict[str, float] = field(default_factory=dict)
    validation: tuple[str, ...] = ()
    tokenizer: TokenizerOptions = field(default_factory=TokenizerOptions)
    model: dict[str, Any] = field(default_factory=dict)
    training: TrainingOptions = field(default_factory=TrainingOptions)


def load_recipe(path: Path) -> Recipe:
    """A recipe from a TOML file. Raises DataError if it cannot be read or is invalid (`parse_recipe`)."""
    table = read_toml(path, "recipe", DataError)
    return parse_recipe(table)


def parse_recipe(table: Mapping[str, Any]) -> Recipe:
    """A recipe from the tables of a TOML file. Raises DataError for unknown keys and values of another type."""
    file = from_plain(RecipeFile, table, "recipe", DataError)
    OBJECTIVES.require(file.objective)
    return Recipe(
        file.objective,
        file.task,
        file.examples,
        tuple(TextSource.parse(f"{path}={epochs}") for path, epochs in file.texts.items()),
        tuple(map(expand_path, file.validation)),
        file.tokenizer,
        override_model(MODEL_DEFAULTS, file.model),
        file.training,
    )


def override_model(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The [model] section with some fields replaced; `changes` may use the flat names of older files.

    Raises DataError for unknown fields.
    """
    changes = in_groups(changes)
    if unknown := sorted(set(changes) - set(MODEL_FIELDS)):
        raise DataError(f"Unknown model fields: {', '.join(unknown)}. Known: {', '.join(MODEL_FIELDS)}.")
    return _merged(base, changes)


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of both; where both have a field, also one within a group, it has the value in `changes`."""
    merged = {**base, **changes}
    for name in base.keys() & changes.keys():
        if isinstance(base[name], Mapping) and isinstance(changes[name], Mapping):
            merged[name] = {**base[name], **changes[name]}
    return merged
