"""How every verb of the command reads its arguments."""

from __future__ import annotations

import argparse
from typing import NoReturn

from model.errors import HeadlightError


class CommandParser(argparse.ArgumentParser):
    """Its complaint is one sentence, as every other is."""

    def error(self, message: str) -> NoReturn:
        """Raises HeadlightError where argparse would print all flags and leave."""
        raise HeadlightError(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.")
