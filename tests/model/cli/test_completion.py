"""A shell completes commands, options and names, by the script that the command prints."""

import contextlib
import io
import runpy
import shutil
import subprocess
import sys

import pytest

from headlight.cli.main import main
from tests.shell import Shell


@pytest.fixture(scope="module")
def script() -> str:
    with contextlib.redirect_stdout(io.StringIO()) as written:
        assert main(["completion", "bash"]) == 0
    return written.getvalue()


@pytest.mark.full
@pytest.mark.skipif(shutil.which("bash") is None, reason="completes in bash")
@pytest.mark.parametrize(
    ("typed", "completions"),
    [
        (["ext"], {"extrapolate"}),
        (["predict", "--model", "stories-c"], {"stories-causal"}),
        (["evaluate", "ladder-1"], {"ladder-1-attention"}),
        (["evaluate", "--task", "so"], {"sort"}),
        (["train", "--learning"], {"--learning-rate"}),
        (["completion", ""], {"bash", "tcsh", "zsh"}),
    ],
)
def test_bash_completes(typed: list[str], completions: set[str], script: str) -> None:
    words = " ".join(f"'{word}'" for word in ["headlight", *typed])
    asked = f"COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _shtab_headlight"
    line = f"{script}\n{asked}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    found = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout.split()
    assert completions <= set(found) and all(word.startswith(typed[-1]) for word in found)


def test_a_shell_without_a_script_is_refused(shell: Shell) -> None:
    assert "invalid choice: 'dos'" in shell.refused(["completion", "dos"])


@pytest.mark.parametrize("module", ["headlight", "headlight.cli", "headlight_app", "headlight_app.command"])
def test_each_module_is_the_command(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [module, "predct"])
    monkeypatch.delitem(sys.modules, "headlight_app.command", raising=False)  # otherwise runpy warns
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # cached bytecode would include the shape checks
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("headlight: There is no command 'predct'. Did you mean 'pre")
