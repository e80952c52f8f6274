"""The cases of `tests.bench.hostile`, and one that does not end."""

from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from tests.bench import hostile


def _never_ends(random: Random, victims: Path) -> None:
    while True:
        pass


def serve(connection: Connection) -> None:
    """Answer cases as `hostile` does."""
    hostile.CASES_BY_KIND["endless"] = _never_ends  # in this process alone
    hostile.serve(connection)
