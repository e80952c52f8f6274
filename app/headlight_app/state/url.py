"""Encodes a state as URL parameters and back. Invalid values count as absent."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

from msgspec import UNSET, ValidationError, convert
from msgspec.structs import asdict

from headlight.analysis.attention_maps import HEAD_REDUCTIONS
from headlight.rendering.plots import COLOUR_RANGES, PLOTS
from headlight_app.contract.difference import Difference, VariantDifference
from headlight_app.contract.question import OWN_IMAGE_PREFIX, Question, Variant
from headlight_app.contract.sampling import GeneratedTokens, Sampling
from headlight_app.contract.state import DEFAULT_STATE, MAX_ADDRESS_LENGTH, STATE_TEXTS, State, fitting_fields

_SAMPLING_LETTERS = {"t": "temperature", "k": "top_k", "p": "top_p", "s": "seed"}
_SAMPLING_FIELD = re.compile(r"(?:^|,)([tkps])([0-9.]{1,20})(?=,|$)")
_GENERATED = re.compile(r"\d{1,9}-\d{1,9}(\.\d{1,9}-\d{1,9})*")
_NO_DIFFERENCE = "."  # two equal sides


_VARIANT_FIELDS = Variant.__struct_fields__  # each is one parameter
_PAGES_OWN = ("generated", "side_b", "course_inputs", "lesson_work")  # omitted if too long
_POSITION_FIELDS = ("masked_positions", "pinned", "channels")
KNOWN_NAMES: Mapping[str, Collection[str]] = {
    "head_reduction": HEAD_REDUCTIONS, "plot": ("", *PLOTS), "colour_range": COLOUR_RANGES
}  # fmt: skip


def encode_state(state: State, *, omit: bool = True) -> dict[str, str]:
    """The fields that differ from the defaults, as parameters; `omit` leaves out what a URL cannot contain."""
    omitted = _omitted(state) if omit else set()
    fields, defaults = (asdict(each) | asdict(each.variant) for each in (state, DEFAULT_STATE))
    return {
        name: _encode(value)
        for name, value in fields.items()
        if name not in omitted and name != "variant" and value != defaults[name]
    }


def _omitted(state: State) -> set[str]:
    """The fields that a URL cannot contain: long texts, and pictures that only their visitor sees."""
    omitted = set(STATE_TEXTS) if state.too_long else set()
    omitted |= {"image"} if state.image.startswith(OWN_IMAGE_PREFIX) else set()
    return omitted | {name for name in _PAGES_OWN if len(getattr(state, name)) > MAX_ADDRESS_LENGTH}


def decode_state(query: Mapping[str, str]) -> State:
    """The state of parameters; unknown names and invalid values count as absent."""
    given = {name: query[name] for name in State.__struct_fields__ if name in query and name != "variant"}
    known = {name: text for name, text in given.items() if text in KNOWN_NAMES.get(name, (text,))}
    variant = {name: query[name] for name in _VARIANT_FIELDS if name in query}
    choices = {name: _decode(name, text) for name, text in known.items()}
    return DEFAULT_STATE.change(**choices, variant=decode_variant(variant))


def decode_variant(parts: Mapping[str, str]) -> Variant:
    """The parts that replace a model's own; an invalid one stays as trained."""
    return Variant(**fitting_fields(Variant, parts))


def _encode(value: Any) -> str:
    return ";".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _decode(name: str, text: str) -> Any:
    """The value of a parameter, or None if invalid."""
    default = getattr(DEFAULT_STATE, name, "")
    parts = [part for part in text.split(";") if part]
    try:
        if name in _POSITION_FIELDS:
            return tuple(sorted({int(part) for part in parts}))
        return tuple(parts) if isinstance(default, tuple) else int(text) if isinstance(default, int) else text
    except ValueError:
        return None


def encode_sampling(sampling: Sampling) -> str:
    """Sampling parameters, as in `t0.5,k40,p0.9,s7`; only those that differ from the defaults."""
    fields, usual = asdict(sampling), asdict(Sampling())
    words = {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in fields.items()}
    return ",".join(
        f"{letter}{words[name]}" for letter, name in _SAMPLING_LETTERS.items() if fields[name] != usual[name]
    )


def decode_sampling(encoded: str) -> Sampling:
    """The inverse of `encode_sampling`; the defaults if invalid."""
    found = {_SAMPLING_LETTERS[letter]: number for letter, number in _SAMPLING_FIELD.findall(encoded)}
    try:
        return convert(found, Sampling, strict=False)  # numbers as text
    except ValidationError:
        return Sampling()


def encode_generated(question: Question, generated: GeneratedTokens) -> str:
    """The generated tokens, after a fingerprint of their question, as in `3f2a:12-318.13-99`."""
    steps = ".".join(f"{position}-{token}" for position, token in generated)
    return f"{_fingerprint(question)}:{steps}" if generated else ""


def decode_generated(question: Question, encoded: str) -> GeneratedTokens:
    """The inverse of `encode_generated`; empty if the tokens belong to another text or model."""
    fingerprint, _, steps = encoded.partition(":")
    if fingerprint != _fingerprint(question) or not _GENERATED.fullmatch(steps):
        return ()
    pairs = (step.split("-") for step in steps.split("."))
    return tuple((int(position), int(token)) for position, token in pairs)


def _fingerprint(question: Question) -> str:
    """Four hex digits that depend on the text, the picture and the model."""
    read = (
        question.text,
        question.source,
        str(question.masked_positions),
        *filter(None, [question.image, question.text_pair, question.chat]),
    )
    identity = "\0".join((question.model, *read))
    return f"{crc32(identity.encode('utf-8', 'surrogatepass')) & 0xFFFF:04x}"


def encode_side_b(difference: Difference) -> str:
    """The difference of side B, as in `positional_encoding=none&text=The+cat`; only set fields."""
    fields = asdict(difference) | asdict(difference.variant)
    encoded = {name: _encode(value) for name, value in fields.items() if name != "variant" and value is not UNSET}
    return urlencode(encoded) or _NO_DIFFERENCE


def decode_side_b(encoded: str) -> Difference | None:
    """The inverse of `encode_side_b`; None for an empty text."""
    if not encoded:
        return None
    given = dict(parse_qsl(encoded, keep_blank_values=True))
    own = {name: _decode(name, given[name]) for name in Difference.__struct_fields__ if name in given}
    variant = {name: given[name] for name in _VARIANT_FIELDS if name in given}
    fitting = fitting_fields(Difference, own) | {
        "variant": VariantDifference(**fitting_fields(VariantDifference, variant))
    }
    return Difference(**fitting)
