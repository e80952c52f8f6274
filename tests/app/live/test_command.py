"""`headlight live`: what it cannot write, it refuses by a sentence before it computes anything."""

from pathlib import Path

import pytest

from headlight.file_writing import UNFINISHED
from headlight_app import command


class Refusing:
    """Runs the command, which must fail; returns its one sentence."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys = capsys
        monkeypatch.setattr("headlight_app.live.model_file.plan_of", self._computed)

    def __call__(self, *arguments: str) -> str:
        assert command.main(["live", *arguments]) == 2
        printed = self.capsys.readouterr()
        assert not printed.out and printed.err.startswith("headlight: ") and printed.err.count("\n") == 1
        return printed.err

    @staticmethod
    def _computed(*_: object) -> None:
        raise AssertionError("this takes a minute")


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Refusing:
    return Refusing(capsys, monkeypatch)


def test_a_wrong_place_is_told_before_the_model_is_read(refused: Refusing, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "page.html"
    assert f"{missing} cannot be written" in refused("sort", "--out", str(missing))
    assert "it is a folder" in refused("sort", "--out", str(tmp_path))


def test_unknown_weights_are_told_before_the_model_is_read(refused: Refusing, tmp_path: Path) -> None:
    said = refused("sort", "--weights", "int4", "--out", str(tmp_path / "page.html"))
    assert "'int4'" in said and "float16" in said and "int8" in said


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("translate", "A live page shows models with one stack; this encoder-decoder has two."),
        ("caption", "A live page shows models with one stack"),
    ],
)
def test_a_model_of_another_kind_is_told_what_it_is(
    model: str, sentence: str, refused: Refusing, tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    assert sentence in refused(model, "--out", str(out))
    assert not out.exists() and not out.with_name(out.name + UNFINISHED).exists()


def test_a_name_of_nothing_is_told(refused: Refusing, tmp_path: Path) -> None:
    assert "no-such-model" in refused("no-such-model", "--out", str(tmp_path / "page.html"))


def test_a_shell_completes_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    (weights,) = (line for line in script.splitlines() if line.startswith("_shtab_headlight_live___weights_choices="))
    assert all(name in weights for name in ("float16", "int8", "float32"))
