"""A case compared with transformers, through `headlight trace`."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from headlight import run
from headlight.cli.main import main
from headlight.rendering.provenance import provenance
from tests.families.reference import TARGET, Case, build, command, has_target, opened_path, outputs
from tests.model import toys

Pairs = dict[str, tuple[np.ndarray, np.ndarray]]


def compared(case: Case, folder: Path) -> Pairs:
    """The arrays of a case from `headlight trace` and from transformers, by name; built in an empty folder."""
    return compared_in(case, folder, build(case, folder / "checkpoint"))


def compared_in(case: Case, folder: Path, model: Any) -> Pairs:
    """The same for a checkpoint in a folder, and the model that transformers reads from it."""
    expected = outputs(model, case)
    target = ["--target", TARGET] if has_target(case, model) else []
    out = folder / "out.npz"
    read = command(case, folder / "checkpoint")
    opened = opened_path(case, folder / "checkpoint")
    status = main(["trace", *read, *target, "--model", str(opened), "--out", str(out)])
    assert status == 0, "the trace failed"
    with np.load(out) as found:
        told = set(found.files) - origin_fields() - {"tokens", "target_tokens", "attention"}
        assert told == set(expected) - {"attention"}, "the array names differ"
        return {name: (found[name], array) for name, array in expected.items()}


@cache
def origin_fields() -> frozenset[str]:
    """The names of a file's provenance fields."""
    return frozenset(provenance(run(toys.decoder(), toys.causal(), toys.SENTENCE)))


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest absolute difference; infinite if shapes differ or an array has NaN or infinite entries."""
    if found.shape != expected.shape:
        return float("inf")
    largest = float(np.abs(found.astype(np.float64) - expected).max())
    return largest if largest < float("inf") else float("inf")
