"""GGUF files open as in `transformers`; damaged ones are refused with a message."""

import json
import struct
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import sentencepiece
import tokenizers
import torch
import transformers
from hypothesis import given
from tokenizers import models, pre_tokenizers, trainers

from headlight.checkpoints import catalog, load
from headlight.checkpoints.catalog import read_metadata
from headlight.checkpoints.gguf_file import read_gguf
from headlight.checkpoints.tokenizers.gguf import gguf_tokenizer
from headlight.checkpoints.upload_archive import write_files
from headlight.errors import CheckpointError
from headlight.tracing.run import run
from tests.families.gguf_files import FILE, SIZES, Model, finish, small, write
from tests.families.reference import TEXT
from tests.families.test_damaged_files import CUTS, FLIPS, flipped, many, opens_or_is_refused
from tests.families.texts import CORPUS, NASTY, pieces

WIDE = SIZES | {"hidden_size": 256, "intermediate_size": 512, "head_dim": 64}
LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
LINEAR = {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0}
GEMMA2 = SIZES | {"sliding_window": 5, "query_pre_attn_scalar": 16, "hidden_activation": "gelu_pytorch_tanh"}
GEMMA3 = SIZES | {"sliding_window": 5, "num_hidden_layers": 7, "query_pre_attn_scalar": 32, "head_dim": 32}
LLAMA: Model = ("llama", "LlamaForCausalLM", SIZES)
# Each file must equal the model written to it.
WRITTEN: dict[str, Model] = {
    "llama": LLAMA,
    "wide heads": ("llama", "LlamaForCausalLM", SIZES | {"head_dim": 32, "tie_word_embeddings": True}),
    "biases": ("llama", "LlamaForCausalLM", SIZES | {"attention_bias": True, "num_key_value_heads": 1}),
    "llama 3": ("llama", "LlamaForCausalLM", SIZES | {"rope_parameters": LLAMA3}),
    "linear": ("llama", "LlamaForCausalLM", SIZES | {"rope_parameters": LINEAR}),
    "qwen2": ("qwen2", "Qwen2ForCausalLM", SIZES),
    "qwen3": ("qwen3", "Qwen3ForCausalLM", SIZES | {"head_dim": 32}),
    "gemma": ("gemma", "GemmaForCausalLM", SIZES | {"head_dim": 32}),
    "gemma2": ("gemma2", "Gemma2ForCausalLM", GEMMA2),
    "gemma3": ("gemma3", "Gemma3ForCausalLM", GEMMA3),
}
# Each must equal what transformers reads from the same file.
PACKED: dict[str, tuple[Model, str]] = {
    "F16": (("llama", "LlamaForCausalLM", SIZES | {"tie_word_embeddings": True}), "F16"),
    "BF16": (LLAMA, "BF16"),
    "Q8_0": (LLAMA, "Q8_0"),
    "Q4_0": (LLAMA, "Q4_0"),
    "Q4_1": (("qwen3", "Qwen3ForCausalLM", SIZES | {"head_dim": 128}), "Q4_1"),
    "Q5_0": (("gemma2", "Gemma2ForCausalLM", GEMMA2 | {"query_pre_attn_scalar": 256, "head_dim": 256}), "Q5_0"),
    **{kind: (("llama", "LlamaForCausalLM", WIDE), kind) for kind in ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K")},
}


def equal(path: Path, model: Any) -> None:
    """Attention and logits equal the model's, for tokens from the file's own vocabulary."""
    opened = load(path, device="cpu")
    trace = run(opened.model, opened.tokenizer, TEXT)
    with torch.no_grad():
        expected = model(torch.tensor([trace.text.ids]), output_attentions=True)
    np.testing.assert_allclose(trace.attention(), torch.cat(expected.attentions).numpy(), atol=1e-5, rtol=0)
    np.testing.assert_allclose(trace["logits"], expected.logits[0].numpy(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_is_the_model_that_was_written(name: str, tmp_path: Path) -> None:
    model = small(WRITTEN[name])
    equal(write(model, WRITTEN[name][0], tmp_path), model)


@pytest.mark.parametrize("name", PACKED)
def test_quantised_files_equal_what_transformers_reads(name: str, tmp_path: Path) -> None:
    described, kind = PACKED[name]
    path = write(small(described), described[0], tmp_path, kind)
    cls = getattr(transformers, described[1])
    expected = cls.from_pretrained(tmp_path, gguf_file=FILE, dtype=torch.float32, attn_implementation="eager").eval()
    equal(path, expected)


def test_the_memory_is_told_and_kept_in_the_type_that_was_asked_for(tmp_path: Path) -> None:
    path = write(small(("llama", "LlamaForCausalLM", WIDE)), "llama", tmp_path, "Q4_K")
    numbers = sum(parameter.numel() for parameter in load(path).model.parameters())
    packed = load(path, device="cpu", dtype="bfloat16", memory_limit=numbers * 3)
    assert {parameter.dtype for parameter in packed.model.parameters()} == {torch.bfloat16}
    told = f"and {numbers * 2 / 1e6:,.1f} MB in memory as bfloat16."
    assert any("16 of Q4_K, 5 of F32" in note and note.endswith(told) for note in packed.notes)
    with pytest.raises(CheckpointError, match="GB are allowed"):
        load(path, memory_limit=numbers * 3)


def test_a_file_is_listed_uploaded_and_described(tmp_path: Path) -> None:
    path = write(small(LLAMA), "llama", tmp_path / "models" / "deep")
    assert [entry.name for entry in catalog([tmp_path / "models"]) if not entry.shipped] == [f"deep/{FILE}"]
    folder = write_files({"my.gguf": path.read_bytes()}, tmp_path / "upload")
    described = read_metadata(folder)
    assert (described.family, described.tokenizer, described.error) == ("llama", "SentencePiece", "")
    (folder / "second.gguf").write_bytes(path.read_bytes())
    with pytest.raises(CheckpointError, match=r"holds 2 single-file models: my\.gguf, second\.gguf"):
        load(folder)


def vocabulary(path: Path, **fields: Any) -> Path:
    """Write a file with only a vocabulary."""
    writer = gguf.GGUFWriter(str(path), "llama")
    for name, value in fields.items():
        key = name if name.startswith("general") else f"tokenizer.ggml.{name}"
        writer.add_key_value(key, value, gguf.GGUFValueType.get_type(value))
    finish(writer)
    return path


def tokenize(path: Path) -> Callable[[str], list[int]]:
    opened = gguf_tokenizer(read_gguf(path, "model").fields, "model")
    return lambda text: list(opened.encode(text).ids)


@pytest.mark.parametrize("prefix", [True, False])
def test_pieces_are_split_as_sentencepiece_splits_them(prefix: bool, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "model_type": "bpe",
        "byte_fallback": True,
        "vocab_size": 500,
        "add_dummy_prefix": prefix,
    }
    theirs = pieces(
        tmp_path / "spm.model", normalization_rule_name="identity", remove_extra_whitespaces=False, **options
    )
    count = theirs.get_piece_size()
    ours = tokenize(vocabulary(tmp_path / FILE, **piece_fields(theirs, count), add_space_prefix=prefix))
    plain = [text for text in NASTY if not any(theirs.id_to_piece(number) in text for number in range(3))]
    assert [ours(text) for text in plain if text] == [[1, *theirs.encode(text)] for text in plain if text]


def piece_fields(theirs: sentencepiece.SentencePieceProcessor, count: int) -> dict[str, Any]:
    kinds = [2 if n == 0 else 3 if n < 3 else 6 if theirs.is_byte(n) else 1 for n in range(count)]
    return {
        "model": "llama", "tokens": [theirs.id_to_piece(number) for number in range(count)], "token_type": kinds,
        "scores": [theirs.get_score(number) for number in range(count)], "bos_token_id": 1, "eos_token_id": 2,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["gpt-2", "qwen2", "llama-bpe", "smollm"])
def test_byte_pairs_are_split_as_the_file_says(kind: str, tmp_path: Path) -> None:
    """As transformers reads the same file, except SmolLM's digits, which it does not support, and Qwen's NFC."""
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
    )
    described = json.loads(backend.to_str())["model"]
    tokens, end = [*described["vocab"], "<|endoftext|>", "<think>"], len(described["vocab"])
    fields = {
        "model": "gpt2", "pre": kind, "tokens": tokens, "token_type": [1] * end + [3, 4], "bos_token_id": end,
        "merges": [" ".join(merge) for merge in described["merges"]], "eos_token_id": end,
    }  # fmt: skip
    ours = tokenize(vocabulary(tmp_path / FILE, **fields))
    if kind == "smollm":
        assert len(ours("1234")) == 4 and ours("12  a") == [*ours("1"), *ours("2"), *ours("  a")]
        return
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(str(tmp_path), gguf_file=FILE)
    bos = [end] if kind == "llama-bpe" else []
    texts = [*NASTY, "a<think> b<|endoftext|>c 12345"]
    read = [unicodedata.normalize("NFC", text) if kind == "qwen2" else text for text in texts]
    assert [ours(text) for text in texts] == [bos + theirs.encode(text, add_special_tokens=False) for text in read]


def header(*, version: int = 3, tensors: int = 0, fields: int = 0, rest: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, fields) + rest


def field(key: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + value


def tensor(name: str, shape: tuple[int, ...], kind: int = 0, offset: int = 0) -> bytes:
    sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return struct.pack("<Q", len(name)) + name.encode() + sizes + struct.pack("<IQ", kind, offset)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "cut off in its header"),
    "another file": (b"PK\3\4" + bytes(40), "does not begin with GGUF"),
    "an old version": (header(version=1), "version 1 of GGUF"),
    "the other byte order": (header(version=3 << 24), "other byte order"),
    "many fields": (header(fields=2**63), "cut off"),
    "many tensors": (header(tensors=2**63), "cut off"),
    "a long name": (header(fields=1, rest=struct.pack("<Q", 2**62) + b"x"), "cut off"),
    "a long array": (header(fields=1, rest=field("a", 9, struct.pack("<IQ", 0, 2**40))), "cut off"),
    "many texts": (header(fields=1, rest=field("a", 9, struct.pack("<IQ", 8, 2**40))), "cut off"),
    "nested arrays": (header(fields=1, rest=field("a", 9, struct.pack("<IQ", 9, 2))), "type 9"),
    "an unknown type": (header(fields=1, rest=field("a", 99, b"")), "type 99"),
    "a name twice": (header(fields=2, rest=field("a", 0, b"1") * 2), "names its field 'a' twice"),
    "a giant shape": (header(tensors=1, rest=tensor("t", (2**62, 2**62))), "the file has"),
    "many axes": (header(tensors=1, rest=tensor("t", (1,) * 9)), "9 axes"),
    "no numbers": (header(tensors=1, rest=tensor("t", (0, 5))), "holds no numbers"),
    "half a block": (header(tensors=1, rest=tensor("t", (33,), kind=8)), "blocks of 32"),
    "an unknown kind": (header(tensors=1, rest=tensor("t", (32,), kind=77)), "type 77"),
    "a far offset": (header(tensors=1, rest=tensor("t", (1,), offset=2**63)), "the file has"),
    "one place twice": (
        header(tensors=2, rest=tensor("t", (32,)) + tensor("u", (32,), offset=64) + bytes(999)),
        "t and u overlap",
    ),
    "many small values": (
        header(fields=1, rest=field("a", 9, struct.pack("<IQ", 0, 9 << 20) + bytes(9 << 20))),
        "values",
    ),
    "no architecture": (header(), "its architecture is ''"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_claims_too_much_is_refused_at_once(name: str, tmp_path: Path) -> None:
    raw, sentence = HOSTILE[name]
    (tmp_path / FILE).write_bytes(raw)
    with pytest.raises(CheckpointError, match=sentence) as refused:
        load(tmp_path)
    assert str(tmp_path) not in str(refused.value)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "experts": ({"llama__expert_count": 8}, "mixture of experts"),
    "parts": ({"split__count": 3}, "gguf-split"),
    "half rotated": ({"llama__rope__dimension_count": 8}, "its rope.dimension_count is 8, but a head has 16 channels"),
    "a scaling": ({"llama__rope__scaling__type": "spiral"}, "spiral"),
    "a word for a number": ({"llama__attention__head_count": "four"}, "'four'"),
    "no vocabulary": ({"tokenizer__ggml__model": "rwkv"}, "its tokenizer is 'rwkv'"),
    "other types": ({"tokenizer__ggml__token_type": [1, 1]}, "2 types of tokens"),
    "a start beyond": ({"tokenizer__ggml__bos_token_id": 4000}, "bos_token_id is 4000"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_named(name: str, tmp_path: Path) -> None:
    fields, sentence = REFUSED[name]
    path = write(small(LLAMA), "llama", tmp_path, **fields)
    with pytest.raises(CheckpointError, match=sentence):
        load(path)


def test_damaged_files_open_or_are_refused(tmp_path: Path) -> None:
    raw = write(small(LLAMA), "llama", tmp_path, "Q8_0").read_bytes()
    end = raw.index(b"blk.1.ffn_down.weight") + 100  # near the header's end; weights follow

    @many
    @given(FLIPS, CUTS)
    def damaged(flips: list[tuple[int, int]], length: int) -> None:
        (tmp_path / FILE).unlink()  # a mapped file must not change under its readers
        (tmp_path / FILE).write_bytes(flipped(raw[:end], flips, length) + (raw[end:] if flips else b""))
        opens_or_is_refused(tmp_path)

    damaged()
