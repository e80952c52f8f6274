"""`headlight lens` writes a tuned lens beside a model and prints the bits per byte lost at each layer."""

from pathlib import Path

import pytest

from headlight.analysis.lenses.tuned_lens import read_tuned_lens
from headlight.cli.main import main
from tests.model import toys


def test_the_command_writes_it_beside_the_model_and_says_what_is_lost(
    tmp_path: Path, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, text_file = tmp_path / "lens", tmp_path / "text.txt"
    text_file.write_text("\n".join(toys.LINES))
    arguments = ["lens", str(models / "plain"), "--text", str(text_file), "--steps", "3", "--out", str(out)]
    assert main(arguments) == 0
    table = capsys.readouterr().out
    assert table.startswith("| bits lost | logit lens | tuned lens |") and "after layer 0" in table
    assert read_tuned_lens(out, toys.decoder().config) is not None
    assert sorted(path.name for path in out.iterdir()) == ["tuned_lens.json", "tuned_lens.safetensors"]
    assert main(["lens", str(models / "judge"), "--text", str(text_file)]) == 2
    assert "predicts no tokens" in capsys.readouterr().err
