"""Old vocabularies, pickles, shards and adapters, damaged at random: each opens or is refused with one sentence."""

import json
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight.checkpoints import load
from headlight.checkpoints.tokenizers.open import open_tokenizer
from headlight.errors import CheckpointError, TextError
from tests.families.cases import CASES
from tests.families.reference import build, build_adapter, build_pickle
from tests.families.test_damaged_folders import JSON, many, opens_or_is_refused
from tests.families.test_tokenizers import GEMMA, LAYOUTS, LLAMA, T5
from tests.families.texts import configured, pieces

TEXTS = ("the cat sat on the mat", "e\u0301 日本 😀 [MASK] <s>x</s>\n", "")
# Each with the file that is broken.
VOCABULARIES = [
    ("gpt2", "vocab.json"), ("gpt2", "merges.txt"), ("gpt2 with tokens of its own", "tokenizer_config.json"),
    ("bert", "vocab.txt"), ("bert with tokens of its own", "added_tokens.json"), ("t5", "spiece.model"),
    ("gemma", "tokenizer.model"), ("marian", "source.spm"), ("marian", "vocab.json"), ("deberta-v2", "spm.model"),
]  # fmt: skip


def flipped(raw: bytes, flips: list[tuple[int, int]], length: int) -> bytes:
    """The bytes with some changed, or cut off after a length."""
    broken = bytearray(raw)
    for at, byte in flips:
        broken[at % len(raw)] = byte
    return bytes(broken) if flips else raw[: length % len(raw)]


FLIPS = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=4)
CUTS = st.integers(0, 2**20)


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
    raw = (tmp_path / file).read_bytes()

    @many
    @given(FLIPS, CUTS)
    def damaged(flips: list[tuple[int, int]], length: int) -> None:
        (tmp_path / file).write_bytes(flipped(raw, flips, length))
        cuts_or_is_refused(tmp_path, kind)

    damaged()


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
    model = build(CASES["gpt2"][0], folder)
    (folder / "config.json").unlink()
    sizes = {"n_layer": 2, "n_head": 3, "n_embd": 24, "block_size": 20, "bias": True, "vocab_size": 26}
    torch.save({"model": model.state_dict(), "model_args": sizes}, folder / "ckpt.pt")
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
    raw = (folder / file).read_bytes()

    @many
    @given(FLIPS, CUTS)
    def damaged(flips: list[tuple[int, int]], length: int) -> None:
        (folder / file).unlink()  # a mapped file must not change under its readers
        (folder / file).write_bytes(flipped(raw, flips, length))
        opens_or_is_refused(folder)

    damaged()


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
