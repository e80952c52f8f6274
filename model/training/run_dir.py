"""A run's folder: the tokenizer, the encoded texts and the saves, next to the checkpoint that the run exports."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from model.data.corpus import Say, Source, Tokens, kept, mixed, require_files
from model.errors import DataError
from model.text.tokenizer import FILE, Tokenizer
from model.text.tokenizer_training import train_tokenizer
from model.training import snapshots
from model.training.objectives import OBJECTIVES, Objective
from model.training.recipe import Recipe

INSIDE = "run"  # what only training needs lies in this folder inside the checkpoint's


@dataclass(frozen=True)
class Workspace:
    """Where a recipe is carried out; what is slow to make is made once and found again by a later start."""

    recipe: Recipe
    folder: Path
    say: Say

    def __post_init__(self) -> None:
        path, mine = self.inside / "recipe.json", self.recipe.essence()
        require_files([*(source.path for source in self.recipe.texts), *self.recipe.valid])
        if self.folder.exists() and not self.folder.is_dir():
            raise DataError(f"{self.folder} is a file; give --out a folder, which may be new.")
        if path.is_file():
            theirs = json.loads(path.read_text(encoding="utf-8"))
            different = [name for name in mine if mine[name] != theirs.get(name)]
            if different:
                raise DataError(
                    f"{self.folder} holds a run of another recipe ({', '.join(different)}); "
                    "give another --out, or delete that folder to begin anew."
                )
        self.inside.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(mine, indent=2) + "\n", encoding="utf-8")

    @property
    def inside(self) -> Path:
        """The folder of what only training needs."""
        return self.folder / INSIDE

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The recipe's tokenizer: trained on the mix of texts, unless a folder gives one."""
        part, objective = self.recipe.tokenizer, OBJECTIVES[self.recipe.objective]
        if (self.inside / FILE).is_file():
            return Tokenizer.load(self.inside)
        if part.folder:
            made = Tokenizer.load(part.folder)
        else:
            self.say("Training the tokenizer ...")
            made = train_tokenizer(
                part.kind or objective.kind,
                mixed(self.recipe.texts),
                part.size,
                objective.special,
                part.plain_typography,
            )
        made.save(self.inside)
        return made

    @cached_property
    def objective(self) -> Objective:
        """The objective, over the texts to learn from."""
        training = self.recipe.training
        names = ("mask_rate", "last_mask_rate", "line_starts")
        choices = {name: getattr(training, name) for name in names}
        texts = [self._tokens(source) for source in self.recipe.texts]
        return OBJECTIVES[self.recipe.objective](self.tokenizer, texts, choices)

    @cached_property
    def held_out(self) -> tuple[Tokens, ...]:
        """The texts to measure on."""
        return tuple(self._tokens(Source(path)) for path in self.recipe.valid)

    def _tokens(self, source: Source) -> Tokens:
        separated = OBJECTIVES[self.recipe.objective].separated
        separator = self.tokenizer.start_id if separated else None
        return kept(source, self.tokenizer, separator, self.inside / "tokens", self.say)

    def log(self, entry: dict[str, object]) -> None:
        """Adds a line to the run's log."""
        with open(self.inside / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def branch(trunk: Path, folder: Path) -> None:
    """Begins a run where another one stands: copies its saves, tokenizer and encoded texts, unless already done.

    The trunk may go on by itself. Raises DataError where it has no save.
    """
    theirs, mine = trunk / INSIDE, folder / INSIDE
    if (mine / snapshots.NEWEST).is_file():
        return
    if not (theirs / snapshots.NEWEST).is_file():
        raise DataError(f"{trunk} holds no save to branch from (no {INSIDE}/{snapshots.NEWEST}).")
    shutil.copytree(theirs, mine, ignore=shutil.ignore_patterns("*.part", "log.jsonl"), dirs_exist_ok=True)
