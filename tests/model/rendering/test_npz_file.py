"""Files of arrays that claim much, lie, or are damaged: one sentence, before memory is taken."""

import zipfile
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from headlight import show
from headlight.errors import DataError, HeadlightError
from headlight.rendering.npz_file import read_npz
from headlight.rendering.show import open_file
from tests.model.rendering.test_show import TOKENS, weights
from tests.shell import Shell


def npy(descr: object, shape: tuple[int, ...], content: bytes = b"") -> bytes:
    """An .npy file with any header."""
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


def write(
    path: Path, content: bytes | np.ndarray, packing: int = zipfile.ZIP_DEFLATED, name: str = "attention"
) -> Path:
    if isinstance(content, np.ndarray):
        file = BytesIO()
        np.save(file, content)
        content = file.getvalue()
    with zipfile.ZipFile(path, "a", packing) as archive:
        archive.writestr(f"{name}.npy", content)
    return path


HOSTILE: dict[str, tuple[bytes, str]] = {
    "far more than memory": (npy("<f4", (10**6, 10**6)), "claims the shape"),
    "more than it holds": (npy("<f4", (2, 2), bytes(15)), "claims the shape"),
    "less than it holds": (npy("<f4", (2, 2), bytes(17)), "claims the shape"),
    "texts of no length": (npy("<U0", (10**12,)), "contains <U0"),
    "lists of nothing": (npy("<f4", (10**12, 0)), "claims the shape"),
    "arrays in an array": (npy(("<f4", (10**9,)), (1,)), "not an .npz file"),
    "an axis below 0": (npy("<f4", (-1, -1), bytes(4)), "claims the shape"),
    "objects": (npy("|O", (1,), b"cos\nsystem\n"), "contains object"),
    "a header of brackets": (npy("<f4", (1,)).replace(b"'<f4'", b"[[[[["), "not an .npz file"),
    "a header of any length": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "not an .npz file"),
    "one huge matrix": (npy("|u1", (5000, 5000), bytes(25_000_000)), "16,777,216 in each head"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_claims_too_much_is_refused(name: str, tmp_path: Path, shell: Shell) -> None:
    content, sentence = HOSTILE[name]
    file = write(tmp_path / "x.npz", content)
    assert sentence in shell.refused(["open", str(file), "--out", str(tmp_path / "x.html")])


def test_the_size_is_looked_at_before_anything_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bomb.npz"
    one = write(tmp_path / "one.npz", bytes((1 << 30) + 1))
    for number in range(5):
        write(file, bytes(1 << 28), name=str(number))
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    with pytest.raises(DataError, match=r"5 arrays of 1,342,177,280 bytes; at most"):
        read_npz(file)
    with pytest.raises(DataError, match=r"holds 1 array of 1,073,741,825 bytes; at most"):
        read_npz(one)


def test_other_packings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="packed in a way"):
        read_npz(write(tmp_path / "x.npz", weights(), zipfile.ZIP_LZMA))


def test_arrays_of_every_kind_and_order_are_read(tmp_path: Path) -> None:
    made: dict[str, Any] = {
        "a": np.asfortranarray(weights()),
        "b": np.array([True]),
        "c": np.array(TOKENS),
        "d": np.float64(3),
        "e": weights()[:0],
    }
    np.savez_compressed(tmp_path / "x.npz", **made)
    found = read_npz(tmp_path / "x.npz")
    assert list(found) == list(made)
    for name, array in made.items():
        np.testing.assert_array_equal(found[name], array)


TOKEN_LISTS = (np.array(3), np.zeros((5, 5)), np.array("text"), np.array(["\ud800"] * 5), np.zeros(5), np.zeros((0, 9)))
FIELDS = (
    np.array(3),
    np.array(["x", ""]),
    np.array("x"),
    np.array("\ud800"),
    np.zeros((2, 2)),
    np.array([["a"], ["b"]]),
)
NAMES = ("edits", "date", "version", "model", "masked_positions", "heads", "text", "image", "target_ids", "key_tokens")


@pytest.mark.parametrize("seed", [range(40), pytest.param(range(40, 500), marks=pytest.mark.full)])
def test_made_up_and_damaged_files_open_or_get_a_sentence(seed: range, tmp_path: Path) -> None:
    show(weights(), TOKENS).save(tmp_path / "good.npz")
    good = {**np.load(tmp_path / "good.npz")}
    for number in seed:
        random, file = Random(number), tmp_path / f"{number}.npz"
        fields = {name: random.choice(FIELDS) for name in random.sample(NAMES, random.randrange(4))}
        tokens = {"tokens": random.choice(TOKEN_LISTS)} if random.random() < 0.3 else {}
        np.savez_compressed(file, **good | fields | tokens)
        raw = bytearray(file.read_bytes())
        for _ in range(random.choice((0, 0, 1, 4))):
            raw[random.randrange(len(raw))] = random.randrange(256)
        file.write_bytes(raw[: random.choice((len(raw), len(raw), random.randrange(len(raw))))])
        try:
            open_file(file).save(tmp_path / "x.html")
        except HeadlightError as error:
            assert str(error).endswith(".") and "\n" not in str(error) and str(tmp_path) not in str(error)
