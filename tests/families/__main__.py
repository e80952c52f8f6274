"""`python -m tests.families [FAMILY ...]`: the largest difference of each family from transformers, as a table.

Without names, also the unsupported families, each with its error message.
"""

import argparse
import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import transformers

from headlight.checkpoints.refusals import DIFFERENCES, refusal
from tests.families.cases import CASES
from tests.families.comparison import compared, difference
from tests.families.reference import Case

COLUMNS = {"attention": ("attention",), "hidden states": ("last_hidden",), "logits": ("logits",)}


def main() -> None:
    """Measure the named families, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.families", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(CASES)}; without any, all")
    named = parser.parse_args().families
    if unknown := [name for name in named if name not in CASES]:
        parser.error(f"there is no family {unknown[0]!r}; there are {', '.join(CASES)}")
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, float32\n")
    print("| family | models | " + " | ".join(COLUMNS) + " |\n|---|---:|" + "---:|" * len(COLUMNS))
    for family in named or CASES:
        print(row(family, CASES[family]), flush=True)
    if not named:
        print("\n| does not open | sentence |\n|---|---|")
        print("\n".join(f"| {name} | {refusal(name)} |" for name in DIFFERENCES))


def row(family: str, cases: Sequence[Case]) -> str:
    """A table row: a family's number of tiny models, and the largest difference of each kind of array."""
    worst: dict[str, float] = {}
    for case in cases:
        with TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            for name, (found, expected) in compared(case, Path(folder)).items():
                for column, endings in COLUMNS.items():
                    if name.endswith(endings):
                        worst[column] = max(worst.get(column, 0.0), difference(found, expected))
    told = [f"{worst[column]:.1e}" if column in worst else "" for column in COLUMNS]
    return f"| {family} | {len(cases)} | {' | '.join(told)} |"


if __name__ == "__main__":
    main()
