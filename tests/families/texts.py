"""Difficult texts, and small vocabularies of every layout trained on them."""

import io
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import transformers
from tokenizers import models, normalizers, pre_tokenizers, trainers

NASTY = [
    "The cat sat on the mat.", "", " ", "   ", "\t", "\n", "\n\n\n", " leading", "trailing ", "  two  spaces  inside  ",
    "tab\tnew\nline\r\nreturn\rend", "emoji 😀 and 👩‍👩‍👧‍👦 family 🏳️‍🌈 flag 🇩🇪 👍🏽",
    "🤦🏼‍♂️" * 5, "\U0001f9ff\U0010ffff",
    "combining: e\u0301 a\u0308 n\u0303 Z\u0351\u036b\u0343", "a\u0300\u0301\u0302\u0303",
    "naïve café Ångström ÉCOLE Straße İstanbul ŒUVRE ﬁ ½ ² ™", "日本語の文章です。漢字", "中文，标点。", "한국어 문장",
    "ไทย", "हिन्दी", "שלום עולם", "مرحبا بالعالم \u202eRTL\u202c x", "Ελληνικά Русский", "ﷺ ㎏ Ⅳ ① ｆｕｌｌ",
    "a\0b", "\0",
    "control\u0001\u0007\u001b[0m\u007fx", "\u200b\u200d\ufeffzero\u00adwidth\u2060", "\ufffd \ud7ff \ue000",
    "\u00a0nbsp\u00a0and\u3000ideographic\u2003em\u2028line\u2029para", "a" * 300, "supercalifragilistic" * 20,
    "x" * 99 + " " + "y" * 101, "don't can't I'll we've don\u2019t", "''quoted'' ``ticks`` “curly” ‘single’ – — …",
    "1,234.56 + 7e-3 = ? 100% $5 #tag @me", "C:\\path\\file /usr/bin", "e-mail@example.com http://x.y/z?q=1&r=2",
    "<b>not markup</b> $x$ ** __ ~~", "<s> </s> <unk> <pad> <mask>", "a<mask>b", "a <mask> b", "x</s>", " </s> y",
    "a [MASK] b[MASK]c [CLS] [SEP] [UNK] [PAD]", "[unk] [mask]", "<|endoftext|> a<|endoftext|>", "<bos>a<eos>",
    "<extra_id_0> and <extra_id_99>x", "hello<unk>there", "▁under▁score ▁ x", "Ġcat Ċ ##at ##", "<0x0A> <0x41>",
    "MiXeD CaSe WORDS", ">>fr<< hello", "  \t mixed \n white  ",
]  # fmt: skip
SENTENCES = ["the quick brown fox jumps over the lazy dog and the cat sat on the mat", "hello there world under score"]
CORPUS = [text for text in NASTY if text.strip() and "\0" not in text] * 2 + SENTENCES * 8
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
MPNET = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"]
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def configured(folder: Path, kind: str, **options: Any) -> Path:
    """Create a folder with a config.json and a tokenizer_config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    if options:
        (folder / "tokenizer_config.json").write_text(json.dumps(options))
    return folder


def byte_pairs(folder: Path, special: list[str]) -> None:
    """Write GPT-2's vocab.json and merges.txt."""
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(CORPUS, trainer)
    backend.model.save(str(folder))


def words(folder: Path, lower: bool = True, special: Sequence[str] = BERT) -> None:
    """Write BERT's vocab.txt."""
    backend = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=lower)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=list(special), show_progress=False)
    backend.train_from_iterator(CORPUS, trainer)
    backend.model.save(str(folder))


def pieces(path: Path, corpus: list[str] = CORPUS, **options: Any) -> sentencepiece.SentencePieceProcessor:
    """Train and write a SentencePiece model; returns its processor."""
    raw = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=raw, hard_vocab_limit=False, minloglevel=2, **options
    )
    path.write_bytes(raw.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=raw.getvalue())


def reference(folder: Path) -> Any:
    """The tokenizer that `transformers` loads from a folder."""
    with warnings.catch_warnings():  # it recommends a package that it never uses
        warnings.simplefilter("ignore")
        return transformers.AutoTokenizer.from_pretrained(str(folder))
