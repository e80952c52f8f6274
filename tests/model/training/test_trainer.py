"""A run learns, stops, goes on as if it had not stopped, branches, and leaves a checkpoint that opens."""

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

from model.checkpoints import load
from model.cli.train import add_arguments, recipe_from_options, train
from model.errors import DataError
from model.text.tokenizer_training import CAUSAL_SPECIAL_TOKENS, MASKED_SPECIAL_TOKENS, train_tokenizer
from model.training.objectives import Batch
from model.training.recipe import Recipe
from model.training.run_dir import RunFolder, fork_run
from model.training.trainer import Trainer
from tests.model.training.conftest import story


def recipe(flags: list[str], *more: str) -> Recipe:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return recipe_from_options(parser.parse_args([*flags, *more]))


def begin(flags: list[str], folder: Path, *more: str) -> Trainer:
    return Trainer(RunFolder(recipe(flags, *more), folder, lambda text: None))


def weights(run: Trainer) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in run.train_state.model.parameters()])


def after(run: Trainer, steps: int) -> Trainer:
    """The run, stopped before the step with that number."""
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
    assert "valid" in loaded.card and "Seen in training" in loaded.card
    log = [json.loads(line) for line in (tmp_path / "out" / "run" / "log.jsonl").read_text().splitlines()]
    losses = [entry["held_out"]["valid"]["nats"] for entry in log if "held_out" in entry]
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


@pytest.mark.parametrize("choice", CHOICES)
def test_a_stopped_run_goes_on_exactly_as_if_it_had_not_stopped(choice: str, flags: list[str], tmp_path: Path) -> None:
    if choice == "muon" and not hasattr(torch.optim, "Muon"):
        pytest.skip("this torch has no Muon")
    masked = "masked" in CHOICES[choice]
    made = train_tokenizer(
        "wordpiece" if masked else "bpe", [story(1)], 300, MASKED_SPECIAL_TOKENS if masked else CAUSAL_SPECIAL_TOKENS
    )
    made.save(tmp_path / "tokenizer")  # the library's WordPiece training breaks ties by chance
    flags = [*flags, *CHOICES[choice], "--tokenizer", str(tmp_path / "tokenizer")]
    whole = begin(flags, tmp_path / "whole")
    assert whole.train()
    after(begin(flags, tmp_path / "halves"), 13)
    second = begin(flags, tmp_path / "halves")
    assert second.progress.step == 13
    assert second.train()
    assert torch.equal(weights(whole), weights(second))
    assert whole.progress.best_loss == second.progress.best_loss and whole.progress.tokens == second.progress.tokens


def test_a_run_ends_with_fewer_masks_where_its_recipe_says_so(flags: list[str], tmp_path: Path) -> None:
    wsd = ["--objective", "masked", "--schedule", "wsd", "--cooldown-fraction", "0.5", "--warmup-steps", "5"]
    run = begin(flags, tmp_path / "out", *wsd, "--mask-rate", "0.4", "--final-mask-rate", "0.1")
    asked, learn = [], run.train_state.train_step

    def noted(batch: Batch, lr_factor: float, seed: int) -> float:
        asked.append(batch.target_count / batch.ids.numel())
        return learn(batch, lr_factor, seed)

    run.train_state.train_step = noted  # type: ignore[method-assign]
    run.train()
    assert min(asked[:10]) > 0.3 and asked[-1] < 0.15  # warm-up asks for as many as the rest of the top
    assert asked[10:] == sorted(asked[10:], reverse=True)


def test_a_batch_in_parts_learns_the_same(flags: list[str], tmp_path: Path) -> None:
    one, parts = begin(flags, tmp_path / "one"), begin(flags, tmp_path / "parts", "--micro-batch-size", "3")
    assert one.train_step() == pytest.approx(parts.train_step(), rel=1e-5)


def test_a_finished_run_can_go_on_longer(flags: list[str], tmp_path: Path) -> None:
    begin(flags, tmp_path / "out").train()
    more = begin(flags, tmp_path / "out", "--steps", "25")
    assert more.progress.step == 20
    assert more.train() and more.progress.step == 25


def test_a_decayed_run_goes_on_from_before_its_decay(flags: list[str], tmp_path: Path) -> None:
    wsd = ["--schedule", "wsd", "--cooldown-fraction", "0.25"]
    begin(flags, tmp_path / "out", *wsd).train()
    more = begin(flags, tmp_path / "out", *wsd, "--steps", "40")
    assert more.progress.step == 15 and more.lr_factor == 1.0  # 15 of 20 were stable, and of 40 all of them are
    assert begin(flags, tmp_path / "out", *wsd).progress.step == 20


def test_a_decay_branches_off_and_leaves_the_trunk_alone(flags: list[str], tmp_path: Path) -> None:
    trunk = after(begin(flags, tmp_path / "trunk", "--schedule", "wsd", "--steps", "100"), 12)
    fork_run(tmp_path / "trunk", tmp_path / "leaf")
    leaf = begin(flags, tmp_path / "leaf", "--schedule", "wsd", "--cooldown-start-step", "12", "--steps", "16")
    assert leaf.progress.step == 12
    rates = []
    while leaf.fraction_done(leaf.progress.step, leaf.progress.seconds) < 1:
        leaf.train_step()
        rates.append(leaf.lr_factor)
    assert rates == pytest.approx([0.75, 0.5, 0.25, 0.0])
    assert begin(flags, tmp_path / "trunk", "--schedule", "wsd", "--steps", "100").progress.step == trunk.progress.step
    with pytest.raises(DataError, match="no save to branch from"):
        fork_run(tmp_path / "nowhere", tmp_path / "other")


def test_a_folder_holds_one_kind_of_run(flags: list[str], tmp_path: Path) -> None:
    begin(flags, tmp_path / "out")
    with pytest.raises(DataError, match=r"another recipe \(model\); give another --out"):
        begin(flags, tmp_path / "out", "--layers", "2")


@pytest.mark.parametrize("flag", ["--text", "--validation"])
def test_a_missing_text_is_told_at_once_and_leaves_no_trace(flag: str, flags: list[str], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file nowhere"):
        begin(flags, tmp_path / "out", flag, "nowhere.txt")
    begin(flags, tmp_path / "out")  # the corrected command finds nothing in its way
    with pytest.raises(DataError, match="is a file; give --out a folder"):
        begin(flags, tmp_path / "learn.txt")


def test_time_counts_across_stops(flags: list[str], tmp_path: Path) -> None:
    run = after(begin(flags, tmp_path / "out", "--steps", "0", "--minutes", "10"), 5)
    assert 0 < run.progress.seconds < 600
    again = begin(flags, tmp_path / "out", "--steps", "0", "--minutes", "10")
    assert again.progress.seconds == run.progress.seconds
    assert again.fraction_done(again.progress.step, 300.0) == 0.5


def test_the_best_model_is_the_one_that_is_kept(flags: list[str], tmp_path: Path) -> None:
    run = begin(flags, tmp_path / "out")
    run.evaluate()
    before = (tmp_path / "out" / "model.safetensors").read_bytes()
    run.progress.best_loss = 0.0  # nothing will be better
    run.train_step()
    run.evaluate()
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == before


def test_rows_grow_to_the_whole_context_at_the_end(flags: list[str], tmp_path: Path) -> None:
    run = begin(flags, tmp_path / "out", "--short-context-length", "8", "--short-context-fraction", "0.5")
    assert run.context == 8
    run.train_step()
    assert run.progress.tokens == 8 * 32  # as many tokens as in rows of 32
    run.progress.step = 10
    assert run.context == 32


def test_a_resumed_run_keeps_the_precision_that_was_chosen(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    auto = [flag if flag != "float32" else "auto" for flag in flags]
    for chosen in (torch.bfloat16, torch.float32):  # the stopwatch decides otherwise the second time
        monkeypatch.setattr("model.training.train_step.choose_precision", lambda name, device, chosen=chosen: chosen)
        run = after(begin(auto, tmp_path / "out"), 1)
        assert run.train_state.precision == torch.bfloat16


def test_losses_in_rows_of_another_length_are_not_compared(flags: list[str], tmp_path: Path) -> None:
    run = begin(flags, tmp_path / "out", "--short-context-length", "8", "--short-context-fraction", "0.5")
    run.evaluate()
    run.progress.best_loss = 0.0  # of short rows
    run.progress.step = 10
    run.evaluate()
    assert run.progress.best_loss and run.progress.best_context == 32


def test_a_broken_save_gets_a_sentence(flags: list[str], tmp_path: Path) -> None:
    after(begin(flags, tmp_path / "out"), 1)
    (tmp_path / "out" / "run" / "newest.pt").write_bytes(b"half")
    with pytest.raises(DataError, match=r"cannot be read.*Delete it to begin anew"):
        begin(flags, tmp_path / "out")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a program can answer")
def test_a_terminated_run_saves_and_says_so(flags: list[str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-m", "model.cli", "train", *flags, "--steps", "100000", "--evaluate-every", "1"]
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
    assert "and saved; the same command goes on from there." in log.read_text()
    assert begin(flags, tmp_path / "out", "--steps", "100000").progress.step > 0
