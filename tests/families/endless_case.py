"""The cases of `tests.bench.hostile`, and one that does not end."""

from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from tests.bench import hostile


def _never_ends(random: Random, victims: Path) -> bool:
    while True:
        pass


def serve(connection: Connection) -> None:
    """Run cases as `hostile` does, plus the endless one."""
    hostile.CASES_BY_KIND["endless"] = _never_ends  # only in this process
    hostile.serve(connection)
