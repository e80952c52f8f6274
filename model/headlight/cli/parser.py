"""The argument parser of every command."""

from __future__ import annotations

import argparse
from typing import NoReturn

from headlight.errors import HeadlightError


class CommandParser(argparse.ArgumentParser):
    """An argument parser that raises HeadlightError with one sentence instead of printing usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise HeadlightError with argparse's message."""
        raise HeadlightError(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.")
