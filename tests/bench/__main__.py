"""`python -m tests.bench`: a table of ratios. Times swing from hour to hour; ratios within one run do not.

On a machine that is busy with other work, OMP_NUM_THREADS=1 keeps threads from waiting for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from tests.bench import forward
from tests.bench.measure import Ratio, table

SECTIONS: tuple[Callable[[], Iterable[Ratio]], ...] = (forward.ratios,)


def main() -> None:
    """Measure and print."""
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}; medians, both in turn\n")
    print(table([ratio for section in SECTIONS for ratio in section()]))


if __name__ == "__main__":
    main()
