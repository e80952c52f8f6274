"""A run learns, stops, resumes exactly, forks, and exports a checkpoint that opens."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from headlight.checkpoints import load
from headlight.cli.main import main
from headlight.cli.train import add_arguments, only_training, recipe_from_options, train
from headlight.errors import CheckpointError, DataError
from headlight.text.tokenizer_training import CAUSAL_SPECIAL_TOKENS, MASKED_SPECIAL_TOKENS, train_tokenizer
from headlight.training.objectives.batch import Batch
from headlight.training.recipe import Recipe
from headlight.training.run_dir import RunFolder, fork_run
from headlight.training.trainer import Trainer
from tests.model.training.conftest import story
from tests.sampling import some
from tests.shell import Shell


def recipe(flags: list[str], *more: str) -> Recipe:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return recipe_from_options(parser.parse_args([*flags, *more]))


def start_run(flags: list[str], folder: Path, *more: str) -> Trainer:
    return Trainer(RunFolder(recipe(flags, *more), folder, lambda text: None))


def all_weights(run: Trainer) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in run.train_state.model.parameters()])


def train_until(run: Trainer, steps: int) -> Trainer:
    """Train until the run has done this number of steps."""
    run.should_stop = lambda: run.progress.step >= steps
    run.train()
    return run


@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_a_run_learns_and_leaves_a_checkpoint(
    objective: str, flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train([*flags, "--objective", objective, "--steps", "60", "--learning-rate", "0.01"]) == 0
    loaded = load(tmp_path / "out")
    assert loaded.model.config.output_head == ("language-model" if objective == "causal" else "masked-language-model")
    assert loaded.tokenizer.vocabulary_size == loaded.model.config.vocabulary_size
    assert "valid" in loaded.card and "Trained on" in loaded.card
    log = [json.loads(line) for line in (tmp_path / "out" / "run" / "log.jsonl").read_text().splitlines()]
    losses = [entry["validation"]["valid"]["nats per token"] for entry in log if "validation" in entry]
    assert losses[-1] < losses[0] - 0.1
    assert "valid" in capsys.readouterr().err


CHOICES = {
    "adamw": [],
    "dropout": ["--dropout", "0.2"],
    "masked": ["--objective", "masked"],
    "wsd": ["--schedule", "wsd", "--cooldown-fraction", "0.5"],
    "average": ["--ema-decay", "0.9"],
    "micro": ["--micro-batch-size", "3"],
    "short": ["--short-context-length", "16", "--short-context-fraction", "0.5"],
    "muon": ["--optimizer", "muon"],
}


@pytest.mark.parametrize("choice", some(CHOICES, lambda choice: choice in ("masked", "average")))
def test_a_resumed_run_is_exactly_an_uninterrupted_one(choice: str, flags: list[str], tmp_path: Path) -> None:
    if choice == "muon" and not hasattr(torch.optim, "Muon"):
        pytest.skip("this torch has no Muon")
    masked = "masked" in CHOICES[choice]
    tokenizer = train_tokenizer(
        "wordpiece" if masked else "bpe", [story(1)], 300, MASKED_SPECIAL_TOKENS if masked else CAUSAL_SPECIAL_TOKENS
    )
    tokenizer.save(tmp_path / "tokenizer")  # the library's WordPiece training breaks ties at random
    size = flags.index("--vocabulary-size")  # used only for training a tokenizer
    flags = [*flags[:size], *flags[size + 2 :], *CHOICES[choice], "--tokenizer", str(tmp_path / "tokenizer")]
    whole = start_run(flags, tmp_path / "whole")
    assert whole.train()
    train_until(start_run(flags, tmp_path / "halves"), 13)
    second = start_run(flags, tmp_path / "halves")
    assert second.progress.step == 13
    assert second.train()
    assert torch.equal(all_weights(whole), all_weights(second))
    assert whole.progress.best_score == second.progress.best_score and whole.progress.tokens == second.progress.tokens


def test_the_mask_rate_falls_to_the_final_mask_rate(flags: list[str], tmp_path: Path) -> None:
    wsd = ["--objective", "masked", "--schedule", "wsd", "--cooldown-fraction", "0.5", "--warmup-steps", "5"]
    run = start_run(flags, tmp_path / "out", *wsd, "--mask-rate", "0.4", "--final-mask-rate", "0.1")
    target_rates, train_step = [], run.train_state.train_step

    def recorded(batch: Batch, lr_factor: float, seed: int) -> float:
        target_rates.append(batch.target_count / batch.ids.numel())
        return train_step(batch, lr_factor, seed)

    run.train_state.train_step = recorded  # type: ignore[method-assign]
    run.train()
    assert min(target_rates[:10]) > 0.3 and target_rates[-1] < 0.15  # as many targets in warmup as in the stable part
    assert target_rates[10:] == sorted(target_rates[10:], reverse=True)


def test_micro_batches_give_the_same_loss(flags: list[str], tmp_path: Path) -> None:
    one, parts = start_run(flags, tmp_path / "one"), start_run(flags, tmp_path / "parts", "--micro-batch-size", "3")
    assert one.train_step() == pytest.approx(parts.train_step(), rel=1e-5)


def test_a_finished_run_can_be_prolonged(flags: list[str], tmp_path: Path) -> None:
    start_run(flags, tmp_path / "out").train()
    more = start_run(flags, tmp_path / "out", "--steps", "25")
    assert more.progress.step == 20
    assert more.train() and more.progress.step == 25


def test_a_prolonged_run_resumes_from_before_its_cooldown(flags: list[str], tmp_path: Path) -> None:
    wsd = ["--schedule", "wsd", "--cooldown-fraction", "0.25"]
    start_run(flags, tmp_path / "out", *wsd).train()
    more = start_run(flags, tmp_path / "out", *wsd, "--steps", "40")
    assert more.progress.step == 15 and more.lr_factor == 1.0  # with 20 steps the cooldown begins at 15, with 40 later
    assert start_run(flags, tmp_path / "out", *wsd).progress.step == 20


def test_a_fork_cools_down_and_leaves_its_parent_alone(flags: list[str], tmp_path: Path) -> None:
    parent = train_until(start_run(flags, tmp_path / "parent", "--schedule", "wsd", "--steps", "100"), 12)
    fork_run(tmp_path / "parent", tmp_path / "fork")
    fork = start_run(flags, tmp_path / "fork", "--schedule", "wsd", "--cooldown-start-step", "12", "--steps", "16")
    assert fork.progress.step == 12
    rates = []
    while fork.fraction_done(fork.progress.step, fork.progress.seconds) < 1:
        fork.train_step()
        rates.append(fork.lr_factor)
    assert rates == pytest.approx([0.75, 0.5, 0.25, 0.0])
    assert (
        start_run(flags, tmp_path / "parent", "--schedule", "wsd", "--steps", "100").progress.step
        == parent.progress.step
    )
    with pytest.raises(DataError, match="no snapshot to fork from"):
        fork_run(tmp_path / "nowhere", tmp_path / "other")


def test_a_folder_holds_one_kind_of_run(flags: list[str], tmp_path: Path) -> None:
    assert start_run(flags, tmp_path / "out").train()
    with pytest.raises(DataError, match=r"another recipe \(model\); give another --out"):
        start_run(flags, tmp_path / "out", "--layers", "2")


def test_a_start_that_failed_leaves_the_folder_to_the_corrected_recipe(flags: list[str], tmp_path: Path) -> None:
    first = start_run(flags, tmp_path / "out").run_folder
    assert first.tokenizer.vocabulary_size != 290
    corrected = start_run(flags, tmp_path / "out", "--layers", "2", "--vocabulary-size", "290").run_folder
    assert corrected.tokenizer.vocabulary_size == 290, "nothing remains of the first recipe"


def test_a_vocabulary_that_the_texts_do_not_give_is_said(flags: list[str], tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.raises(DataError, match="vocabulary_size is 5; the letters of these texts"):
        RunFolder(recipe(flags, "--vocabulary-size", "5"), tmp_path / "small", said.append).tokenizer  # noqa: B018
    large = RunFolder(recipe(flags, "--vocabulary-size", "500000"), tmp_path / "large", said.append)
    size = large.tokenizer.vocabulary_size
    assert f"These texts give a vocabulary of {size} entries, fewer than vocabulary_size, 500000." in said


@pytest.mark.parametrize("verb", ["train", "export", "fork"])
def test_a_folder_with_other_files_is_left_as_it_is(verb: str, flags: list[str], tmp_path: Path, shell: Shell) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "README.md").write_text("mine")
    if verb == "fork":
        assert start_run(flags, tmp_path / "parent").train()
    arguments = {
        "train": ["train", *flags, "--out", str(theirs)],
        "export": ["export", "stories-causal", str(theirs)],
        "fork": ["train", *flags, "--out", str(theirs), "--fork-from", str(tmp_path / "parent")],
    }[verb]
    assert "is not empty (README.md). Give a new folder, or --force" in shell.refused(arguments)
    assert [path.name for path in theirs.iterdir()] == ["README.md"]


def test_a_training_keeps_others_out_of_its_folder(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with only_training(tmp_path / "out"):
        assert main(["train", *flags, "--out", str(tmp_path / "out")]) == 2
    assert "Another training run writes into" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--text", "--validation"])
def test_a_missing_text_is_an_error_at_once_and_leaves_no_run_behind(
    flag: str, flags: list[str], tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="no file nowhere"):
        start_run(flags, tmp_path / "out", flag, "nowhere.txt")
    start_run(flags, tmp_path / "out")  # the corrected command starts normally
    with pytest.raises(CheckpointError, match="is a file; give a folder"):
        start_run(flags, tmp_path / "learn.txt")


def test_time_counts_across_stops(flags: list[str], tmp_path: Path) -> None:
    run = train_until(start_run(flags, tmp_path / "out", "--steps", "0", "--minutes", "10"), 5)
    assert 0 < run.progress.seconds < 600
    again = start_run(flags, tmp_path / "out", "--steps", "0", "--minutes", "10")
    assert again.progress.seconds == run.progress.seconds
    assert again.fraction_done(again.progress.step, 300.0) == 0.5


def test_the_best_model_is_the_one_that_is_kept(flags: list[str], tmp_path: Path) -> None:
    run = start_run(flags, tmp_path / "out")
    run.evaluate()
    before = (tmp_path / "out" / "model.safetensors").read_bytes()
    run.progress.best_score = 0.0  # no later score is better
    run.train_step()
    run.evaluate()
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == before


def test_rows_grow_to_the_whole_context_length(flags: list[str], tmp_path: Path) -> None:
    run = start_run(flags, tmp_path / "out", "--short-context-length", "8", "--short-context-fraction", "0.5")
    assert run.context == 8
    run.train_step()
    assert run.progress.tokens == 8 * 32  # as many tokens as in rows of 32
    run.progress.step = 10
    assert run.context == 32


def test_a_resumed_run_keeps_the_precision_that_was_chosen(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    auto = [flag if flag != "float32" else "auto" for flag in flags]
    for chosen in (torch.bfloat16, torch.float32):  # the timing chooses differently the second time
        monkeypatch.setattr(
            "headlight.training.train_step.choose_precision", lambda name, device, chosen=chosen: chosen
        )
        run = train_until(start_run(auto, tmp_path / "out"), 1)
        assert run.train_state.precision == torch.bfloat16


def test_losses_in_rows_of_another_length_are_not_compared(flags: list[str], tmp_path: Path) -> None:
    run = start_run(flags, tmp_path / "out", "--short-context-length", "8", "--short-context-fraction", "0.5")
    run.evaluate()
    run.progress.best_score = 0.0  # a score of short rows
    run.progress.step = 10
    run.evaluate()
    assert run.progress.best_score and run.progress.best_context == 32


def test_a_broken_snapshot_is_an_error(flags: list[str], tmp_path: Path) -> None:
    train_until(start_run(flags, tmp_path / "out"), 1)
    (tmp_path / "out" / "run" / "latest.pt").write_bytes(b"half")
    with pytest.raises(DataError, match=r"cannot be read.*Delete it to start again"):
        start_run(flags, tmp_path / "out")


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="Windows programs cannot handle SIGTERM")
def test_a_terminated_run_saves_and_says_so(flags: list[str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-m", "headlight.cli", "train", *flags, "--steps", "100000", "--evaluate-every", "1"]
    with open(log, "w") as errors:
        process = subprocess.Popen(command, stderr=errors, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    try:
        deadline = time.monotonic() + 120
        while "bits per byte" not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    finally:
        process.kill()
    assert "and saved; the same command resumes from there." in log.read_text()
    assert start_run(flags, tmp_path / "out", "--steps", "100000").progress.step > 0
