"""Training on generated tasks: a run learns, resumes exactly, keeps the weights of its steps, and is measured."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector

from headlight.checkpoints import load
from headlight.checkpoints.load import kept_steps, load_step
from headlight.cli.main import main
from headlight.cli.train import train
from headlight.data.generated import GENERATED_TASKS
from headlight.errors import CheckpointError, ImageError
from headlight.evaluation.example_accuracy import AnswerBigrams, answer, answer_tokens, example_accuracy
from headlight.paths import assets_dir
from headlight.training.recipe import load_recipe
from headlight.training.run_dir import RunFolder
from headlight.training.trainer import Trainer
from headlight.vision.shipped_images import shipped_image_path
from tests.model.training.recipes import write_recipe
from tests.sampling import some

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

KEPT = "keep_steps = [0, 4, 8]"


@pytest.mark.parametrize("task", some(GENERATED_TASKS, lambda task: task == "caption"))
def test_a_run_on_a_task_leaves_a_checkpoint_that_answers(task: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert train([str(write_recipe(tmp_path, task)), "--out", str(out)]) == 0
    checkpoint = load(out)
    assert task in checkpoint.card and "exact" in checkpoint.card
    (example,) = GENERATED_TASKS[task].held_out_examples(1, 1)
    assert isinstance(answer(checkpoint, example, 5), str)
    log = [json.loads(line) for line in (out / "run" / "log.jsonl").read_text().splitlines()]
    assert {"nats per token", "accuracy", "exact"} == set(log[0]["validation"][task])


@pytest.mark.parametrize("task", some(GENERATED_TASKS, lambda task: task == "sort"))
def test_the_command_that_is_to_be_tried_answers(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train([str(write_recipe(tmp_path, task, steps=1)), "--out", str(tmp_path / "my model")]) == 0
    said = capsys.readouterr().err.strip().splitlines()[-1]
    picture = assets_dir() / shipped_image_path("purple-cross-below-blue-star")
    words = [str(picture) if word == "FILE" else word for word in shlex.split(said.partition("Try: headlight ")[2])]
    assert main(words) == 0
    assert capsys.readouterr().err == ""


def test_a_run_learns(tmp_path: Path) -> None:
    assert train([str(write_recipe(tmp_path, "sort", steps=60)), "--out", str(tmp_path / "out")]) == 0
    log = [json.loads(line) for line in (tmp_path / "out" / "run" / "log.jsonl").read_text().splitlines()]
    losses = [entry["validation"]["sort"]["nats per token"] for entry in log if "validation" in entry]
    assert losses[-1] < losses[0] - 0.3


@pytest.mark.parametrize("task", ["sort", "dates", "caption"])
def test_a_resumed_run_is_exactly_an_uninterrupted_one(task: str, tmp_path: Path) -> None:
    def start(folder: str) -> Trainer:
        recipe = load_recipe(write_recipe(tmp_path, task, steps=8, training=KEPT)).check()
        return Trainer(RunFolder(recipe, tmp_path / folder, lambda text: None))

    whole, first = start("whole"), start("halves")
    assert whole.train()
    first.should_stop = lambda: first.progress.step >= 5
    assert not first.train()
    second = start("halves")
    assert second.progress.step == 5 and second.train()
    weights = [parameters_to_vector(run.train_state.model.parameters()) for run in (whole, second)]
    assert torch.equal(*weights)
    assert kept_steps(tmp_path / "halves") == kept_steps(tmp_path / "whole") == (0, 4, 8)


def test_the_weights_of_kept_steps_open(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert not kept_steps(out)
    recipe = write_recipe(tmp_path, "induction", steps=8, model='feed_forward = "none"', training=KEPT)
    train([str(recipe), "--out", str(out)])
    assert kept_steps(out) == (0, 4, 8)
    first, last, exported = (
        parameters_to_vector(checkpoint.model.parameters())
        for checkpoint in (load_step(out, 0), load_step(out, 8), load(out))
    )
    assert not torch.equal(first, last) and torch.equal(last, exported)
    with pytest.raises(CheckpointError, match=r"out has no weights of step 5\. Kept steps: 0, 4, 8\."):
        load_step(out, 5)
    (out / "steps" / "00004.safetensors").write_bytes(b"damaged")
    with pytest.raises(CheckpointError, match="weights of step 4 cannot be read"):
        load_step(out, 4)


def test_a_model_that_reads_no_image_is_not_trained_on_drawings(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, "caption", model="bias = true")
    with pytest.raises(ImageError, match="reads texts, not images"):
        train([str(recipe), "--out", str(tmp_path / "out")])


@pytest.mark.parametrize("task", some(["induction", "sort", "dates", "caption"], lambda task: task == "dates"))
def test_a_model_is_measured_on_a_task(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    train([str(write_recipe(tmp_path, task)), "--out", str(out)])
    accuracy = example_accuracy(load(out), GENERATED_TASKS[task], 30, seed=3)
    assert accuracy.examples == 30 and 0 <= accuracy.exact <= 30
    counted = AnswerBigrams(answer_tokens(load(out), GENERATED_TASKS[task].training_examples(3, 2_000)))
    held_out = answer_tokens(load(out), GENERATED_TASKS[task].held_out_examples(3, 30))
    assert sum(map(len, held_out)) == accuracy.tokens
    assert accuracy.guessed == sum(map(counted.tokens_right, held_out)) < accuracy.tokens
    assert accuracy.link_agreement.shape == (1, 2) and np.isfinite(accuracy.link_agreement).all()
    capsys.readouterr()
    assert main(["evaluate", str(out), "--task", task, "--examples", "30", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["examples"]
    assert printed["task"] == task and printed["examples"] == 30
    assert main(["card", str(out), "--task", task, "--examples", "30"]) == 0
    card = capsys.readouterr().out
    assert "On 30 held-out examples" in card and card.count("\n| ") >= 10
