"""A model whose weights are the mean of several runs' that differ in their seed alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from headlight.checkpoints import load
from headlight.training.run_dir import RunFolder
from headlight.training.snapshots import Progress
from headlight.training.trainer import Trainer


def train_mean_of_seeds(run_folder: RunFolder, should_stop: Callable[[], bool]) -> bool:
    """Train once with each of the recipe's seeds, and export the mean of the weights; False if stopped before.

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
    """The folder of the run with one of the seeds, inside the folder of the whole."""
    recipe = run_folder.recipe
    training = replace(recipe.training, seed=seed, seeds=())
    return RunFolder(replace(recipe, training=training), run_folder.path / f"seed-{seed}", run_folder.log)


def _export_mean(run_folder: RunFolder, folders: list[Path], each: list[Progress]) -> None:
    """Evaluate and export the mean of models, with what was spent on all of them."""
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
