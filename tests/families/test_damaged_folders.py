"""Good folders, damaged at random: each opens or is refused with one sentence."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headlight.checkpoints import load
from headlight.errors import CheckpointError, HeadlightError
from headlight.tracing.run import run
from headlight.vision.image import process_image
from tests.families.cases import CASES
from tests.families.reference import TARGET, TEXT, build

VICTIMS = ("gpt2", "llama", "gemma3_text")
PHOTO = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
TIMES = int(os.environ.get("HEADLIGHT_DAMAGE", "100"))  # for each victim and kind of damage to its bytes
LIMIT = 100_000_000
many = settings(max_examples=TIMES)
some = settings(max_examples=max(TIMES // 8, 1))  # for each family
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["relu", "gelu_new", "linear", "dynamic", "yarn", 2**31 - 1, 0, -1, 1e308]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("good")

    def folder(family: str) -> Path:
        if not (root / family).exists():
            build(CASES[family][0], root / family)
        return root / family

    return folder


def opens_or_is_refused(folder: Path) -> None:
    try:
        opened = load(folder, memory_limit=LIMIT)
    except CheckpointError as error:
        assert str(error).strip() and "\n" not in str(error), "one sentence"
        assert str(folder.parent) not in str(error), "no path of this computer"
        return
    both = opened.model.config.has_cross_attention
    try:
        reads = opened.model.config.image
        read = process_image(PHOTO, reads) if reads.channels else TARGET if both else TEXT
        trace = run(opened.model, opened.tokenizer, read, source=TEXT if both else None)
    except HeadlightError:
        return
    attention = trace.attention()
    assert ((attention >= 0) | np.isnan(attention)).all()


def field_paths(values: Any) -> list[tuple[str, ...]]:
    """Paths of a config's fields, nested ones as well."""
    if not isinstance(values, dict):
        return []
    return [
        path for name, inner in values.items() for path in ((name,), *((name, *rest) for rest in field_paths(inner)))
    ]


@pytest.mark.parametrize("family", CASES)
def test_a_field_dropped_retyped_or_grown(family: str, good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tmp_path / "victim"
    shutil.copytree(good(family), folder)
    text = (folder / "config.json").read_text()
    paths = field_paths(json.loads(text))

    @some
    @given(st.sampled_from(paths), JSON, st.booleans())
    def damaged(path: tuple[str, ...], value: Any, dropped: bool) -> None:
        values = json.loads(text)
        group = values
        for name in path[:-1]:
            group = group[name]
        if dropped:
            del group[path[-1]]
        else:
            group[path[-1]] = value
        (folder / "config.json").write_text(json.dumps(values))
        opens_or_is_refused(folder)

    damaged()


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("family", VICTIMS)
def test_bytes_flipped_or_cut_off(family: str, file: str, good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tmp_path / "victim"
    shutil.copytree(good(family), folder)
    raw = (folder / file).read_bytes()
    # The head of a safetensors file says where everything lies, so most of the damage is done there.
    head = min(len(raw), 3000)

    @many
    @given(st.lists(st.tuples(st.integers(0, head - 1), st.integers(0, 255)), max_size=3), st.integers(0, len(raw)))
    def damaged(flips: list[tuple[int, int]], length: int) -> None:
        broken = bytearray(raw)
        for at, byte in flips:
            broken[at] = byte
        (folder / file).unlink()  # a mapped file must not change under its readers
        (folder / file).write_bytes(bytes(broken) if flips else bytes(raw[:length]))
        opens_or_is_refused(folder)

    damaged()
