"""Settings in the files beside a tokenizer.json that decide over the file: case, accents, spaces, added tokens.

transformers builds its own classes of tokenizers anew from tokenizer_config.json, whatever tokenizer.json says; a
program that only reads tokenizer.json gives other ids without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import tokenizers

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.tokenizers.sentencepiece import SPACE
from headlight.checkpoints.tokenizers.special_tokens import (
    GENERAL_CLASSES,
    PAIRS,
    PRESETS,
    SpecialTokens,
    class_name,
    read_special_tokens,
)

Step = dict[str, Any]
_PARTS = {
    "normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders",
    "post_processor": "processors",
}  # fmt: skip
# Classes for which `do_lower_case` adds a step, and the Metaspace scheme of classes whose `add_prefix_space` is false.
_LOWERCASE_FIRST = ("AlbertTokenizer", "DebertaV2Tokenizer")
_PREFIX_SCHEMES = {
    **dict.fromkeys(("AlbertTokenizer", "CamembertTokenizer", "XLMRobertaTokenizer"), "never"),
    "DebertaV2Tokenizer": "first",
}
# Fields of tokenizer_config.json -> fields of a BertNormalizer.
_BERT_FIELDS = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}


def apply_settings(values: Step, fields: ConfigReader, model_type: str) -> None:
    """Change the contents of a tokenizer.json as tokenizer_config.json asks.

    The general class keeps its tokenizer.json as it is. Raises CheckpointError for settings of a wrong type.
    """
    name = class_name(model_type, fields.string("tokenizer_class", ""))
    if name in GENERAL_CLASSES:
        return
    for step in _steps(values, "normalizer"):
        if step.get("type") == "BertNormalizer":
            _change_bert_normalizer(step, fields)
            _change_unknown(values, fields)
    if fields.has("do_lower_case"):
        _change_case(values, name, lower=fields.boolean("do_lower_case"))
    _apply_own_settings(values, fields, name)
    if name in PRESETS and PRESETS[name].pair not in ("joined", "repeated"):
        for step in _steps(values, "post_processor"):
            _complete_pair(step, PAIRS[PRESETS[name].pair])


def _apply_own_settings(values: Step, fields: ConfigReader, name: str) -> None:
    """The settings of single classes, and add_prefix_space, which Llama's class reads in its own way."""
    if name == "AlbertTokenizer" and fields.boolean("keep_accents", False):
        _remove(values, "normalizer", lambda step: step.get("type") in ("NFKD", "StripAccents"))
    if name == "DebertaV2Tokenizer" and fields.boolean("split_by_punct", False):
        _split_at_punctuation(values)
    if name == "LlamaTokenizer":
        _change_llama_prefix(values, fields)
    elif fields.has("add_prefix_space"):
        _change_prefix(values, name, fields.boolean("add_prefix_space"))


def _complete_pair(step: Step, parts: Sequence[str]) -> None:
    """Give a template of special tokens around a text, with none around a pair, the pair of its class."""
    single: Any = step.get("single")
    is_read = isinstance(single, list) and all(isinstance(token, dict) for item in single for token in _values(item))
    if step.get("type") != "TemplateProcessing" or not is_read or "SpecialToken" in str(step.get("pair")):
        return
    place = next((place for place, item in enumerate(single) if "Sequence" in item), len(single))
    around = {"prefix": single[:place], "suffix": single[place + 1 :]}
    split = [part.partition(":") for part in parts]
    step["pair"] = [
        {kind: {**token, "type_id": int(segment or 0)}}
        for name, _, segment in split
        for item in around.get(name, [{"Sequence": {"id": name}}])
        for kind, token in item.items()
    ]


def _values(item: Any) -> Iterable[Any]:
    """The values of an object; for anything else, one that is no object."""
    return item.values() if isinstance(item, dict) else (None,)


def _change_case(values: Step, name: str, lower: bool) -> None:
    """Remove the step that makes letters small, or add it for a class that has none in its file."""
    is_lowercase = [step.get("type") == "Lowercase" for step in _steps(values, "normalizer")]
    if not lower:
        _remove(values, "normalizer", lambda step: step.get("type") == "Lowercase")
    elif name in _LOWERCASE_FIRST and not any(is_lowercase):
        steps = _sequence(values.get("normalizer"), _PARTS["normalizer"])
        values["normalizer"] = {"type": "Sequence", _PARTS["normalizer"]: [{"type": "Lowercase"}, *steps]}


def _sequence(step: Step | None, nested: str) -> list[Step]:
    """The steps of a sequence, or the one step, or none."""
    if step is None:
        return []
    return list(step[nested]) if step.get("type") == "Sequence" and isinstance(step.get(nested), list) else [step]


def _change_prefix(values: Step, name: str, prefix: bool) -> None:
    """Whether a space is put before a text."""
    for part in ("pre_tokenizer", "decoder"):
        for step in _steps(values, part):
            if step.get("type") == "ByteLevel" and part == "pre_tokenizer":
                step["add_prefix_space"] = prefix
            elif step.get("type") == "Metaspace" and name in _PREFIX_SCHEMES:
                step["prepend_scheme"] = "always" if prefix else _PREFIX_SCHEMES[name]


def _split_at_punctuation(values: Step) -> None:
    """Make each punctuation mark a word of its own."""
    part = "pre_tokenizer"
    if not any(step.get("type") == "Punctuation" for step in _steps(values, part)):
        punctuation = {"type": "Punctuation", "behavior": "Isolated"}
        values[part] = {"type": "Sequence", _PARTS[part]: [punctuation, *_sequence(values.get(part), _PARTS[part])]}


def _change_llama_prefix(values: Step, fields: ConfigReader) -> None:
    """The space before a text: none, before the text, or (`legacy`) also after each special token.

    A file whose normalizer adds it is changed only if `add_prefix_space` or `legacy` is given as false.
    """
    prefix, is_legacy = fields.boolean("add_prefix_space", True), fields.boolean("legacy", False)
    scheme = ("always" if is_legacy else "first") if prefix else "never"
    metaspaces = [step for step in _steps(values, "pre_tokenizer") if step.get("type") == "Metaspace"]
    for step in metaspaces:
        step["prepend_scheme"] = scheme
    is_prepended = any(step.get("type") == "Prepend" for step in _steps(values, "normalizer"))
    if is_prepended and (not prefix or (fields.has("legacy") and not is_legacy)):
        values["normalizer"] = None
        values["pre_tokenizer"] = {
            "type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": False,
        }  # fmt: skip
    if not prefix:
        _remove(values, "decoder", lambda step: step.get("type") == "Strip")


def _change_bert_normalizer(step: Step, fields: ConfigReader) -> None:
    given: dict[str, bool | None] = {
        ours: fields.boolean(theirs) for theirs, ours in _BERT_FIELDS.items() if fields.has(theirs)
    }
    if "lowercase" in given and "strip_accents" not in given:
        given["strip_accents"] = None  # None: accents are stripped if letters are made small
    step.update(given)


def _change_unknown(values: Step, fields: ConfigReader) -> None:
    """The token of unknown words, if the vocabulary has the one that the fields name."""
    given, model = fields.values.get("unk_token"), values.get("model")
    content = given.get("content") if isinstance(given, dict) else given
    if isinstance(model, dict) and isinstance(content, str) and content in (model.get("vocab") or ()):
        model["unk_token"] = content


def _steps(values: Step, part: str) -> Iterator[Step]:
    """All steps of a part of a tokenizer, those of sequences included."""
    pending = [values.get(part)]
    while pending:
        step = pending.pop()
        if isinstance(step, dict):
            yield step
            nested = step.get(_PARTS[part])
            pending += nested if isinstance(nested, list) else []


def _remove(values: Step, part: str, is_unwanted: Callable[[Step], bool]) -> None:
    """Remove steps of a part of a tokenizer, also from sequences."""
    for step in _steps(values, part):
        if isinstance(nested := step.get(_PARTS[part]), list):
            step[_PARTS[part]] = [each for each in nested if not (isinstance(each, dict) and is_unwanted(each))]
    if isinstance(values.get(part), dict) and is_unwanted(values[part]):
        values[part] = None


def add_tokens_beside(backend: tokenizers.Tokenizer, folder: Path, fields: ConfigReader) -> None:
    """Add the tokens that the files beside a tokenizer.json list, with their flags, unless the file has them alike.

    Tokens that the vocabulary lacks follow it, in the order of the ids that the files give them.
    """
    beside = read_special_tokens(folder, fields, {})
    alike = {repr(token) for token in backend.get_added_tokens_decoder().values()}
    new = (token for token in _listed(beside) if repr(token) not in alike)
    for is_special, tokens in groupby(new, lambda token: token.special):  # together: each call reads all tokens anew
        (backend.add_special_tokens if is_special else backend.add_tokens)(list(tokens))


def _listed(beside: SpecialTokens) -> Iterator[tokenizers.AddedToken]:
    """The tokens of the files beside a tokenizer.json: those with ids, then those that only have a role or a name."""
    yield from beside.added
    known = {token.content for token in beside.added}
    for token in (*beside.roles.values(), *beside.unnamed):
        if token.content not in known:
            yield token
