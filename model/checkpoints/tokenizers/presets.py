"""What each kind of older tokenizer does to a text, as a table: its marks, what stands around a text, how it is cut.

Only for folders without a tokenizer.json. A row is a class of the reference; what a row says is what that class does
where the folder's own files are silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tokenizers import AddedToken

# The widths of white space, words with the space before them, and each digit by itself (Qwen2's own pattern).
QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def special_tokens(**roles: str) -> dict[str, AddedToken]:
    """Tokens by their role; a mask written with a space before it takes that space."""
    return {
        role: AddedToken(token.strip(), special=True, normalized=False, lstrip=token.startswith(" "))
        for role, token in roles.items()
    }


@dataclass(frozen=True)
class TokenizerPreset:
    """How a text becomes tokens.

    `before` and `after` are the roles of the marks around every text; `adds_start` and `adds_end` say whether the
    roles bos and eos stand there too, where the field add_bos_token or add_eos_token does not (None: no such field).
    `appended` marks lie after the vocabulary. `pattern` cuts a text before byte pairs are made, `composed` composes
    its letters (NFC); `pieces` names what is done before SentencePiece's own pieces are made.
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
    adds_sentinels: bool = field(default=False)  # T5's <extra_id_0> and so on


_GPT2 = TokenizerPreset(
    special_tokens(bos="<|endoftext|>", eos="<|endoftext|>", unk="<|endoftext|>"), adds_bos=False, adds_eos=False
)
# The mask takes the space before it, as these models were trained; the reference's fifth version forgets that where
# no tokenizer_config.json says so.
_ROBERTA = TokenizerPreset(
    special_tokens(bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="<unk>", pad="<pad>", mask=" <mask>"),
    ("cls",),
    ("sep",),
)
_BERT = TokenizerPreset(
    special_tokens(unk="[UNK]", sep="[SEP]", pad="[PAD]", cls="[CLS]", mask="[MASK]"), ("cls",), ("sep",)
)
# Without a tokenizer_config.json the reference's fifth version puts no first token in front of Llama's and Gemma's
# texts, nor Llama's space; the models were trained with them.
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
# Each family's usual class. What other tokenizers a family's folders hold is told by their tokenizer_config.json.
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
    """The recipe of the class that a folder names, or else of its family; None where neither is known."""
    class_key = class_name.removesuffix("Fast")
    # OPT's files name GPT-2's class and list their own marks; without them they would get GPT-2's.
    if class_key == "GPT2Tokenizer" and DEFAULT_CLASSES.get(model_type) in ("OPTTokenizer", "GPTNeoXTokenizer"):
        class_key = DEFAULT_CLASSES[model_type]
    return PRESETS.get(class_key) or PRESETS.get(DEFAULT_CLASSES.get(model_type, ""))
