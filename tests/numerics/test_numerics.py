"""Part of `python -m tests.numerics`: six shipped models, and the slow quantities of one small model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.numerics.__main__ import subjects
from tests.numerics.network import read_tensors, softmax
from tests.numerics.quantities import QUANTITIES, Subject, difference
from tests.sampling import some

# `make test` has a decoder and an encoder-decoder of them.
SLICE = some(
    ["ladder-5-mask", "induction", "caption", "positions-encoder-alibi", "positions-decoder-relative", "dates"],
    lambda name: name in ("ladder-5-mask", "dates"),
)
SLOW = {"bits per byte", "head ablation (log-probabilities)"}
SKIPS = 1e-3  # of the residual stream: terms that information flow may leave out


@pytest.fixture(scope="module", params=SLICE)
def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    (one,) = subjects([request.param], tmp_path_factory.mktemp("numerics"))
    return one


@pytest.mark.parametrize("name", [name for name in QUANTITIES if name not in SLOW])
def test_a_second_computation_gives_the_same_numbers(subject: Subject, name: str) -> None:
    worst = difference(subject, name)
    assert worst is None or worst < (SKIPS if "flow" in name else 1e-5)


def test_heads_are_switched_off_and_bytes_counted_alike(tmp_path: Path) -> None:
    (one,) = subjects(["ladder-3-heads"], tmp_path)
    assert all((difference(one, name) or 0) < 1e-5 for name in SLOW)


def test_a_wrong_number_is_found(tmp_path: Path) -> None:
    (one,) = subjects(["induction"], tmp_path)
    one.values["logits"] = one.values["logits"] + 1e-3 * np.eye(*one.values["logits"].shape)
    assert (difference(one, "logits") or 0) > 1e-5


def test_a_file_is_read_as_it_stands(tmp_path: Path) -> None:
    header = b'{"__metadata__":{"a":"b"},"w":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}}'
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes.fromhex("803f 20c0"))
    assert read_tensors(path)["w"].tolist() == [[1.0, -2.5]]
    assert softmax(np.array([[-np.inf, -np.inf], [0.0, np.log(3)]])) == pytest.approx(np.array([[0, 0], [0.25, 0.75]]))
