"""How every verb of the command reads its arguments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from model.errors import DataError, HeadlightError


class Parser(argparse.ArgumentParser):
    """Its complaint is one sentence, as every other is."""

    def error(self, message: str) -> NoReturn:
        """Raises HeadlightError where argparse would print all flags and leave."""
        raise HeadlightError(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.")


def require_files(paths: Iterable[Path]) -> None:
    """Raises DataError that names the first of some paths where no file lies: said at once, not after other work."""
    for path in paths:
        if not path.is_file():
            raise DataError(f"There is no file {path}.")
