"""The command `headlight`, run in this process as a shell runs it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from headlight.cli.main import main


@dataclass(frozen=True)
class Shell:
    """Runs a command, which must succeed, and returns its standard output."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, arguments: Sequence[str]) -> str:
        assert main(arguments) == 0
        return self.capsys.readouterr().out

    def refused(self, arguments: Sequence[str]) -> str:
        """The one-sentence error of a command that fails; it prints nothing else."""
        assert main(arguments) == 2
        printed = self.capsys.readouterr()
        assert not printed.out and printed.err.startswith("headlight: ")
        assert printed.err.endswith(".\n") and printed.err.count("\n") == 1
        return printed.err
