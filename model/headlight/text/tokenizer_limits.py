"""Limits on the cost of an untrusted tokenizer: every step of a tokenizer.json is known, and its growth is bounded.

Such a file can require any amount of memory or time: forty replacements of one letter by two turn one letter into 2^40,
and the tokenizers library then aborts the process. The rules suffice because each kind of step below is linear in the
text, except for its pattern (pattern_cost.py), the pieces of Unigram and the words of WordPiece, whose lengths are
limited here; no sequence has more than MAX_STEPS steps; and the growth of the text is multiplied over nested sequences
and bounded before anything runs.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any

from tokenizers import normalizers, pre_tokenizers

from headlight.errors import CheckpointError, TextError
from headlight.text.pattern_cost import PatternCost, PatternError, pattern_cost

MAX_CHARACTERS = 4_000_000  # of a text after any step: 20 times the longest accepted text
MAX_STEPS = 16  # of a normalizer, pre-tokenizer, post-processor or decoder
MIN_TEXT_LENGTH = 2_000  # characters; every accepted tokenizer can split texts of this length
MAX_GROWTH = 16  # largest factor by which pre-tokenizing or decoding may lengthen a text
MAX_TOKEN_LENGTH = 1_000  # characters of a token that replaces equally many of the text
MAX_ADDED_TOKEN_LENGTH = 256  # of a token that may replace fewer characters, such as the unknown token
MAX_UNIGRAM_PIECE_LENGTH = 128  # bounds the pieces that start at one character; published vocabularies have 16
MAX_WORD_LENGTH = 100  # of WordPiece, which tries all substrings of a word
MAX_AFFIX_LENGTH = 16  # added before or after every character
MAX_TEMPLATE_PIECES = 32

# The kinds of steps, with the field of a Sequence that contains its steps.
_NORMALIZERS = (
    "BertNormalizer", "ByteLevel", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Prepend",
    "Replace", "Sequence", "Strip", "StripAccents",
)  # fmt: skip
_PRE_TOKENIZERS = (
    "BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace", "Punctuation",
    "Sequence", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit",
)  # fmt: skip
_POST_PROCESSORS = ("BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing")
_DECODERS = (
    "BPEDecoder", "ByteFallback", "ByteLevel", "CTC", "Fuse", "Metaspace", "Replace", "Sequence", "Strip", "WordPiece",
)  # fmt: skip
_MODELS = ("BPE", "Unigram", "WordLevel", "WordPiece")
_COMPONENTS = {
    "normalizer": (_NORMALIZERS, "normalizers"),
    "pre_tokenizer": (_PRE_TOKENIZERS, "pretokenizers"),
    "post_processor": (_POST_PROCESSORS, "processors"),
    "decoder": (_DECODERS, "decoders"),
}
# The maximum number of characters from one character, by Unicode's tables or by what the step adds around it.
_MAX_EXPANSION = {
    "NFD": 4, "NFC": 3, "NFKD": 18, "NFKC": 18, "Lowercase": 3, "BertNormalizer": 12, "ByteLevel": 4, "Metaspace": 2,
}  # fmt: skip
_Step = dict[str, Any]


class TextLimit:
    """Upper bounds for the growth of a text in a tokenizer, and for the length of texts that its patterns accept."""

    def __init__(
        self, normalizer: normalizers.Normalizer | None, pre_tokenizer: pre_tokenizers.PreTokenizer | None = None
    ) -> None:
        steps = [(step, step_state(step)) for step in _normalizer_steps(normalizer)]
        self.steps = [(step, *_growth(state), _cost(state).longest_text) for step, state in steps]
        found = component_steps("pre_tokenizer", None if pre_tokenizer is None else step_state(pre_tokenizer))
        self.growth = prod(_growth(step)[0] for step in found)
        self.longest_text = min((MAX_CHARACTERS, *(_cost(step).longest_text for step in found)))

    def check(self, text: str) -> None:
        """Raise TextError if the text would exceed a limit; steps run only as far as the bound allows."""
        length = len(text)
        for _, factor, added, _ in self.steps:
            length = length * factor + added
        if length * self.growth <= min(self.longest_text, *(longest for *_, longest in self.steps), MAX_CHARACTERS):
            return
        for step, factor, added, longest in self.steps:
            _require_length(len(text), longest)
            _require_length(len(text) * factor + added, MAX_CHARACTERS)
            text = step.normalize_str(text)
        _require_length(len(text) * self.growth, self.longest_text)


def check_tokenizer(values: Mapping[str, Any], name: str) -> None:
    """Raise CheckpointError, with the model's `name`, for unknown steps and for steps that multiply texts."""
    try:
        for component in _COMPONENTS:
            for step in component_steps(component, values.get(component)):
                _check_step(component, step)
        _check_normalizer(component_steps("normalizer", values.get("normalizer")))
        for component in ("pre_tokenizer", "decoder"):
            check_growth(component, component_steps(component, values.get(component)))
        _check_model(values.get("model"))
        for token in values.get("added_tokens") or ():
            _check_length("an added token", token["content"], MAX_ADDED_TOKEN_LENGTH)
    except CheckpointError as error:
        raise CheckpointError(f"{name}: {error}") from error


def check_growth(component: str, steps: Iterable[_Step]) -> None:
    """Raise CheckpointError for a pre-tokenizer or decoder that makes texts many times longer."""
    if prod(_growth(step)[0] for step in steps) > MAX_GROWTH:
        kind = component.replace("_", "-")
        raise CheckpointError(f"the {kind} of its tokenizer makes every token many times longer.")


def component_steps(component: str, values: _Step | None) -> list[_Step]:
    """The steps of a component, including nested sequences. Raises CheckpointError for unknown steps."""
    steps = [] if values is None else list(_flat(component, values))
    if len(steps) > MAX_STEPS:
        kind = component.replace("_", "-")
        raise CheckpointError(f"the {kind} of its tokenizer has {len(steps):,} steps; at most {MAX_STEPS} are run.")
    return steps


def _flat(component: str, step: _Step) -> Iterator[_Step]:
    known, inner = _COMPONENTS[component]
    if step.get("type") not in known:
        kind, name = component.replace("_", "-"), str(step.get("type"))[:60]
        raise CheckpointError(f"the {kind} of its tokenizer has a step {name!r}, which is not known.")
    if step["type"] == "Sequence":
        for each in step[inner]:
            yield from _flat(component, each)
    else:
        yield step


def _check_normalizer(steps: Iterable[_Step]) -> None:
    """Raise CheckpointError for a normalizer that would turn an added token into a text that fills the memory."""
    length = MAX_ADDED_TOKEN_LENGTH
    for step in steps:
        factor, added = _growth(step)
        length = length * factor + added
    if length > MAX_CHARACTERS:
        raise CheckpointError("the normalizer of its tokenizer makes every text many times longer.")


def _check_step(component: str, step: _Step) -> None:
    """Raise CheckpointError for a pattern or a template that is too costly."""
    cost = _cost(step)
    if cost.longest_text < MIN_TEXT_LENGTH or (component == "decoder" and cost.loops):
        raise CheckpointError("its tokenizer has a pattern that may take far too long.")
    if step["type"] == "TemplateProcessing":
        texts = sum("Sequence" in piece for piece in step["single"])
        if len(step["single"]) > MAX_TEMPLATE_PIECES or texts > 1:
            raise CheckpointError("the template of its tokenizer has too many pieces, or repeats the text.")
        for token in step["special_tokens"].values():
            if len(token["ids"]) > MAX_TEMPLATE_PIECES:
                raise CheckpointError("a special token in the template of its tokenizer has too many ids.")
            for name in token["tokens"]:
                _check_length("a token of its template", name, MAX_ADDED_TOKEN_LENGTH)


def _check_model(model: Any) -> None:
    """Raise CheckpointError for a vocabulary with tokens, words or affixes beyond the limits.

    Old files do not contain the model's type, so every limit applies to every model.
    """
    if not isinstance(model, dict):
        return  # the library reports what is missing
    if model.get("type", "BPE") not in _MODELS:
        raise CheckpointError("its tokenizer's model is of an unknown kind.")
    vocabulary = model.get("vocab") or {}
    is_unigram = isinstance(vocabulary, list)
    longest = max((len(item[0] if is_unigram else item) for item in vocabulary), default=0)
    allowed = MAX_UNIGRAM_PIECE_LENGTH if is_unigram else MAX_TOKEN_LENGTH
    if longest > allowed:
        raise CheckpointError(f"its vocabulary has a token of {longest:,} characters; at most {allowed:,} are read.")
    _check_length("its unknown token", model.get("unk_token") or "", MAX_ADDED_TOKEN_LENGTH)
    for field in ("continuing_subword_prefix", "end_of_word_suffix"):
        _check_length(f"its {field}", model.get(field) or "", MAX_AFFIX_LENGTH)
    if (words := model.get("max_input_chars_per_word", 0)) > MAX_WORD_LENGTH:
        raise CheckpointError(f"its tokenizer cuts words of {words:,} characters; at most {MAX_WORD_LENGTH} are cut.")


def _check_length(what: str, text: str, allowed: int) -> None:
    if len(text) > allowed:
        raise CheckpointError(f"{what} has {len(text):,} characters; at most {allowed} are read.")


def _require_length(length: int, allowed: int) -> None:
    if length > allowed:
        raise TextError(
            f"This model's tokenizer may make of this text one of more than {allowed:,} characters, which it cannot "
            f"cut in reasonable time. Shorten it."
        )


def _normalizer_steps(normalizer: normalizers.Normalizer | None) -> Iterator[normalizers.Normalizer]:
    if isinstance(normalizer, normalizers.Sequence):
        for index in range(len(normalizer)):
            yield from _normalizer_steps(normalizer[index])
    elif normalizer is not None:
        yield normalizer


def step_state(step: Any) -> dict[str, Any]:
    """A step of the tokenizers library, as written in a tokenizer.json."""
    values: dict[str, Any] = json.loads(step.__getstate__())
    return values


def _growth(step: _Step) -> tuple[int, int]:
    """The factor by which a step lengthens a text, and the number of characters that it adds to that."""
    match step["type"]:
        case "Replace":
            return _replacement_growth(step)
        case "Prepend":
            return 1, len(step["prepend"])
        case "Precompiled":
            return _longest_replacement(base64.b64decode(step["precompiled_charsmap"])), 0
        case "BPEDecoder":  # an empty suffix matches between all characters, and is replaced by a space
            return (1 if step["suffix"] else 2), 1
        case "CTC":
            return (1 if step["word_delimiter_token"] else 2), 1
        case kind:
            return _MAX_EXPANSION.get(kind, 1), 0


def _replacement_growth(step: _Step) -> tuple[int, int]:
    """An expression may match between any two characters and insert its content there; a string is only replaced."""
    content, pattern = len(step["content"]), step["pattern"].get("String", "")
    return (max(1, -(-content // len(pattern))), 0) if pattern else (1 + content, content)


def _longest_replacement(charsmap: bytes) -> int:
    """The length of the longest replacement in the table."""
    strings = charsmap[4 + int.from_bytes(charsmap[:4], "little") :]
    return max((len(string) for string in strings.split(b"\0")), default=1) or 1


def _cost(step: _Step) -> PatternCost:
    """The cost of a step's pattern, if it has one. Raises CheckpointError if it cannot be bounded."""
    pattern = step.get("pattern") or {}
    if "Regex" in pattern:
        try:
            return pattern_cost(pattern["Regex"])
        except PatternError as error:
            raise CheckpointError(f"its tokenizer has a pattern that may take far too long: {error}.") from error
    _check_length("a pattern of its tokenizer", pattern.get("String", ""), MAX_TOKEN_LENGTH)
    return PatternCost(1)
