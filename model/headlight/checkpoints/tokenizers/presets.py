"""Presets for tokenizers without tokenizer.json, one per tokenizer class of transformers.

A preset holds the behaviour of the class where the folder's own files leave it open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tokenizers import AddedToken

# Qwen2's pre-tokenizer pattern: words with the space before them, single digits, runs of white space.
QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def special_tokens(**roles: str) -> dict[str, AddedToken]:
    """Special tokens by role; a token written with a leading space strips the space before it (lstrip)."""
    return {
        role: AddedToken(token.strip(), special=True, normalized=False, lstrip=token.startswith(" "))
        for role, token in roles.items()
    }


@dataclass(frozen=True)
class TokenizerPreset:
    """How one class of tokenizers works.

    special_tokens: by role.
    prefix_roles, suffix_roles: roles of the special tokens around every text.
    adds_bos, adds_eos: defaults of the fields add_bos_token and add_eos_token (None: the class has no such field).
    appended_tokens: special tokens after the end of the vocabulary.
    split_pattern: splits a text before byte-level BPE; nfc: whether the text is NFC-normalized.
    sentencepiece_style: a row of STYLES. adds_sentinels: whether T5's <extra_id_0> and so on follow.
    """

    special_tokens: Mapping[str, AddedToken]
    prefix_roles: tuple[str, ...] = ()
    suffix_roles: tuple[str, ...] = ()
    adds_bos: bool | None = None
    adds_eos: bool | None = None
    appended_tokens: tuple[str, ...] = ()
    split_pattern: str = ""
    nfc: bool = False
    sentencepiece_style: str = "plain"
    adds_sentinels: bool = False


_GPT2 = TokenizerPreset(
    special_tokens(bos="<|endoftext|>", eos="<|endoftext|>", unk="<|endoftext|>"), adds_bos=False, adds_eos=False
)
# The mask strips the space before it, as in training; transformers 5 does so only if tokenizer_config.json says so.
_ROBERTA = TokenizerPreset(
    special_tokens(bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="<unk>", pad="<pad>", mask=" <mask>"),
    ("cls",),
    ("sep",),
)
_BERT = TokenizerPreset(
    special_tokens(unk="[UNK]", sep="[SEP]", pad="[PAD]", cls="[CLS]", mask="[MASK]"), ("cls",), ("sep",)
)
# The models were trained with a bos token, and Llama's with a leading space; transformers 5 adds neither where no
# tokenizer_config.json says so.
_LLAMA = TokenizerPreset(special_tokens(bos="<s>", eos="</s>", unk="<unk>"), adds_bos=True, adds_eos=False)
_ALBERT_TOKENS = special_tokens(
    bos="[CLS]", eos="[SEP]", unk="<unk>", sep="[SEP]", pad="<pad>", cls="[CLS]", mask="[MASK]"
)
_DEBERTA_TOKENS = special_tokens(
    bos="[CLS]", eos="[SEP]", unk="[UNK]", sep="[SEP]", pad="[PAD]", cls="[CLS]", mask="[MASK]"
)

PRESETS: Mapping[str, TokenizerPreset] = {
    "GPT2Tokenizer": _GPT2,
    "CodeGenTokenizer": _GPT2,
    "OPTTokenizer": TokenizerPreset(
        special_tokens(bos="</s>", eos="</s>", unk="</s>", pad="<pad>"), adds_bos=True, adds_eos=False
    ),
    "GPTNeoXTokenizer": replace(_GPT2, nfc=True),
    "BloomTokenizer": replace(_GPT2, special_tokens=special_tokens(bos="<s>", eos="</s>", unk="<unk>", pad="<pad>")),
    "Qwen2Tokenizer": TokenizerPreset(
        special_tokens(eos="<|endoftext|>", unk="<|endoftext|>", pad="<|endoftext|>"),
        adds_bos=False,
        adds_eos=False,
        split_pattern=QWEN2_PATTERN,
        nfc=True,
    ),
    "RobertaTokenizer": _ROBERTA,
    "BartTokenizer": _ROBERTA,
    "BertTokenizer": _BERT,
    "DistilBertTokenizer": _BERT,
    "ElectraTokenizer": _BERT,
    "T5Tokenizer": TokenizerPreset(
        special_tokens(eos="</s>", unk="<unk>", pad="<pad>"), (), ("eos",), adds_sentinels=True
    ),
    "LlamaTokenizer": _LLAMA,
    "GemmaTokenizer": replace(
        _LLAMA, special_tokens=special_tokens(bos="<bos>", eos="<eos>", unk="<unk>", pad="<pad>", mask="<mask>")
    ),
    "AlbertTokenizer": TokenizerPreset(_ALBERT_TOKENS, ("cls",), ("sep",), sentencepiece_style="albert"),
    "DebertaV2Tokenizer": TokenizerPreset(
        _DEBERTA_TOKENS, ("cls",), ("sep",), appended_tokens=("[MASK]",), sentencepiece_style="deberta"
    ),
    "MarianTokenizer": TokenizerPreset(special_tokens(eos="</s>", unk="<unk>", pad="<pad>"), (), ("eos",)),
    "nanogpt": replace(_GPT2, adds_bos=None, adds_eos=None),
}
# Each family's default class; tokenizer_config.json may name another.
DEFAULT_CLASSES: Mapping[str, str] = {
    "nanogpt": "nanogpt",
    "llama2.c": "LlamaTokenizer",
    "gpt2": "GPT2Tokenizer",
    "gpt_neo": "GPT2Tokenizer",
    "gptj": "GPT2Tokenizer",
    "phi": "GPT2Tokenizer",
    "falcon": "GPT2Tokenizer",
    "gpt_neox": "GPTNeoXTokenizer",
    "bloom": "BloomTokenizer",
    "opt": "OPTTokenizer",
    "qwen2": "Qwen2Tokenizer",
    "qwen3": "Qwen2Tokenizer",
    "roberta": "RobertaTokenizer",
    "bart": "RobertaTokenizer",
    "bert": "BertTokenizer",
    "distilbert": "BertTokenizer",
    "electra": "BertTokenizer",
    "albert": "AlbertTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "t5": "T5Tokenizer",
    "llama": "LlamaTokenizer",
    "mistral": "LlamaTokenizer",
    "phi3": "LlamaTokenizer",
    "gemma": "GemmaTokenizer",
    "gemma2": "GemmaTokenizer",
    "gemma3_text": "GemmaTokenizer",
    "marian": "MarianTokenizer",
}


def preset_for(model_type: str, class_name: str) -> TokenizerPreset | None:
    """The preset of the class that a folder names, or else of its family; None where neither is known."""
    class_key = class_name.removesuffix("Fast")
    # OPT's and GPT-NeoX's files name GPT-2's class, which has other special tokens.
    if class_key == "GPT2Tokenizer" and DEFAULT_CLASSES.get(model_type) in ("OPTTokenizer", "GPTNeoXTokenizer"):
        class_key = DEFAULT_CLASSES[model_type]
    return PRESETS.get(class_key) or PRESETS.get(DEFAULT_CLASSES.get(model_type, ""))
