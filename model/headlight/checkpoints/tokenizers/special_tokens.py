"""Special tokens by role (bos, eos, unk, ...), from files and from presets of tokenizer classes.

Read from tokenizer_config.json, special_tokens_map.json and added_tokens.json, all of them optional. A preset is the
behaviour of a tokenizer class of transformers for settings that the folder's files omit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.file_rules import CONFIG
from headlight.errors import CheckpointError
from headlight.text.tokenizer_limits import MAX_ADDED_TOKEN_LENGTH

ROLES, LANGUAGE = ("bos", "eos", "unk", "sep", "pad", "cls", "mask"), "language"
TOKENIZER_CONFIG, SPECIAL_TOKENS_MAP, ADDED_TOKENS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
_CONFIGS = (TOKENIZER_CONFIG, CONFIG)
UNNAMED_TOKEN_FIELDS = ("additional_special_tokens", "extra_special_tokens")
_FLAGS = ("lstrip", "rstrip", "single_word", "normalized")


@dataclass(frozen=True)
class SpecialTokens:
    """Special tokens by role, those without a role, and all tokens added to the vocabulary, in order.

    A chat template may also name the `others`: {"image_token": "<image>"}.
    """

    roles: Mapping[str, AddedToken]
    unnamed: tuple[AddedToken, ...] = ()
    added: tuple[AddedToken, ...] = field(default=())
    others: Mapping[str, str] = field(default_factory=dict)

    def token(self, role: str) -> str | None:
        """The token of a role; None if there is none."""
        return self.roles[role].content if role in self.roles else None


def read_tokenizer_config(folder: Path, name: str) -> ConfigReader:
    """The folder's tokenizer_config.json; empty if there is none. Its class may be named in config.json instead."""
    values, config = (read_json(folder / file, name) if (folder / file).is_file() else {} for file in _CONFIGS)
    named = {"tokenizer_class": config["tokenizer_class"]} if config.get("tokenizer_class") else {}
    return ConfigReader({**named, **values}, name)


def read_special_tokens(folder: Path, fields: ConfigReader, defaults: Mapping[str, AddedToken]) -> SpecialTokens:
    """The special tokens of a folder, with `defaults` for missing ones. Raises CheckpointError for invalid files."""
    decoder, name = fields.nested("added_tokens_decoder"), fields.name
    named = dict(fields.values)
    if decoder is None and (folder / SPECIAL_TOKENS_MAP).is_file():
        named |= read_json(folder / SPECIAL_TOKENS_MAP, name)
    roles = dict(defaults)
    for role in ROLES:
        if f"{role}_token" in named:
            token = _token(named[f"{role}_token"], name, special=True)
            default = roles.pop(role, None)
            if token and default and isinstance(named[f"{role}_token"], str):  # a text alone has its class's flags
                token = AddedToken(token.content, special=True, normalized=False, lstrip=default.lstrip)
            roles |= {role: token} if token else {}
    unnamed = tuple(
        _required_token(item, name) for more in UNNAMED_TOKEN_FIELDS for item in _token_list(named.get(more), name)
    )
    special = {token.content for token in (*roles.values(), *unnamed)}
    added = _from_added_tokens_decoder(decoder.values if decoder else {}, name) or _from_added_tokens_file(
        folder, name, special
    )
    known = {token.content: token for token in added}
    return SpecialTokens(
        {role: known.get(token.content, token) for role, token in roles.items()}, unnamed, tuple(added), _others(named)
    )


def _others(values: Mapping[str, Any]) -> dict[str, str]:
    """Tokens with names of their own: fields that end in _token, and those of two objects."""
    found = {name: value for name, value in values.items() if name.endswith("_token")}
    for group in map(values.get, ("extra_special_tokens", "model_specific_special_tokens")):
        found |= group if isinstance(group, dict) else {}
    texts = {name: value.get("content") if isinstance(value, dict) else value for name, value in found.items()}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


def add_special_tokens(backend: tokenizers.Tokenizer, special_tokens: SpecialTokens) -> None:
    """Make a tokenizer recognize special tokens in a text; missing ones follow the vocabulary, ordered as ROLES."""
    for token in special_tokens.added:
        (backend.add_special_tokens if token.special else backend.add_tokens)([token])
    present = {token.content for token in backend.get_added_tokens_decoder().values()}  # also from the .model file
    by_role = sorted(special_tokens.roles, key=[*ROLES, LANGUAGE].index)
    for token in (*(special_tokens.roles[role] for role in by_role), *special_tokens.unnamed):
        if token.content not in present:
            backend.add_special_tokens([token])


def _token(value: Any, name: str, special: bool) -> AddedToken | None:
    """A token in a file: a string, or an object with flags; None for null."""
    if value is None:
        return None
    content = value.get("content") if isinstance(value, dict) else value
    if isinstance(content, str) and len(content) > MAX_ADDED_TOKEN_LENGTH:
        raise CheckpointError(f"{name}: its tokenizer files have a token of {len(content):,} characters.")
    if isinstance(value, str) and value:
        return AddedToken(value, special=special, normalized=not special)
    if isinstance(value, dict) and isinstance(content, str) and content:
        flags = {flag: value[flag] for flag in _FLAGS if isinstance(value.get(flag), bool)}
        return AddedToken(content, special=bool(value.get("special", special)), **flags)
    raise CheckpointError(
        f"{name}: its tokenizer files give {str(value)[:60]!r} as a token; wanted a text, or an object with content."
    )


def _required_token(value: Any, name: str) -> AddedToken:
    token = _token(value, name, special=True)
    if token is None:
        raise CheckpointError(f"{name}: its tokenizer files list a special token without a name.")
    return token


def _token_list(value: Any, name: str) -> list[Any]:
    """Special tokens without a role: a list, or the values of an object."""
    if value is None:
        return []
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    raise CheckpointError(f"{name}: its tokenizer files have special tokens that are not a list.")


def _from_added_tokens_decoder(values: Mapping[str, Any], name: str) -> list[AddedToken]:
    """From `added_tokens_decoder`, by number."""
    if not all(number.isdecimal() and len(number) < 10 for number in values):
        raise CheckpointError(f"{name}: its added_tokens_decoder has a key that is not a token id.")
    tokens = [_token(values[number], name, special=False) for number in sorted(values, key=int)]
    return [token for token in tokens if token]


def _from_added_tokens_file(folder: Path, name: str, special: set[str]) -> list[AddedToken]:
    """From added_tokens.json, which only contains names and numbers."""
    path = folder / ADDED_TOKENS
    if not path.is_file():
        return []
    numbers = read_json(path, name)
    if not all(type(number) is int and 0 < len(word) <= MAX_ADDED_TOKEN_LENGTH for word, number in numbers.items()):
        raise CheckpointError(f"{name}: its {ADDED_TOKENS} has a token without an id.")
    return [
        AddedToken(word, special=word in special, normalized=word not in special)
        for word in sorted(numbers, key=lambda word: numbers[word])
    ]


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
class PieceOrder:
    """A class's order of SentencePiece pieces: `front`, the pieces without the first `skipped`, `back`."""

    front: tuple[str, ...] = ()
    skipped: int = 0
    back: tuple[str, ...] = ()


# A class's pair of texts A and B, whose tokens with ":1" are in segment 1; "prefix" and "suffix" are its tokens around
# a text.
PAIRS: Mapping[str, tuple[str, ...]] = {
    "segments": ("prefix", "A", "suffix", "B:1", "suffix:1"),  # BERT
    "one separator": ("prefix", "A", "suffix", "B", "suffix"),  # T5
    "two separators": ("prefix", "A", "suffix", "suffix", "B", "suffix"),  # RoBERTa
    "joined": ("prefix", "A", "B", "suffix"),  # Pegasus
    "repeated": ("prefix", "A", "suffix", "prefix:1", "B:1", "suffix:1"),  # Llama
}


@dataclass(frozen=True)
class TokenizerPreset:
    """How one class of tokenizers works.

    special_tokens: by role.
    prefix_roles, suffix_roles: roles of the special tokens around every text.
    adds_bos, adds_eos: defaults of the fields add_bos_token and add_eos_token (None: the class has no such field).
    split_pattern: splits a text before byte-level BPE; nfc: whether the text is NFC-normalized.
    sentencepiece_style: a row of STYLES; piece_order: the order of its pieces.
    adds_sentinels: whether T5's <extra_id_0> and so on follow the pieces.
    whole_tokens: whether a vocab.txt holds whole tokens, not beginnings and pieces of words.
    pair: how it reads two texts, a row of PAIRS.
    languages: the language tokens; the role "language" is the default one.
    """

    special_tokens: Mapping[str, AddedToken]
    prefix_roles: tuple[str, ...] = ()
    suffix_roles: tuple[str, ...] = ()
    adds_bos: bool | None = None
    adds_eos: bool | None = None
    split_pattern: str = ""
    nfc: bool = False
    sentencepiece_style: str = "plain"
    piece_order: PieceOrder = PieceOrder()
    adds_sentinels: bool = False
    whole_tokens: bool = False
    pair: str = "segments"
    languages: tuple[str, ...] = ()


_GPT2 = TokenizerPreset(
    special_tokens(bos="<|endoftext|>", eos="<|endoftext|>", unk="<|endoftext|>"),
    adds_bos=False,
    adds_eos=False,
    pair="repeated",
)
# In training the mask stripped the space before it; as in transformers 5, it does so if tokenizer_config.json says so.
_ROBERTA = TokenizerPreset(
    special_tokens(bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="<unk>", pad="<pad>", mask="<mask>"),
    ("cls",),
    ("sep",),
    pair="two separators",
)
_STRIPPING_MASK = {**_ROBERTA.special_tokens, **special_tokens(mask=" <mask>")}
# fairseq's vocabularies begin with their own special tokens instead of the model's first pieces.
_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")
_XLM_ROBERTA = replace(
    _ROBERTA,
    special_tokens=_STRIPPING_MASK,
    sentencepiece_style="words",
    piece_order=PieceOrder(_FAIRSEQ, 3, ("<mask>",)),
)
# In the order of their numbers.
_MBART50_LANGUAGES = (
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT", "ja_XX",
    "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN",
    "zh_CN", "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK", "ml_IN",
    "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN", "th_TH", "tl_XX", "uk_UA",
    "ur_PK", "xh_ZA", "gl_ES", "sl_SI",
)  # fmt: skip
_M2M_LANGUAGES = tuple(f"__{code}__" for code in (
    "af", "am", "ar", "ast", "az", "ba", "be", "bg", "bn", "br", "bs", "ca", "ceb", "cs", "cy", "da", "de", "el",
    "en", "es", "et", "fa", "ff", "fi", "fr", "fy", "ga", "gd", "gl", "gu", "ha", "he", "hi", "hr", "ht", "hu", "hy",
    "id", "ig", "ilo", "is", "it", "ja", "jv", "ka", "kk", "km", "kn", "ko", "lb", "lg", "ln", "lo", "lt", "lv", "mg",
    "mk", "ml", "mn", "mr", "ms", "my", "ne", "nl", "no", "ns", "oc", "or", "pa", "pl", "ps", "pt", "ro", "ru", "sd",
    "si", "sk", "sl", "so", "sq", "sr", "ss", "su", "sv", "sw", "ta", "th", "tl", "tn", "tr", "uk", "ur", "uz", "vi",
    "wo", "xh", "yi", "yo", "zh", "zu",
))  # fmt: skip
_MBART50 = TokenizerPreset(
    {**_STRIPPING_MASK, **special_tokens(language="en_XX")},
    (LANGUAGE,),
    ("eos",),
    sentencepiece_style="pegasus",
    piece_order=PieceOrder(_FAIRSEQ, 3, (*_MBART50_LANGUAGES, "<mask>")),
    pair="joined",
    languages=_MBART50_LANGUAGES,
)
_BERT = TokenizerPreset(
    special_tokens(unk="[UNK]", sep="[SEP]", pad="[PAD]", cls="[CLS]", mask="[MASK]"), ("cls",), ("sep",)
)
# The models were trained with a bos token, and Llama's with a leading space; transformers 5 only adds them if
# tokenizer_config.json says so.
_LLAMA = TokenizerPreset(
    special_tokens(bos="<s>", eos="</s>", unk="<unk>"),
    adds_bos=True,
    adds_eos=False,
    pair="repeated",
    sentencepiece_style="llama",
)
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
        special_tokens(bos="</s>", eos="</s>", unk="</s>", pad="<pad>"),
        adds_bos=True,
        adds_eos=False,
        pair="repeated",
    ),
    "GPTNeoXTokenizer": replace(
        _GPT2, special_tokens={**_GPT2.special_tokens, **special_tokens(pad="<|padding|>")}, nfc=True
    ),
    "BloomTokenizer": replace(_GPT2, special_tokens=special_tokens(bos="<s>", eos="</s>", unk="<unk>", pad="<pad>")),
    "Qwen2Tokenizer": TokenizerPreset(
        special_tokens(eos="<|endoftext|>", unk="<|endoftext|>", pad="<|endoftext|>"),
        adds_bos=False,
        adds_eos=False,
        split_pattern=QWEN2_PATTERN,
        nfc=True,
        pair="repeated",
    ),
    "RobertaTokenizer": _ROBERTA,
    "BartTokenizer": _ROBERTA,
    "PhobertTokenizer": _ROBERTA,
    "BertweetTokenizer": _ROBERTA,
    "XLMRobertaTokenizer": _XLM_ROBERTA,
    "CamembertTokenizer": replace(
        _XLM_ROBERTA,
        piece_order=PieceOrder(("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"), 1, ("<mask>",)),
    ),
    "MBart50Tokenizer": _MBART50,
    "MBartTokenizer": replace(
        _MBART50,
        prefix_roles=(),
        suffix_roles=("eos", LANGUAGE),
        sentencepiece_style="words",
        piece_order=PieceOrder(_FAIRSEQ, 3, (*_MBART50_LANGUAGES[:25], "<mask>")),
        languages=_MBART50_LANGUAGES[:25],
    ),
    "M2M100Tokenizer": replace(
        _MBART50,
        special_tokens=special_tokens(bos="<s>", eos="</s>", unk="<unk>", pad="<pad>", language="__en__"),
        sentencepiece_style="plain",
        piece_order=PieceOrder(),
        languages=_M2M_LANGUAGES,
    ),
    "MPNetTokenizer": replace(_ROBERTA, special_tokens={**_STRIPPING_MASK, **special_tokens(unk="[UNK]")}),
    "EsmTokenizer": TokenizerPreset(
        special_tokens(cls="<cls>", eos="<eos>", unk="<unk>", pad="<pad>", mask="<mask>"),
        ("cls",),
        ("eos",),
        whole_tokens=True,
        pair="one separator",
    ),
    "Wav2Vec2CTCTokenizer": TokenizerPreset(special_tokens(bos="<s>", eos="</s>", unk="<unk>", pad="<pad>")),
    "BertTokenizer": _BERT,
    "DistilBertTokenizer": _BERT,
    "ElectraTokenizer": _BERT,
    "T5Tokenizer": TokenizerPreset(
        special_tokens(eos="</s>", unk="<unk>", pad="<pad>"),
        (),
        ("eos",),
        adds_sentinels=True,
        pair="one separator",
        sentencepiece_style="words",
    ),
    "PegasusTokenizer": TokenizerPreset(
        special_tokens(eos="</s>", unk="<unk>", pad="<pad>"),
        (),
        ("eos",),
        sentencepiece_style="pegasus",
        pair="joined",
        piece_order=PieceOrder(
            ("<pad>", "</s>", "<mask_1>", "<mask_2>", *(f"<unk_{number}>" for number in range(2, 103))), 2
        ),
    ),
    "LlamaTokenizer": _LLAMA,
    "GemmaTokenizer": replace(
        _LLAMA,
        special_tokens=special_tokens(bos="<bos>", eos="<eos>", unk="<unk>", pad="<pad>", mask="<mask>"),
        sentencepiece_style="plain",
    ),
    "AlbertTokenizer": TokenizerPreset(_ALBERT_TOKENS, ("cls",), ("sep",), sentencepiece_style="albert"),
    "DebertaV2Tokenizer": TokenizerPreset(_DEBERTA_TOKENS, ("cls",), ("sep",), sentencepiece_style="deberta"),
    "MarianTokenizer": TokenizerPreset(special_tokens(eos="</s>", unk="<unk>", pad="<pad>"), (), ("eos",)),
    "ByT5Tokenizer": TokenizerPreset(special_tokens(eos="</s>", unk="<unk>", pad="<pad>")),
    "nanogpt": replace(_GPT2, adds_bos=None, adds_eos=None),
}
# The families with each class as their default; tokenizer_config.json may name another.
_FAMILIES_OF_CLASS: Mapping[str, tuple[str, ...]] = {
    "nanogpt": ("nanogpt",),
    "GPT2Tokenizer": ("gpt2", "gpt_neo", "gptj", "phi", "falcon", "codegen", "gpt_bigcode", "starcoder2"),
    "GPTNeoXTokenizer": ("gpt_neox", "olmo", "mpt"),
    "BloomTokenizer": ("bloom",),
    "OPTTokenizer": ("opt",),
    "Qwen2Tokenizer": ("qwen2", "qwen3", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"),
    "RobertaTokenizer": ("roberta", "bart", "trocr"),
    "XLMRobertaTokenizer": ("xlm-roberta",),
    "CamembertTokenizer": ("camembert",),
    "MBart50Tokenizer": ("mbart",),
    "M2M100Tokenizer": ("m2m_100",),
    "MPNetTokenizer": ("mpnet",),
    "EsmTokenizer": ("esm",),
    "Wav2Vec2CTCTokenizer": ("wav2vec2", "hubert"),
    "BertTokenizer": ("bert", "distilbert", "electra", "nomic_bert", "chinese_clip"),
    "AlbertTokenizer": ("albert",),
    "DebertaV2Tokenizer": ("deberta-v2",),
    "T5Tokenizer": ("t5", "mt5"),
    "PegasusTokenizer": ("pegasus",),
    "LlamaTokenizer": ("llama2.c", "llama", "mistral", "phi3"),
    "GemmaTokenizer": ("gemma", "gemma2", "gemma3_text", "gemma3n_text", "gemma4_text"),
    "MarianTokenizer": ("marian",),
}
DEFAULT_CLASSES = {family: name for name, families in _FAMILIES_OF_CLASS.items() for family in families}


# Classes without a behaviour of their own: all of it is in the tokenizer.json.
GENERAL_CLASSES = ("PreTrainedTokenizer", "TokenizersBackend")


def class_name(model_type: str, named: str) -> str:
    """The class of a folder's tokenizer, without the ending "Fast": the one that it names, or else its family's."""
    named = named.removesuffix("Fast")
    # OPT's and GPT-NeoX's files name GPT-2's class, which lacks OPT's special tokens and GPT-NeoX's NFC.
    if named == "GPT2Tokenizer" and DEFAULT_CLASSES.get(model_type) in ("OPTTokenizer", "GPTNeoXTokenizer"):
        return DEFAULT_CLASSES[model_type]
    return named or DEFAULT_CLASSES.get(model_type, "")


def preset_for(model_type: str, named: str) -> TokenizerPreset | None:
    """The preset of the class that a folder names, or else of its family; None if it is not known.

    A class that is not known is not its family's: Japanese BERT splits words as no other BERT does.
    """
    name = class_name(model_type, named)
    return PRESETS.get(DEFAULT_CLASSES.get(model_type, "") if name in GENERAL_CLASSES else name)


# Their models have no segments, or have always been given none.
_WITHOUT_SEGMENTS = ("DistilBertTokenizer", "BigBirdTokenizer", "TokenizersBackend")
# Files saved by transformers 5 have this field; until then, ALBERT's tokenizer gave segments.
_SAVED_BY_5 = "backend"


def gives_segments(model_type: str, fields: ConfigReader) -> bool:
    """Whether a folder's tokenizer gives a model the token types of a pair: `model_input_names`, or else its class.

    Each class does what it did in the version of transformers that saved the files, and the model was trained with.
    """
    if fields.has("model_input_names"):
        return "token_type_ids" in fields.list_of("model_input_names", str)
    name = class_name(model_type, fields.string("tokenizer_class", ""))
    if name in _WITHOUT_SEGMENTS or (name == "AlbertTokenizer" and fields.has(_SAVED_BY_5)):
        return False
    return name not in PRESETS or PRESETS[name].pair == "segments"
