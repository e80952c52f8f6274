"""Good folders and files of every layout, damaged at random: each opens or is refused with one sentence."""

import json
import os
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.checkpoints import load
from headlight.checkpoints.tokenizers.open import open_tokenizer
from headlight.errors import CheckpointError, HeadlightError, TextError
from headlight.tracing.run import run
from headlight.vision.image import process_image
from tests.families.cases import CASES, EACH_FAMILY
from tests.families.reference import TARGET, TEXT, build, build_adapter, build_nanogpt, build_pickle
from tests.families.test_tokenizers import GEMMA, LAYOUTS, LLAMA, T5
from tests.families.texts import configured, pieces
from tests.sampling import each_once, examples

VICTIMS = ("gpt2", "llama", "gemma3_text")
PHOTO = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
TIMES = int(os.environ.get("HEADLIGHT_DAMAGE", "100"))  # per damaged file and kind of damage
LIMIT = 100_000_000
many = examples(TIMES)
some = examples(TIMES // 8)  # per family
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
TEXTS = ("the cat sat on the mat", "e\u0301 日本 😀 [MASK] <s>x</s>\n", "")
# Each layout with the file to damage.
VOCABULARIES = [
    ("gpt2", "vocab.json"), ("gpt2", "merges.txt"), ("gpt2 with tokens of its own", "tokenizer_config.json"),
    ("bert", "vocab.txt"), ("bert with tokens of its own", "added_tokens.json"), ("t5", "spiece.model"),
    ("gemma", "tokenizer.model"), ("marian", "source.spm"), ("marian", "vocab.json"), ("deberta-v2", "spm.model"),
    ("m2m_100", "vocab.json"), ("m2m_100", "sentencepiece.bpe.model"),
]  # fmt: skip


def flipped(raw: bytes, flips: list[tuple[int, int]], length: int) -> bytes:
    """The bytes with some changed, or cut off at a length if `flips` is empty."""
    broken = bytearray(raw)
    for at, byte in flips:
        broken[at % len(raw)] = byte
    return bytes(broken) if flips else raw[: length % len(raw)]


FLIPS = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=4)
CUTS = st.integers(0, 2**20)


def stays_safe(folder: Path, file: str, check: Callable[[], object], head: int = 2**20) -> None:
    """Change a file in its first `head` bytes or cut it off anywhere, and check it, many times."""
    raw = (folder / file).read_bytes()

    @many
    @given(FLIPS, CUTS)
    def damaged(flips: list[tuple[int, int]], length: int) -> None:
        (folder / file).unlink()  # a mapped file must not change under its readers
        (folder / file).write_bytes(flipped(raw, [(at % head, byte) for at, byte in flips], length))
        check()

    damaged()


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
        assert str(folder.parent) not in str(error), "no local path"
        return
    both = opened.model.config.has_cross_attention
    try:
        reads = opened.model.config.image
        read = process_image(PHOTO, reads) if reads.channels else TARGET if both else TEXT
        trace = run(opened.model, opened.tokenizer, read, source=TEXT if both else None)
    except HeadlightError:
        return
    if not opened.model.config.layers:  # a model of embeddings alone, which is one
        return
    attention = trace.attention()
    assert ((attention >= 0) | np.isnan(attention)).all()


def field_paths(values: Any) -> list[tuple[str, ...]]:
    """Paths of a config's fields, including nested ones."""
    if not isinstance(values, dict):
        return []
    return [
        path for name, inner in values.items() for path in ((name,), *((name, *rest) for rest in field_paths(inner)))
    ]


@pytest.mark.parametrize("family", EACH_FAMILY)
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


@pytest.mark.parametrize(("family", "file"), each_once(VICTIMS, ["config.json", "model.safetensors", "tokenizer.json"]))
def test_bytes_flipped_or_cut_off(family: str, file: str, good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tmp_path / "victim"
    shutil.copytree(good(family), folder)
    # The header of a safetensors file locates the tensors, so most of the damage goes there.
    stays_safe(folder, file, lambda: opens_or_is_refused(folder), head=3000)


def cuts_or_is_refused(folder: Path, kind: str) -> None:
    try:
        opened = open_tokenizer(folder, kind)
        for text in TEXTS:
            encoded = opened.encode(text)
            assert len(encoded.ids) == len(encoded.tokens) == len(encoded.token_texts) == len(encoded.offsets)
            opened.target_tokenizer.encode(text, add_special_tokens=False)
    except (CheckpointError, TextError) as error:
        assert str(error).endswith(".") and "\n" not in str(error)
        assert str(folder) not in str(error)


@pytest.mark.parametrize(("name", "file"), VOCABULARIES)
def test_a_vocabulary(name: str, file: str, tmp_path: Path) -> None:
    kind, make, options = LAYOUTS[name]
    make(configured(tmp_path, kind, **options))
    stays_safe(tmp_path, file, lambda: cuts_or_is_refused(tmp_path, kind))


@pytest.mark.parametrize("options", [T5, LLAMA, GEMMA], ids=["unigram", "byte pairs", "own pieces"])
def test_what_a_vocabularys_options_say(options: dict[str, object], tmp_path: Path) -> None:
    kind = "t5" if options is T5 else "llama"
    pieces(configured(tmp_path, kind) / "spiece.model", **options)  # type: ignore[arg-type]
    fields = ["tokenizer_class", "bos_token", "unk_token", "add_bos_token", "added_tokens_decoder", "extra_ids", "x"]
    classes = ["LlamaTokenizer", "BertTokenizer", "MarianTokenizer", "T5TokenizerFast", "GPT2Tokenizer", "Nobody's"]
    values = JSON | st.sampled_from([*classes, "</s>", "▁the", {"0": "the"}, {"content": "</s>", "lstrip": True}])

    @many
    @given(st.dictionaries(st.sampled_from(fields), values, max_size=3))
    def damaged(chosen: dict[str, object]) -> None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(chosen))
        cuts_or_is_refused(tmp_path, kind)

    damaged()


def pickled(folder: Path) -> str:
    build_pickle(CASES["gpt2"][0], folder)
    return "pytorch_model.bin"


def nano(folder: Path) -> str:
    build_nanogpt(folder)
    return "ckpt.pt"


def sharded(folder: Path) -> str:
    build(CASES["gpt2"][-1], folder)
    return "model.safetensors.index.json"


def adapted(folder: Path) -> str:
    build(CASES["gpt2"][0], folder / "base")
    more: dict[str, Any] = {
        "lora_alpha": 4,
        "bias": "none",
        "rank_pattern": {"c_attn": 2},
        "target_modules": ["c_attn"],
    }
    build_adapter(folder, "base", **more)
    return "adapter_config.json"


@pytest.mark.parametrize("make", [pickled, nano, sharded, adapted])
def test_weights_of_other_layouts(make: Callable[[Path], str], tmp_path: Path) -> None:
    folder = tmp_path / "victim"
    folder.mkdir()
    file = make(folder)
    opens_or_is_refused(folder)
    stays_safe(folder, file, lambda: opens_or_is_refused(folder))


def test_files_of_one_folder_in_another(tmp_path: Path) -> None:
    """The config of one family with the weights and tokenizer of another."""
    folders = {family: tmp_path / family for family in ("gpt2", "llama", "bert", "t5", "deberta-v2", "bart")}
    for family, folder in folders.items():
        build(CASES[family][0], folder)
    for folder, other in permutations(folders.values(), 2):
        mixed = tmp_path / "mixed"
        shutil.copytree(folder, mixed)
        shutil.copy(other / "model.safetensors", mixed)
        with pytest.raises(CheckpointError, match=r"missing tensors|no parameter|the config wants"):
            load(mixed)
        shutil.rmtree(mixed)
