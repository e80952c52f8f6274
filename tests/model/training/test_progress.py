"""The output of a training: a bar on a terminal, lines elsewhere, and nothing twice."""

import re
from pathlib import Path

import pytest

from headlight.cli.terminal.progress import training_bar
from headlight.cli.train import train
from headlight.training import trainer
from headlight.training.run_dir import StepReport

pytestmark = pytest.mark.usefixtures("unchecked_shapes")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard error a terminal of 100 columns."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard error a file."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(trainer, "REPORT_INTERVAL_SECONDS", 0.0)


@pytest.mark.usefixtures("terminal")
def test_a_terminal_has_a_bar_with_step_loss_validation_and_time_left(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(flags) == 0
    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    frames = [frame.strip() for frame in re.split(r"[\r\n]", drawn) if frame.strip()]
    bars = [frame for frame in frames if frame.endswith("left")]
    assert any(re.match(r"step 20  loss \d\.\d{3}  validation \d\.\d{3} ━+ 0:00:\d\d left", bar) for bar in bars)
    printed = [frame for frame in frames if frame not in bars]
    assert len(printed) == len(set(printed)) and "tokens/s" not in drawn
    assert [frame.split()[0] for frame in printed if "accuracy" in frame] == ["valid"], "only once, at the end"


@pytest.mark.usefixtures("lines")
def test_elsewhere_there_are_lines(flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(flags) == 0
    printed = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("step ") for line in printed) == 20 and not any("\x1b" in line for line in printed)
    validations = [line for line in printed if line.split()[0] == "valid"]
    assert len(validations) == 2, "after 10 steps and after the last, 20"
    assert len((tmp_path / "out" / "run" / "log.jsonl").read_text().splitlines()) == 22


@pytest.mark.usefixtures("terminal")
def test_each_of_several_runs_has_a_bar_of_its_own() -> None:
    with training_bar() as shown:
        assert shown
        for step, fraction in ((3, 0.5), (6, 1.0), (1, 0.25)):
            shown.show(StepReport(step, 2.5, None, fraction))
        (bar,) = shown.bar.tasks
        assert bar.completed == 0.25 and not bar.finished and bar.fields["text"] == "step 1  loss 2.500"
