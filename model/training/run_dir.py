"""A run's folder: the tokenizer, the encoded texts and the saves, next to the checkpoint that the run exports."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from model.data.corpus import Log, TextSource, TokenizedText, require_files, text_mixture, tokenize_cached
from model.errors import DataError
from model.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.text.tokenizer_training import train_tokenizer
from model.training import snapshots
from model.training.objectives import OBJECTIVES, Objective
from model.training.recipe import Recipe

RUN_FOLDER = "run"  # what only training needs lies in this folder inside the checkpoint's


@dataclass(frozen=True)
class RunFolder:
    """Where a recipe is carried out; what is slow to make is made once and found again by a later start."""

    recipe: Recipe
    checkpoint_folder: Path
    log: Log

    def __post_init__(self) -> None:
        path, mine = self.path / "recipe.json", self.recipe.fingerprint()
        require_files([*(source.path for source in self.recipe.texts), *self.recipe.validation])
        if self.checkpoint_folder.exists() and not self.checkpoint_folder.is_dir():
            raise DataError(f"{self.checkpoint_folder} is a file; give --out a folder, which may be new.")
        if path.is_file():
            theirs = json.loads(path.read_text(encoding="utf-8"))
            different = [name for name in mine if mine[name] != theirs.get(name)]
            if different:
                raise DataError(
                    f"{self.checkpoint_folder} holds a run of another recipe ({', '.join(different)}); "
                    "give another --out, or delete that folder to begin anew."
                )
        self.path.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(mine, indent=2) + "\n", encoding="utf-8")

    @property
    def path(self) -> Path:
        """The folder of what only training needs."""
        return self.checkpoint_folder / RUN_FOLDER

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The recipe's tokenizer: trained on the mix of texts, unless a folder gives one."""
        options, objective = self.recipe.tokenizer, OBJECTIVES[self.recipe.objective]
        if (self.path / TOKENIZER_FILE).is_file():
            return Tokenizer.load(self.path)
        if options.folder:
            tokenizer = Tokenizer.load(options.folder)
        else:
            self.log("Training the tokenizer ...")
            tokenizer = train_tokenizer(
                options.kind or objective.tokenizer_kind,
                text_mixture(self.recipe.texts),
                options.vocabulary_size,
                objective.special_tokens,
                options.plain_typography,
            )
        tokenizer.save(self.path)
        return tokenizer

    @cached_property
    def objective(self) -> Objective:
        """The objective, over the texts to learn from."""
        training = self.recipe.training
        option_names = ("mask_rate", "final_mask_rate", "line_start_probability")
        options = {name: getattr(training, name) for name in option_names}
        texts = [self._tokenized(source) for source in self.recipe.texts]
        return OBJECTIVES[self.recipe.objective](self.tokenizer, texts, options)

    @cached_property
    def validation_texts(self) -> tuple[TokenizedText, ...]:
        """The texts to measure on."""
        return tuple(self._tokenized(TextSource(path)) for path in self.recipe.validation)

    def _tokenized(self, source: TextSource) -> TokenizedText:
        separated = OBJECTIVES[self.recipe.objective].separates_documents
        separator = self.tokenizer.start_id if separated else None
        return tokenize_cached(source, self.tokenizer, separator, self.path / "tokens", self.log)

    def write_metrics(self, entry: dict[str, object]) -> None:
        """Adds a line to the run's log."""
        with open(self.path / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def fork_run(parent: Path, folder: Path) -> None:
    """Begins a run where another one stands: copies its saves, tokenizer and encoded texts, unless already done.

    The trunk may go on by itself. Raises DataError where it has no save.
    """
    theirs, mine = parent / RUN_FOLDER, folder / RUN_FOLDER
    if (mine / snapshots.LATEST).is_file():
        return
    if not (theirs / snapshots.LATEST).is_file():
        raise DataError(f"{parent} holds no save to branch from (no {RUN_FOLDER}/{snapshots.LATEST}).")
    shutil.copytree(theirs, mine, ignore=shutil.ignore_patterns("*.part", "log.jsonl"), dirs_exist_ok=True)
