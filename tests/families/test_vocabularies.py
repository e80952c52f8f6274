"""Tokenizers without a tokenizer.json agree, number by number, with the libraries that their files were made for."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from model.checkpoint.vocabularies import open_tokenizer
from model.errors import CheckpointError

TEXTS = [
    "The cat sat on the mat.", "  two  spaces and a tab\t.", "naïve café, Ångström", "日本語 and Русский", "", " ",
    "emoji 😀 and \u200b zero width", "don't can't I'll", "1,234.56 + 7e-3 = ?", "MiXeD CaSe WORDS", "\n\nnew\nlines\n",
    "<b>not markup</b> $x$ **", "ﬁ ligature ½", "a" * 60,
]  # fmt: skip
CORPUS = [text for text in TEXTS if text.strip()] * 3 + ["the quick brown fox jumps over the lazy dog"] * 5


def spm(folder: Path, name: str, **options: Any) -> sentencepiece.SentencePieceProcessor:
    raw = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=raw, hard_vocab_limit=False, minloglevel=2, **options
    )
    (folder / name).write_bytes(raw.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=raw.getvalue())


def test_t5s_pieces(tmp_path: Path) -> None:
    theirs = spm(
        tmp_path, "spiece.model", vocab_size=120, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1
    )
    ours = open_tokenizer(tmp_path, "t5")
    for text in TEXTS:
        assert list(ours.encode(text).ids) == [*theirs.encode(text), 1], text
    assert ours.encode("<extra_id_0>").ids[0] == theirs.get_piece_size() + 99


def test_llamas_pieces(tmp_path: Path) -> None:
    theirs = spm(
        tmp_path, "tokenizer.model", vocab_size=420, model_type="bpe", byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False,
    )  # fmt: skip
    ours = open_tokenizer(tmp_path, "llama")
    for text in TEXTS:
        assert list(ours.encode(text).ids) == [1, *theirs.encode(text)], text


@pytest.mark.parametrize("cased", [True, False])
def test_berts_words(tmp_path: Path, cased: bool) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    inside = ["##at", *(f"##{letter}" for letter in letters)]
    words = [*special, *letters, ".", ",", "'", "the", "cat", "The", *inside, "日", "naive", "M"]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": not cased}))
    theirs = tokenizers.BertWordPieceTokenizer(
        str(tmp_path / "vocab.txt"), lowercase=not cased, strip_accents=not cased
    )
    ours = open_tokenizer(tmp_path, "bert")
    for text in [*TEXTS, "the [MASK] sat"]:
        assert list(ours.encode(text).ids) == theirs.encode(text).ids, text


@pytest.mark.parametrize(("kind", "before", "after"), [("gpt2", [], []), ("roberta", [0], [2])])
def test_byte_pairs(tmp_path: Path, kind: str, before: list[int], after: list[int]) -> None:
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(CORPUS, trainer)
    backend.model.save(str(tmp_path))
    ours = open_tokenizer(tmp_path, kind)
    for text in TEXTS:
        assert list(ours.encode(text).ids) == [*before, *backend.encode(text).ids, *after], text
    mask = ours.encode("a <mask> b")
    assert mask.ids[len(before) + 1] == ours.mask_id, "the mask takes the space before it"


def test_a_folder_without_any_vocabulary_is_refused_by_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no tokenizer"):
        open_tokenizer(tmp_path, "gpt2")


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json"])
def test_a_broken_vocabulary_is_refused_by_a_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\xff\x00broken")
    (tmp_path / "merges.txt").write_bytes(b"\xff\x00broken")
    with pytest.raises(CheckpointError):
        open_tokenizer(tmp_path, "llama")
