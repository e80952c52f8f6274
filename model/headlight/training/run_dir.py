"""A training run's folder: tokenizer, encoded texts and snapshots, next to the exported checkpoint."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import torch

from headlight.checkpoints.load import require_new_folder
from headlight.config import Config
from headlight.config.flat_names import in_groups
from headlight.data.corpus import Log, TextSource, TokenizedText, require_files, text_mixture, tokenize_cached
from headlight.data.examples import ExampleTask
from headlight.data.text_tasks import TextExamples, TextTask
from headlight.errors import DataError
from headlight.file_writing import json_bytes, make_folder, replacing, write_files
from headlight.text.tokenizer import TOKENIZER_FILE, Tokenizer
from headlight.text.tokenizer_training import train_tokenizer
from headlight.training.objectives import EXAMPLE_OBJECTIVES, TEXT_OBJECTIVES, Objective
from headlight.training.recipe import Recipe

LATEST, BEFORE_COOLDOWN = "latest.pt", "before_cooldown.pt"


@dataclass
class Progress:
    """The progress of a run. `cooldown_began` is the (step, seconds) at which a wsd schedule began to decay.

    `best_score` is the lowest validation loss so far (for a classifier: error), on rows of `best_context` tokens.
    """

    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best_score: float | None = None
    best_context: int = 0
    cooldown_began: tuple[int, float] | None = None


@dataclass(frozen=True)
class StepReport:
    """The state of a run after a step, for a progress bar.

    The loss is the mean of the last steps; `validation` is the last evaluation's mean over the validation texts, in
    nats per token, or the accuracy of a classifier. `fraction` is the completed part of the run.
    """

    step: int
    loss: float
    validation: float | None
    fraction: float


def write_snapshot(path: Path, progress: Progress, parts: Mapping[str, Any]) -> None:
    """Write to another file, then rename it: if the process is killed, the old or the new snapshot is complete."""
    content = BytesIO()  # torch.save raises its own error for a full disk
    torch.save({"progress": asdict(progress), **parts}, content)
    make_folder(path.parent)
    with replacing(path) as file:
        file.write(content.getbuffer())


def read_snapshot(path: Path) -> tuple[Progress, dict[str, Any]]:
    """A snapshot written by `write_snapshot`. Raises DataError if it cannot be read."""
    try:
        parts = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises errors of many types
        raise DataError(f"The snapshot {path} cannot be read: {error}. Delete it to start again.") from error
    progress = parts.pop("progress")
    began = progress.pop("cooldown_began")
    return Progress(**progress, cooldown_began=None if began is None else (int(began[0]), float(began[1]))), parts


RUN_FOLDER = "run"  # inside the checkpoint's folder: files that only training needs


@dataclass(frozen=True)
class RunFolder:
    """The folder of one recipe's run; it caches slow results for a resumed run.

    If `show` is given it is called after each step, and lines with the same contents are not logged.
    """

    recipe: Recipe
    checkpoint_folder: Path
    log: Log
    force: bool = False  # also write into a folder that has other files
    show: Callable[[StepReport], None] | None = None

    def __post_init__(self) -> None:
        path, content = self.path / "recipe.json", json_bytes(self.recipe.fingerprint())
        task = self.recipe.example_task
        examples = task.paths if isinstance(task, TextTask) else ()
        require_files([*(source.path for source in self.recipe.texts), *examples, *self.recipe.validation])
        if not path.is_file():
            require_new_folder(self.checkpoint_folder, self.force)
        else:
            stored, wanted = json.loads(path.read_bytes()), json.loads(content)  # JSON has lists for tuples
            stored["model"] = in_groups(stored.get("model", {}))  # a run of an older version has flat names
            different = [name for name, value in wanted.items() if value != stored.get(name)]
            if different and not any(self.path.rglob(LATEST)):  # a failed start has no snapshot to lose
                shutil.rmtree(self.path)
            elif different:
                raise DataError(
                    f"{self.checkpoint_folder} contains a run of another recipe ({', '.join(different)}); "
                    "give another --out, or delete that folder to start again."
                )
        write_files(self.path, {path.name: content})

    @property
    def path(self) -> Path:
        """The folder of files that only training needs."""
        return self.checkpoint_folder / RUN_FOLDER

    @property
    def start_folder(self) -> Path:
        """The folder of the run that this one starts from, if `init_from` names a recipe."""
        return self.path / "start"

    @property
    def is_begun(self) -> bool:
        """Whether there is a snapshot to resume from."""
        return (self.path / LATEST).is_file()

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The run's tokenizer: from the recipe's folder if it names one, else the task's or trained on the texts."""
        if (self.path / TOKENIZER_FILE).is_file():
            return Tokenizer.load(self.path)
        if self.recipe.tokenizer.folder:
            tokenizer = Tokenizer.load(self.recipe.tokenizer.folder)
        else:
            is_generated = self.task and not isinstance(self.task, TextExamples)
            tokenizer = self.task.make_tokenizer() if self.task and is_generated else self._train_tokenizer()
        tokenizer.save(self.path)
        return tokenizer

    def _train_tokenizer(self) -> Tokenizer:
        self.log("Training the tokenizer ...")
        options = self.recipe.tokenizer
        if isinstance(self.task, TextExamples):
            usual_kind, texts, special_tokens = "bpe", self.task.texts, self.task.special_tokens
        else:
            objective, texts = TEXT_OBJECTIVES[self.recipe.objective], text_mixture(self.recipe.texts)
            usual_kind, special_tokens = objective.tokenizer_kind, objective.special_tokens
        kind, asked = options.kind or usual_kind, options.vocabulary_size
        tokenizer = train_tokenizer(kind, texts, asked, special_tokens, options.plain_typography)
        size = tokenizer.vocabulary_size
        if size > asked:
            raise DataError(
                f"vocabulary_size is {asked}; the letters of these texts and the special tokens alone take {size} "
                f"entries in a tokenizer of kind {kind}. Give {size} or more."
            )
        if size < asked:
            self.log(f"These texts give a vocabulary of {size} entries, fewer than vocabulary_size, {asked}.")
        return tokenizer

    @cached_property
    def task(self) -> ExampleTask | None:
        """The task whose examples are read; None for running text."""
        task = self.recipe.example_task
        return task.open() if task else None

    @cached_property
    def config(self) -> Config:
        """The config of the trained model."""
        return self.recipe.config(self.tokenizer.vocabulary_size, self.task.labels if self.task else ())

    @cached_property
    def objective(self) -> Objective:
        """The objective over the training texts, or over a task's examples."""
        training = self.recipe.training
        option_names = ("mask_rate", "final_mask_rate", "token_dropout", "line_start_probability")
        options = {name: getattr(training, name) for name in option_names}
        if self.task:
            return EXAMPLE_OBJECTIVES[self.recipe.objective](self.tokenizer, self.task, options, self.config.image)
        texts = [self._tokenized(source) for source in self.recipe.texts]
        return TEXT_OBJECTIVES[self.recipe.objective](self.tokenizer, texts, options)

    @cached_property
    def validation_sources(self) -> tuple[TokenizedText | ExampleTask, ...]:
        """The validation texts, or the task with its held-out examples."""
        return (
            (self.task,) if self.task else tuple(self._tokenized(TextSource(path)) for path in self.recipe.validation)
        )

    def _tokenized(self, source: TextSource) -> TokenizedText:
        separated = TEXT_OBJECTIVES[self.recipe.objective].separates_documents
        separator = self.tokenizer.start_id if separated else None
        return tokenize_cached(source, self.tokenizer, separator, self.path / "tokens", self.log)

    def write_metrics(self, entry: dict[str, object]) -> None:
        """Append a line to the run's log."""
        with open(self.path / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def fork_run(parent: Path, folder: Path, force: bool = False) -> None:
    """Copy another run's snapshots, tokenizer and encoded texts, unless this run has its own.

    The other run may go on. Raises DataError if it has no snapshot, CheckpointError if a folder has other files.
    """
    source, target = parent / RUN_FOLDER, folder / RUN_FOLDER
    if (target / LATEST).is_file():
        return
    if not (source / LATEST).is_file():
        raise DataError(f"{parent} has no snapshot to fork from (no {RUN_FOLDER}/{LATEST}).")
    if not target.is_dir():
        require_new_folder(folder, force)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.part", "log.jsonl"), dirs_exist_ok=True)
