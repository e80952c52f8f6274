"""A recipe: everything that decides how a model is trained, from a TOML file, from flags, or both."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import torch

from model.config import Config
from model.data.corpus import TextSource, expand_path
from model.errors import DataError
from model.nn.transformer import Transformer
from model.text.tokenizer_training import TOKENIZER_TRAINERS
from model.training.objectives import OBJECTIVES
from model.training.optimizers import OPTIMIZERS, SCHEDULES

DERIVED_FIELDS = (
    "architecture",
    "vocabulary_size",
    "masks",
    "output_head",
    "labels",
    "pooling",
)  # by objective and tokenizer
MODEL_DEFAULTS: dict[str, Any] = {"context_length": 128, "d_model": 256, "layers": 6, "heads": 8}
Section = TypeVar("Section")


def option(default: Any, help_text: str) -> Any:
    """A field with a default and a line of help."""
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class TokenizerOptions:
    """How text becomes tokens."""

    folder: str = option("", "a folder whose tokenizer.json to use, instead of training one")
    kind: str = option("", "bpe, wordpiece, unigram, word or character (default: what suits the objective)")
    vocabulary_size: int = option(8000, "entries of the vocabulary")
    plain_typography: bool = option(False, "read curly quotes and dashes as the keys they stand for")


@dataclass(frozen=True)
class TrainingOptions:
    """How the model learns. A step is one update of the weights."""

    batch_size: int = option(32, "rows (of context_length tokens) per step")
    micro_batch_size: int = option(0, "rows at a time, where a batch is too large for the memory (0: all)")
    steps: int = option(0, "stop after so many steps (0: no limit)")
    minutes: float = option(0.0, "stop after so many minutes (0: no limit)")
    optimizer: str = option("adamw", "adamw or muon")
    learning_rate: float = option(1.5e-3, "the largest step length")
    muon_learning_rate: float = option(0.0, "the same for the matrices under muon (0: learning_rate)")
    weight_decay: float = option(0.1, "how fast matrices shrink, times the learning rate")
    schedule: str = option("cosine", "cosine, or wsd: warm-up, stable, decay")
    warmup_steps: int = option(200, "steps until the learning rate is at its largest")
    cooldown_fraction: float = option(0.2, "wsd: the last share of the run, over which the rate falls")
    cooldown_start_step: int = option(0, "wsd: the step at which the fall begins (0: as cooldown_fraction says)")
    min_lr_ratio: float = option(0.0, "the share of the learning rate that is left at the end")
    max_grad_norm: float = option(1.0, "the longest gradient")
    ema_decay: float = option(
        0.0, "measure and keep a running average of the weights, of which each step keeps so much, as 0.999 (0: none)"
    )
    short_context_length: int = option(0, "rows of so few tokens at first (0: the model's context all the time)")
    short_context_fraction: float = option(0.8, "the share of the run after which rows have the model's whole context")
    mask_rate: float = option(0.15, "masked: the share of tokens asked for")
    final_mask_rate: float = option(
        0.0, "masked: that share at the run's end; it falls with the learning rate (0: mask_rate)"
    )
    line_start_probability: float = option(0.2, "causal: the share of rows that begin as a typed text, at a line")
    evaluate_every: int = option(500, "steps between measurements on the held-out texts")
    evaluate_rows: int = option(64, "rows of each held-out text to measure on")
    save_minutes: float = option(5.0, "minutes between saves")
    seed: int = option(1, "of weights, batches and dropout")
    precision: str = option("auto", "auto, float32 or bfloat16")
    device: str = option("auto", "auto, cpu, cuda or mps")
    threads: int = option(0, "processor threads (0: as torch chooses)")
    compile: bool = option(False, "use torch.compile")
    init_from: str = option(
        "", "a model's folder to begin with: its weights where names and shapes agree, tokens by spelling"
    )


@dataclass(frozen=True)
class Recipe:
    """What to train, on what, and how."""

    objective: str = "causal"
    texts: tuple[TextSource, ...] = ()
    validation: tuple[Path, ...] = ()
    tokenizer: TokenizerOptions = field(default_factory=TokenizerOptions)
    model: Mapping[str, Any] = field(default_factory=lambda: dict(MODEL_DEFAULTS))
    training: TrainingOptions = field(default_factory=TrainingOptions)

    def check(self) -> Recipe:
        """The same; raises DataError where something needed is missing."""
        if not self.texts:
            raise DataError("There is no text to train on; give one with --text FILE, or under [texts] in a recipe.")
        training = self.training
        if training.steps <= 0 and training.minutes <= 0:
            raise DataError("When should training end? Give --steps or --minutes, or put one under [training].")
        for name in ("batch_size", "evaluate_rows", "evaluate_every"):
            if getattr(training, name) < 1:
                raise DataError(f"{name} is {getattr(training, name)}; it must be at least 1.")
        mask_rates = {
            "mask_rate": training.mask_rate,
            "final_mask_rate": training.final_mask_rate or training.mask_rate,
        }
        for name, rate in mask_rates.items():
            if not 0 < rate < 1:
                raise DataError(f"{name} is {rate}; it must lie between 0 and 1.")
        for part in fields(training):
            value = getattr(training, part.name)
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                raise DataError(f"{part.name} is {value}; it must be a number from 0 on.")
        OPTIMIZERS[training.optimizer], SCHEDULES[training.schedule], TOKENIZER_TRAINERS[self.tokenizer.kind or "bpe"]
        with torch.device("meta"):  # all names and sizes of its parts, without a weight
            Transformer(self.config(max(1, self.tokenizer.vocabulary_size)))
        return self

    def config(self, vocabulary_size: int) -> Config:
        """The model's config: its sizes from the recipe, the rest from the objective."""
        return Config.from_dict(
            {**self.model, "vocabulary_size": vocabulary_size, **OBJECTIVES[self.objective].config_values}
        )

    def fingerprint(self) -> dict[str, Any]:
        """What must not change when a run is taken up again, as plain JSON values."""
        return {
            "objective": self.objective,
            "texts": {str(source.path): source.epochs for source in self.texts},
            "tokenizer": asdict(self.tokenizer),
            "model": dict(self.model),
        }


def load_recipe(path: Path) -> Recipe:
    """A recipe from a TOML file. Raises DataError for what cannot be read, and for keys it does not know."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"The recipe {path} cannot be read: {error}.") from error
    return parse_recipe(table)


def parse_recipe(table: Mapping[str, Any]) -> Recipe:
    """A recipe from the tables of a TOML file."""
    known = [part.name for part in fields(Recipe)]
    _reject_unknown(set(table) - set(known), "recipe", known)
    objective = table.get("objective", "causal")
    OBJECTIVES[str(objective)]
    texts, validation = table.get("texts", {}), table.get("validation", [])
    if not isinstance(texts, dict) or not isinstance(validation, list) or not all(map(_is_number, texts.values())):
        raise DataError('A recipe lists [texts] as "path" = epochs, and validation = ["path", ...].')
    for name in ("tokenizer", "model", "training"):
        if not isinstance(table.get(name, {}), dict):
            raise DataError(f"{name} = {table[name]!r} in the recipe; wanted a table, [{name}], with lines below it.")
    return Recipe(
        objective,
        tuple(TextSource.parse(f"{name}={weight}") for name, weight in texts.items()),
        tuple(expand_path(str(name)) for name in validation),
        override(TokenizerOptions(), table.get("tokenizer", {}), "[tokenizer]"),
        override_model(MODEL_DEFAULTS, table.get("model", {})),
        override(TrainingOptions(), table.get("training", {}), "[training]"),
    )


def override_model(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The model's sizes and names with some replaced; refuses what the objective decides or nobody knows."""
    known = [part.name for part in fields(Config) if part.name not in DERIVED_FIELDS]
    _reject_unknown(set(overrides) - set(known), "[model]", known)
    return {**base, **overrides}


def override(section: Section, overrides: Mapping[str, Any], where: str) -> Section:
    """The part with some fields replaced; refuses unknown names and values of another type."""
    types = {one.name: str(one.type) for one in fields(section)}  # type: ignore[arg-type]  # a dataclass
    _reject_unknown(set(overrides) - set(types), where, list(types))
    values = {}
    for name, value in overrides.items():
        if types[name] == "float" and type(value) is int:
            value = float(value)
        if type(value).__name__ != types[name]:
            raise DataError(f"{name} in {where} is {value!r}; wanted {types[name]}.")
        values[name] = value
    return replace(section, **values)  # type: ignore[type-var]


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _reject_unknown(unknown: set[str], where: str, known: list[str]) -> None:
    if unknown:
        raise DataError(f"Unknown in the {where}: {', '.join(sorted(unknown))}. Known: {', '.join(known)}.")
