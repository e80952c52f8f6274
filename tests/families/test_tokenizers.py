"""Tokenizers of every layout give the ids of transformers, on difficult texts."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from headlight.checkpoints import load
from headlight.checkpoints.tokenizers.open import open_tokenizer
from headlight.errors import CheckpointError, TextError
from headlight.tracing.run import run
from tests.families.cases import CASES
from tests.families.reference import build
from tests.families.texts import BERT, CORPUS, MPNET, NASTY, ROBERTA, byte_pairs, configured, pieces, reference, words
from tests.sampling import each_once, examples

Make = Callable[[Path], object]
pytestmark = pytest.mark.filterwarnings("ignore:This sequence already has")  # ByT5's tokenizer
T5: dict[str, Any] = {"vocab_size": 500, "model_type": "unigram", "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
LLAMA: dict[str, Any] = {
    "vocab_size": 700, "model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False, "split_digits": True, "allow_whitespace_only_pieces": True,
}  # fmt: skip
FAIRSEQ: dict[str, Any] = {"vocab_size": 500, "model_type": "unigram", "unk_id": 0, "bos_id": 1, "eos_id": 2}
OWN = ["<mask>", "<start_of_turn>", *("\n" * count for count in (1, 2, 3)), *("▁" * count for count in (2, 3, 4))]
GEMMA: dict[str, Any] = LLAMA | {
    "add_dummy_prefix": False, "pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3, "pad_piece": "<pad>",
    "bos_piece": "<bos>", "eos_piece": "<eos>", "user_defined_symbols": OWN,
}  # fmt: skip
ALBERT: dict[str, Any] = {
    "vocab_size": 500, "model_type": "unigram", "pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1,
    "control_symbols": ["[CLS]", "[SEP]"], "user_defined_symbols": ["[MASK]"],
}  # fmt: skip
DEBERTA: dict[str, Any] = {
    "vocab_size": 500, "model_type": "unigram", "pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3,
    "pad_piece": "[PAD]", "bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]",
}  # fmt: skip
MARIAN: dict[str, Any] = {"vocab_size": 300, "model_type": "unigram", "eos_id": 0, "unk_id": 1, "bos_id": -1}


def spm(name: str, options: dict[str, Any]) -> Make:
    return lambda folder: pieces(folder / name, **options)


def gpt2(folder: Path) -> None:
    byte_pairs(folder, ["<|endoftext|>"])


def roberta(folder: Path) -> None:
    byte_pairs(folder, ROBERTA)


def marian(folder: Path) -> None:
    """Write two SentencePiece models and a vocabulary that lacks some pieces of both."""
    read = pieces(folder / "source.spm", **MARIAN)
    written = pieces(folder / "target.spm", [text[::-1] for text in CORPUS] + ["größe äpfel über"] * 5, **MARIAN)
    kept = {model.id_to_piece(i) for model in (read, written) for i in range(2, model.get_piece_size()) if i % 7}
    listed = ["</s>", "<unk>", *sorted(kept), ">>fr<<", "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(listed)}))


def m2m(folder: Path) -> None:
    """Write a SentencePiece model and piece ids in another order."""
    model = pieces(folder / "sentencepiece.bpe.model", **MARIAN | {"model_type": "bpe", "bos_id": 2})
    listed = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        *(model.id_to_piece(i) for i in range(model.get_piece_size() - 1, 2, -1)),
    ]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(listed)}))


def amino_acids(folder: Path) -> None:
    """Write one letter per line, and some longer tokens."""
    tokens = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
    (folder / "vocab.txt").write_text("\n".join(tokens))


def added(folder: Path) -> None:
    """Write BERT's vocab.txt and tokens added to it, in added_tokens.json and special_tokens_map.json."""
    words(folder)
    (folder / "added_tokens.json").write_text(json.dumps({"quoted": 400, "<new>": 401}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": ["<new>"]}))


def token(content: str, **flags: bool) -> dict[str, Any]:
    usual = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}
    return {"__type": "AddedToken", "content": content, **usual, **flags}


# The families' real folder layouts: model type, the function that writes the files, and tokenizer_config.json.
LAYOUTS: dict[str, tuple[str, Make, dict[str, Any]]] = {
    "gpt2": ("gpt2", gpt2, {}),
    "gpt2 with a space and a start": ("gpt2", gpt2, {"add_prefix_space": True, "add_bos_token": True}),
    "gpt2 with tokens of its own": (
        "gpt2",
        gpt2,
        {
            "pad_token": "[PAD]",
            "added_tokens_decoder": {
                "420": token("[PAD]", special=True),
                "421": token("hello", rstrip=True, normalized=True, single_word=True, special=False),
            },
        },
    ),
    "gpt_neo": ("gpt_neo", gpt2, {}),
    "gptj": ("gptj", gpt2, {}),
    "gpt_neox": ("gpt_neox", gpt2, {}),
    "phi": ("phi", gpt2, {}),
    **{kind: (kind, gpt2, {}) for kind in ("codegen", "starcoder2", "olmo", "mpt")},
    "qwen2": ("qwen2", gpt2, {}),
    "qwen3": ("qwen3", gpt2, {}),
    "opt": (
        "opt",
        roberta,
        {
            "tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "unk_token": "</s>", "bos_token": "</s>",
            "eos_token": "</s>", "pad_token": "<pad>",
        },
    ),
    "roberta": ("roberta", roberta, {"mask_token": token("<mask>", lstrip=True)}),
    "roberta with a space": ("roberta", roberta, {"add_prefix_space": True, "mask_token": "<mask>"}),
    "bart": ("bart", roberta, {"mask_token": token("<mask>", lstrip=True)}),
    "xlm-roberta": ("xlm-roberta", spm("sentencepiece.bpe.model", FAIRSEQ),
                    {"mask_token": token("<mask>", lstrip=True)}),
    "camembert": ("camembert", spm("sentencepiece.bpe.model", FAIRSEQ), {}),
    "mbart": ("mbart", spm("sentencepiece.bpe.model", FAIRSEQ | {"normalization_rule_name": "identity"}),
              {"tokenizer_class": "MBartTokenizer", "src_lang": "de_DE"}),
    "mbart50 in German": ("mbart", spm("sentencepiece.bpe.model", FAIRSEQ),
                          {"tokenizer_class": "MBart50Tokenizer", "src_lang": "de_DE"}),
    "mbart50": ("mbart", spm("sentencepiece.bpe.model", FAIRSEQ), {"tokenizer_class": "MBart50Tokenizer"}),
    "m2m_100": ("m2m_100", m2m, {"tokenizer_class": "M2M100Tokenizer"}),
    "mpnet": ("mpnet", lambda folder: words(folder, special=MPNET), {}),
    "nomic_bert": ("nomic_bert", words, {}),
    "bert": ("bert", words, {}),
    "bert, cased": ("bert", lambda folder: words(folder, lower=False), {"do_lower_case": False}),
    "bert, accents kept": ("bert", words, {"strip_accents": False}),
    "bert, cased without accents": ("bert", lambda folder: words(folder, lower=False),
                                    {"do_lower_case": False, "strip_accents": True}),
    "bert, Chinese in words": ("bert", words, {"tokenize_chinese_chars": False, "strip_accents": None}),
    "bert with tokens of its own": ("bert", added, {}),
    "esm": ("esm", amino_acids, {}),
    "distilbert": ("distilbert", words, {}),
    "electra": ("electra", words, {}),
    "t5": ("t5", spm("spiece.model", T5), {}),
    "mt5": ("mt5", spm("spiece.model", T5), {"extra_ids": 0}),
    "pegasus": ("pegasus", spm("spiece.model", T5), {}),
    "t5 with fewer sentinels": ("t5", spm("spiece.model", T5), {"extra_ids": 5}),
    "gemma": ("gemma", spm("tokenizer.model", GEMMA), {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True}),
    "gemma3_text": ("gemma3_text", spm("tokenizer.model", GEMMA),
                    {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True, "bos_token": token("<bos>")}),
    "albert": ("albert", spm("spiece.model", ALBERT), {}),
    "albert, cased": ("albert", spm("spiece.model", ALBERT), {"do_lower_case": False, "keep_accents": True}),
    "deberta-v2": ("deberta-v2", spm("spm.model", DEBERTA), {"do_lower_case": False, "vocab_type": "spm"}),
    "deberta-v2, lower case": ("deberta-v2", spm("spm.model", DEBERTA),
                               {"do_lower_case": True, "split_by_punct": True}),
    "byt5": ("t5", lambda folder: None, {"tokenizer_class": "ByT5Tokenizer"}),
    "byt5 with fewer sentinels": ("mt5", lambda folder: None, {"tokenizer_class": "ByT5Tokenizer", "extra_ids": 7}),
    "marian": ("marian", marian, {"source_lang": "en", "target_lang": "de"}),
}  # fmt: skip


# Letters with several accents: SentencePiece composes the first, the library's copy of its map none.
JOINED = {"m2m_100": ("a\u0300\u0301\u0302\u0303",)}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_gives_the_ids_of_transformers(name: str, tmp_path: Path) -> None:
    kind, make, options = LAYOUTS[name]
    make(configured(tmp_path, kind, **options))
    theirs, ours = reference(tmp_path), open_tokenizer(tmp_path, kind)
    for text in (text for text in NASTY if text not in JOINED.get(name, ())):
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text
        assert (
            list(ours.encode(text, add_special_tokens=False).ids) == theirs(text, add_special_tokens=False)["input_ids"]
        ), text


RUNS = [f"{before}{run * count}{after}" for run in (" ", "a", "ab", "l", "\n", "▁") for count in range(1, 13)
        for before, after in (("", ""), ("a", "b"), ("the ", " cat"))]  # fmt: skip


@pytest.mark.parametrize(
    "name", [name for name, (_, make, _) in LAYOUTS.items() if name.startswith(("llama", "gemma", "mistral"))]
)
def test_runs_of_one_character_are_merged_as_in_transformers(name: str, tmp_path: Path) -> None:
    """All merges into runs may have the score 0, that of symbols which a user defined: the order of ties decides."""
    kind, make, options = LAYOUTS[name]
    make(configured(tmp_path, kind, **options))
    theirs, ours = reference(tmp_path), open_tokenizer(tmp_path, kind)
    for text in RUNS:
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


@pytest.mark.parametrize(("name", "language", "token"), [("mbart50", "gl_ES", "gl_ES"), ("m2m_100", "zu", "__zu__")])
def test_a_text_is_read_in_the_language_that_it_begins_with(
    name: str, language: str, token: str, tmp_path: Path
) -> None:
    kind, make, options = LAYOUTS[name]
    make(configured(tmp_path, kind, **options))
    theirs, ours = reference(tmp_path), open_tokenizer(tmp_path, kind)
    theirs.src_lang = language
    assert list(ours.encode(f"{token} the cat").ids) == theirs("the cat")["input_ids"]


FILES = ("gpt2", "gpt_neox", "qwen2", "roberta", "bert", "bert, cased", "t5", "gemma", "albert", "deberta-v2")


@pytest.mark.parametrize("name", FILES)
def test_a_tokenizer_json_is_used_as_it_stands(name: str, tmp_path: Path) -> None:
    kind, make, options = LAYOUTS[name]
    make(configured(tmp_path / "old", kind, **options))
    configured(tmp_path / "new", kind)
    backend = reference(tmp_path / "old").backend_tokenizer
    backend.enable_padding(length=50)
    backend.enable_truncation(4)
    backend.save(str(tmp_path / "new" / "tokenizer.json"))
    backend.no_padding()
    backend.no_truncation()
    ours = open_tokenizer(tmp_path / "new", kind)
    for text in NASTY:
        assert list(ours.encode(text).ids) == backend.encode(text).ids, text


SETTINGS: tuple[dict[str, Any], ...] = (
    {"do_lower_case": False}, {"do_lower_case": True}, {"strip_accents": True}, {"strip_accents": False},
    {"tokenize_chinese_chars": False}, {"add_prefix_space": True}, {"add_prefix_space": False},
    {"additional_special_tokens": ["<|user|>", "<|bot|>"]}, {"pad_token": "[NEW PAD]"}, {"add_bos_token": True},
    {"split_special_tokens": True}, {"keep_accents": True}, {"split_by_punct": True}, {"add_eos_token": True},
    {"legacy": True}, {"clean_up_tokenization_spaces": True}, {"src_lang": "de_DE"},
)  # fmt: skip
WITH_NEW_TOKENS = "The Cat é <|user|>a<|bot|> hello [NEW PAD]<new>quoted"


# Layouts whose files are all that a setting of tokenizer_config.json stands beside.
WITHOUT_JSON = ("gpt2", "gpt_neox", "qwen2", "roberta", "bert", "mpnet", "albert", "deberta-v2", "xlm-roberta",
                "camembert", "gemma", "mbart50", "esm", "byt5")  # fmt: skip
EXCEPT: dict[
    str, tuple[str, ...]
] = {  # the reference then also finds no own pieces of the model, or drops its template
    "split_special_tokens": ("albert", "gemma", "esm"),
    "add_bos_token": ("albert",),
    "add_eos_token": ("albert",),
    "pad_token": ("xlm-roberta", "camembert", "mbart50", "byt5"),
    "additional_special_tokens": ("byt5",),
}


@pytest.mark.parametrize(("name", "settings"), each_once(WITHOUT_JSON, SETTINGS))
def test_settings_beside_other_vocabularies_decide(name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    kind, make, options = LAYOUTS[name]
    if name in EXCEPT.get(next(iter(settings)), ()):
        return
    make(configured(tmp_path, kind))
    configured(tmp_path, kind, **options | settings)
    theirs, ours = reference(tmp_path), open_tokenizer(tmp_path, kind)
    for text in (*NASTY, WITH_NEW_TOKENS):
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


ODD = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(" \t\n▁Ġ'😀é\u0301漢ab1<>/s")), max_size=40)
# Python takes these characters for white space, Unicode does not.
SEPARATORS = ("\x1f</s>", "</s>\x1c", "a \x1d\u3000 </s> \x1e\x85 b", "\x1f", "\x1f</s>\x1f</s>", "<pad>\x1fé<unk>")
FRAGMENTS = st.sampled_from((" the cat", "</s>", "<mask>", "[MASK]", "<|endoftext|>", "<extra_id_0>", " don't", "日本"))


@pytest.mark.parametrize("name", ["gpt2", "qwen2", "bert", "roberta", "t5", "xlm-roberta", "deberta-v2", "byt5"])
def test_any_text_has_the_ids_of_the_reference(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    kind, make, options = LAYOUTS[name]
    folder = tmp_path_factory.mktemp("layout")
    make(configured(folder, kind, **options))
    theirs, ours = reference(folder), open_tokenizer(folder, kind)

    @examples(100)
    @given(st.lists(st.one_of(ODD, FRAGMENTS), max_size=4).map("".join))
    def compare(text: str) -> None:
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"]

    for text in SEPARATORS:
        compare = example(text)(compare)
    compare()


# The class that a tokenizer_config.json names -> a layout of its family, whose tokenizer.json stands beside it.
CLASSES = {
    "GPT2Tokenizer": "gpt2", "Qwen2Tokenizer": "qwen2", "RobertaTokenizer": "roberta", "BartTokenizerFast": "bart",
    "BertTokenizer": "bert", "DistilBertTokenizerFast": "distilbert", "ElectraTokenizer": "electra",
    "MPNetTokenizer": "mpnet", "AlbertTokenizer": "albert", "DebertaV2Tokenizer": "deberta-v2", "T5Tokenizer": "t5",
    "XLMRobertaTokenizer": "xlm-roberta", "CamembertTokenizer": "camembert", "GemmaTokenizer": "gemma",
    "PreTrainedTokenizerFast": "bert", "": "gpt2", "MBart50Tokenizer": "mbart50",
}  # fmt: skip


@pytest.mark.parametrize(("class_name", "settings"), each_once(CLASSES, SETTINGS))
def test_settings_beside_a_tokenizer_json_decide(class_name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    kind, make, options = LAYOUTS[CLASSES[class_name]]
    make(configured(tmp_path / "old", kind, **options))
    named = {"tokenizer_class": class_name} if class_name else {}
    configured(tmp_path / "new", kind, **named, **settings)
    reference(tmp_path / "old").backend_tokenizer.save(str(tmp_path / "new" / "tokenizer.json"))
    theirs, ours = reference(tmp_path / "new"), open_tokenizer(tmp_path / "new", kind)
    for text in (*NASTY, WITH_NEW_TOKENS):
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5", "albert"])
def test_tokens_added_beside_a_tokenizer_json_are_tokens(name: str, tmp_path: Path) -> None:
    kind, make, options = LAYOUTS[name]
    make(configured(tmp_path / "old", kind, **options))
    old = reference(tmp_path / "old")
    listed = {
        str(len(old)): token("<new>", special=True), str(len(old) + 1): token("quoted", rstrip=True, special=False)
    }  # fmt: skip
    configured(tmp_path / "new", kind, tokenizer_class=type(old).__name__, added_tokens_decoder=listed)
    old.backend_tokenizer.save(str(tmp_path / "new" / "tokenizer.json"))
    theirs, ours = reference(tmp_path / "new"), open_tokenizer(tmp_path / "new", kind)
    for text in (*NASTY, WITH_NEW_TOKENS):
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text
    assert {len(old), len(old) + 1} <= set(ours.encode(WITH_NEW_TOKENS).ids)


def test_added_tokens_json_beside_a_tokenizer_json_is_read(tmp_path: Path) -> None:
    gpt2(configured(tmp_path / "old", "gpt2"))
    configured(tmp_path / "new", "gpt2", tokenizer_class="GPT2Tokenizer", additional_special_tokens=["<|user|>"])
    reference(tmp_path / "old").backend_tokenizer.save(str(tmp_path / "new" / "tokenizer.json"))
    (tmp_path / "new" / "added_tokens.json").write_text(json.dumps({"<|user|>": 420, "<new>": 421}))
    theirs, ours = reference(tmp_path / "new"), open_tokenizer(tmp_path / "new", "gpt2")
    assert list(ours.encode(WITH_NEW_TOKENS).ids) == theirs(WITH_NEW_TOKENS)["input_ids"]
    assert ours.encode("<|user|>a").tokens[:1] == ("<|user|>",)


@pytest.mark.parametrize("named", ["BertJapaneseTokenizer", "MyOwnTokenizerFast"])
def test_a_class_that_is_not_known_is_refused_by_name(named: str, tmp_path: Path) -> None:
    words(configured(tmp_path, "bert", tokenizer_class=named))
    with pytest.raises(CheckpointError, match=f"the tokenizer '{named}' cannot be built without one"):
        open_tokenizer(tmp_path, "bert")


def test_a_class_may_be_named_in_config_json(tmp_path: Path) -> None:
    case = CASES["t5"][0]
    model = build(replace(case, config=case.config | {"vocab_size": 384, "tokenizer_class": "ByT5Tokenizer"}), tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    opened, ids = load(tmp_path), [*(byte + 3 for byte in "é the".encode()), 1]
    assert list(opened.tokenizer.encode("é the").ids) == reference(tmp_path)("é the")["input_ids"] == ids
    assert opened.tokenizer.encode("é").token_texts == ("é₁", "é₂", "</s>")
    expected = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([[0]])).logits[0].detach().numpy()
    found = run(opened.model, opened.tokenizer, "", source="é the")
    np.testing.assert_allclose(found["logits"], expected, atol=1e-4)
    words(configured(tmp_path / "japanese", "bert"))
    (tmp_path / "japanese" / "config.json").write_text(json.dumps({"tokenizer_class": "BertJapaneseTokenizer"}))
    with pytest.raises(CheckpointError, match="the tokenizer 'BertJapaneseTokenizer' cannot be built"):
        open_tokenizer(tmp_path / "japanese", "bert")


def test_marians_target_is_split_by_its_own_model(tmp_path: Path) -> None:
    marian(configured(tmp_path, "marian"))
    theirs, ours = reference(tmp_path), open_tokenizer(tmp_path, "marian")
    for text in NASTY:
        assert list(ours.target_tokenizer.encode(text).ids) == theirs(text_target=text)["input_ids"], text
    encoded = ours.encode("the cat </s> größe")
    assert "".join(encoded.text[slice(*span)] for span in encoded.offsets) == "the cat</s>größe"
    assert "".join(encoded.token_texts) == " the cat</s> größe</s>", "the space belongs to the piece"
    assert ours.decode(ours.encode("the cat").ids) == "the cat"
    with pytest.raises(CheckpointError, match=r"one tokenizer\.json cannot hold"):
        ours.save(tmp_path)


CONTROL = ("<s>", "</s>", "<unk>")


@pytest.mark.parametrize(
    ("make", "family"), [(roberta, "roberta"), (spm("sentencepiece.bpe.model", FAIRSEQ), "xlm-roberta")]
)
def test_trocr_has_the_vocabulary_of_one_of_two_families(make: Make, family: str, tmp_path: Path) -> None:
    make(tmp_path)
    assert open_tokenizer(tmp_path, "trocr").to_bytes() == open_tokenizer(tmp_path, family).to_bytes()


@pytest.mark.parametrize("kind", ["llama", "mistral", "phi3"])
def test_llamas_pieces_are_sentencepieces_own(kind: str, tmp_path: Path) -> None:
    """Compared with SentencePiece, not transformers: its version 5 drops one leading space of a text, and for Mistral
    and Phi-3 the space added before every text. Llama's own tokenizer.json and SentencePiece, with which the models
    were trained, keep them.
    """
    theirs = pieces(configured(tmp_path, kind) / "tokenizer.model", **LLAMA)
    ours = open_tokenizer(tmp_path, kind)
    for text in NASTY:
        if not any(mark in text for mark in CONTROL):
            assert list(ours.encode(text).ids) == [1, *theirs.encode(text)], text
    assert ours.encode("x</s>").ids[-1] == ours.end_id
    configured(tmp_path, kind, add_bos_token=False, add_eos_token=True)
    assert list(open_tokenizer(tmp_path, kind).encode("a cat").ids) == [*theirs.encode("a cat"), 2]


def test_llamas_pieces_agree_with_the_reference_but_for_spaces_in_front(tmp_path: Path) -> None:
    options = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "legacy": True, "bos_token": token("<s>")}
    pieces(configured(tmp_path, "llama", **options) / "tokenizer.model", **LLAMA)
    theirs, ours = reference(tmp_path), open_tokenizer(tmp_path, "llama")
    compared = [text for text in NASTY if not text.startswith((" ", "▁")) and "> " not in text]
    assert len(compared) > 40
    for text in compared:
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


@pytest.mark.parametrize("squeezed", [True, False])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_files_own_rules_for_characters_and_spaces_are_kept(kind: str, squeezed: bool, tmp_path: Path) -> None:
    options: dict[str, Any] = {"vocab_size": 500, "model_type": kind, "remove_extra_whitespaces": squeezed}
    theirs = pieces(configured(tmp_path, "llama") / "tokenizer.model", **options)
    ours = open_tokenizer(tmp_path, "llama")
    for text in ("ﬁ ½ ｆｕｌｌ", "  two  spaces  ", "tab\tand\nline", "the cat sat", "日本語の文章です。", "e\u0301"):
        assert list(ours.encode(text, add_special_tokens=False).ids) == theirs.encode(text), text


@pytest.mark.parametrize("settings", [{}, {"mask_token": "<mask>"}, {"mask_token": token("<mask>", lstrip=True)}])
@pytest.mark.parametrize("name", ["roberta", "bart", "xlm-roberta", "camembert", "mbart50", "mpnet"])
def test_a_mask_strips_the_space_before_it_where_the_reference_does(
    name: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    kind, make, options = LAYOUTS[name]
    make(
        configured(tmp_path, kind, **{key: value for key, value in options.items() if key != "mask_token"}, **settings)
    )
    theirs, ours = reference(tmp_path), open_tokenizer(tmp_path, kind)
    for text in ("a <mask> b", "a  <mask>", " <mask>.", "a\t<mask>b"):
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


@pytest.mark.parametrize("missing", ["bos_token", "cls_token"])
def test_a_token_around_every_text_that_the_model_lacks_is_refused(missing: str, tmp_path: Path) -> None:
    kind, make, size = ("gpt2", gpt2, 420) if missing == "bos_token" else ("bert", words, 400)
    case = CASES[kind][0]
    build(replace(case, config=case.config | {"vocab_size": size}), tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    make(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({missing: "<x>", "add_bos_token": True}))
    with pytest.raises(CheckpointError, match="its tokenizer adds '<x>' to every text, but the model has no embedding"):
        load(tmp_path)


def test_a_folder_without_any_vocabulary_is_refused_by_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no tokenizer"):
        open_tokenizer(tmp_path, "gpt2")


SPOILT: dict[str, tuple[Make, str]] = {
    "a token that is none": (lambda f: configured(f, "gpt2", bos_token=3), "'3' as a token"),
    "a token without a name": (lambda f: configured(f, "gpt2", bos_token={"lstrip": True}), "as a token"),
    "special tokens in no list": (lambda f: configured(f, "gpt2", additional_special_tokens="x"), "not a list"),
    "a special token that is null": (lambda f: configured(f, "gpt2", additional_special_tokens=[None]), "no name|name"),
    "a number that is none": (lambda f: configured(f, "gpt2", added_tokens_decoder={"x": "y"}), "not a token id"),
    "added tokens without ids": (lambda f: (f / "added_tokens.json").write_text('{"a": "b"}'), "without an id"),
    "no flag": (lambda f: configured(f, "gpt2", add_prefix_space="yes"), "true or false"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_files_beside_a_vocabulary_that_make_no_sense_are_refused_by_a_sentence(name: str, tmp_path: Path) -> None:
    make, sentence = SPOILT[name]
    gpt2(configured(tmp_path, "gpt2"))
    make(tmp_path)
    with pytest.raises(CheckpointError, match=sentence) as refused:
        open_tokenizer(tmp_path, "gpt2")
    assert str(tmp_path) not in str(refused.value)


def test_a_vocabulary_without_a_token_for_unknown_words_is_refused_by_a_sentence(tmp_path: Path) -> None:
    words(configured(tmp_path, "bert"))
    path = tmp_path / "vocab.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("[UNK]", "x"), encoding="utf-8")
    with pytest.raises(CheckpointError, match="lacks"):
        open_tokenizer(tmp_path, "bert")


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "source.spm", "tokenizer.bin"]
)
def test_a_broken_vocabulary_is_refused_by_a_sentence(tmp_path: Path, name: str) -> None:
    for file in (name, "merges.txt", "target.spm"):
        (tmp_path / file).write_bytes(b"\xff\x00broken")
    if name == "source.spm":
        (tmp_path / "vocab.json").write_text('{"<unk>": 0, "</s>": 1}')
    with pytest.raises(CheckpointError) as refused:
        open_tokenizer(tmp_path, "llama")
    assert str(tmp_path) not in str(refused.value)


def test_a_text_that_a_tokenizer_fails_at_gets_a_sentence(tmp_path: Path) -> None:
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({"ab": 0}, unk_token=BERT[1]))
    backend.save(str(configured(tmp_path, "bert") / "tokenizer.json"))
    with pytest.raises(TextError, match="fails at this text"):
        open_tokenizer(tmp_path, "bert").encode("b")


@pytest.mark.parametrize("missing", ["</s>", "<unk>"])
def test_a_marian_vocabulary_without_its_special_tokens_is_refused_by_a_sentence(missing: str, tmp_path: Path) -> None:
    marian(configured(tmp_path, "marian"))
    path = tmp_path / "vocab.json"
    path.write_text(path.read_text().replace(json.dumps(missing), '"x"'))
    with pytest.raises(CheckpointError, match=f"lacks {missing}"):
        open_tokenizer(tmp_path, "marian")


def test_a_marian_model_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    marian(configured(tmp_path, "marian"))
    rules = tmp_path / "rules.tsv"
    rules.write_text("3A9\t" + " ".join(["62"] * 100_000))  # one Ω becomes 100,000 b
    pieces(tmp_path / "source.spm", **MARIAN, normalization_rule_tsv=str(rules))
    with pytest.raises(TextError, match="more than 4,000,000 characters"):
        open_tokenizer(tmp_path, "marian").encode("Ω" * 50)
