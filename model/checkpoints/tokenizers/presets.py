"""What each kind of older tokenizer does to a text, as a table: its marks, what stands around a text, how it is cut.

Only for folders without a tokenizer.json. A row is a class of the reference; what a row says is what that class does
where the folder's own files are silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tokenizers import AddedToken

# The widths of white space, words with the space before them, and each digit by itself (Qwen2's own pattern).
DIGITS_APART = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def marks(**roles: str) -> dict[str, AddedToken]:
    """Tokens by their role; a mask written with a space before it takes that space."""
    return {
        role: AddedToken(token.strip(), special=True, normalized=False, lstrip=token.startswith(" "))
        for role, token in roles.items()
    }


@dataclass(frozen=True)
class Recipe:
    """How a text becomes tokens.

    `before` and `after` are the roles of the marks around every text; `adds_start` and `adds_end` say whether the
    roles bos and eos stand there too, where the field add_bos_token or add_eos_token does not (None: no such field).
    `appended` marks lie after the vocabulary. `pattern` cuts a text before byte pairs are made, `composed` composes
    its letters (NFC); `pieces` names what is done before SentencePiece's own pieces are made.
    """

    marks: Mapping[str, AddedToken]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    adds_start: bool | None = None
    adds_end: bool | None = None
    appended: tuple[str, ...] = ()
    pattern: str = ""
    composed: bool = False
    pieces: str = "plain"
    sentinels: bool = field(default=False)  # T5's <extra_id_0> and so on


_GPT2 = Recipe(marks(bos="<|endoftext|>", eos="<|endoftext|>", unk="<|endoftext|>"), adds_start=False, adds_end=False)
# The mask takes the space before it, as these models were trained; the reference's fifth version forgets that where
# no tokenizer_config.json says so.
_ROBERTA = Recipe(
    marks(bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="<unk>", pad="<pad>", mask=" <mask>"), ("cls",), ("sep",)
)
_BERT = Recipe(marks(unk="[UNK]", sep="[SEP]", pad="[PAD]", cls="[CLS]", mask="[MASK]"), ("cls",), ("sep",))
# Without a tokenizer_config.json the reference's fifth version puts no first token in front of Llama's and Gemma's
# texts, nor Llama's space; the models were trained with them.
_LLAMA = Recipe(marks(bos="<s>", eos="</s>", unk="<unk>"), adds_start=True, adds_end=False)
_ALBERT_MARKS = marks(bos="[CLS]", eos="[SEP]", unk="<unk>", sep="[SEP]", pad="<pad>", cls="[CLS]", mask="[MASK]")
_DEBERTA_MARKS = marks(bos="[CLS]", eos="[SEP]", unk="[UNK]", sep="[SEP]", pad="[PAD]", cls="[CLS]", mask="[MASK]")

RECIPES: Mapping[str, Recipe] = {
    "GPT2Tokenizer": _GPT2,
    "CodeGenTokenizer": _GPT2,
    "OPTTokenizer": Recipe(marks(bos="</s>", eos="</s>", unk="</s>", pad="<pad>"), adds_start=True, adds_end=False),
    "GPTNeoXTokenizer": replace(_GPT2, composed=True),
    "BloomTokenizer": replace(_GPT2, marks=marks(bos="<s>", eos="</s>", unk="<unk>", pad="<pad>")),
    "Qwen2Tokenizer": Recipe(
        marks(eos="<|endoftext|>", unk="<|endoftext|>", pad="<|endoftext|>"),
        adds_start=False, adds_end=False, pattern=DIGITS_APART, composed=True,
    ),
    "RobertaTokenizer": _ROBERTA,
    "BartTokenizer": _ROBERTA,
    "BertTokenizer": _BERT,
    "DistilBertTokenizer": _BERT,
    "ElectraTokenizer": _BERT,
    "T5Tokenizer": Recipe(marks(eos="</s>", unk="<unk>", pad="<pad>"), (), ("eos",), sentinels=True),
    "LlamaTokenizer": _LLAMA,
    "GemmaTokenizer": replace(_LLAMA, marks=marks(bos="<bos>", eos="<eos>", unk="<unk>", pad="<pad>", mask="<mask>")),
    "AlbertTokenizer": Recipe(_ALBERT_MARKS, ("cls",), ("sep",), pieces="albert"),
    "DebertaV2Tokenizer": Recipe(_DEBERTA_MARKS, ("cls",), ("sep",), appended=("[MASK]",), pieces="deberta"),
    "MarianTokenizer": Recipe(marks(eos="</s>", unk="<unk>", pad="<pad>"), (), ("eos",)),
    "nanogpt": replace(_GPT2, adds_start=None, adds_end=None),
}  # fmt: skip
# Each family's usual class. What other tokenizers a family's folders hold is told by their tokenizer_config.json.
USUAL: Mapping[str, str] = {
    "nanogpt": "nanogpt", "llama2.c": "LlamaTokenizer", "gpt2": "GPT2Tokenizer", "gpt_neo": "GPT2Tokenizer",
    "gptj": "GPT2Tokenizer", "phi": "GPT2Tokenizer", "falcon": "GPT2Tokenizer", "gpt_neox": "GPTNeoXTokenizer",
    "bloom": "BloomTokenizer", "opt": "OPTTokenizer", "qwen2": "Qwen2Tokenizer", "qwen3": "Qwen2Tokenizer",
    "roberta": "RobertaTokenizer", "bart": "RobertaTokenizer", "bert": "BertTokenizer", "distilbert": "BertTokenizer",
    "electra": "BertTokenizer", "albert": "AlbertTokenizer", "deberta-v2": "DebertaV2Tokenizer", "t5": "T5Tokenizer",
    "llama": "LlamaTokenizer", "mistral": "LlamaTokenizer", "phi3": "LlamaTokenizer", "gemma": "GemmaTokenizer",
    "gemma2": "GemmaTokenizer", "gemma3_text": "GemmaTokenizer", "marian": "MarianTokenizer",
}  # fmt: skip


def recipe_for(kind: str, named: str) -> Recipe | None:
    """The recipe of the class that a folder names, or else of its family; None where neither is known."""
    own = named.removesuffix("Fast")
    # OPT's files name GPT-2's class and list their own marks; without them they would get GPT-2's.
    if own == "GPT2Tokenizer" and USUAL.get(kind) in ("OPTTokenizer", "GPTNeoXTokenizer"):
        own = USUAL[kind]
    return RECIPES.get(own) or RECIPES.get(USUAL.get(kind, ""))
