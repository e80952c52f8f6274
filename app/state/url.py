"""What Generate and Compare add to the address: words that read back as what they stood for, or count as absent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

from app.state.state import Question
from model.errors import TextError
from model.generation.sampling import SamplingConfig

GeneratedTokens = tuple[tuple[int, int], ...]  # position and token of each step, in the order they were taken
DEFAULT_SAMPLING = SamplingConfig(temperature=0.8)
_SAMPLING_FIELD = re.compile(r"(?:^|,)([tkps])([0-9.]{1,20})(?=,|$)")
_INTEGER = re.compile(r"[0-9]{1,9}")
_GENERATED = re.compile(r"\d{1,9}-\d{1,9}(\.\d{1,9}-\d{1,9})*")


def encode_sampling(sampling: SamplingConfig) -> str:
    """How to draw, as in `t0.5,k40,p0.9,s7`; only what differs from the usual."""

    def fields(of: SamplingConfig) -> dict[str, str]:
        return {"t": f"{of.temperature:g}", "k": str(of.top_k or 0), "p": f"{of.top_p or 1:g}", "s": str(of.seed)}

    defaults = fields(DEFAULT_SAMPLING)
    return ",".join(f"{key}{value}" for key, value in fields(sampling).items() if value != defaults[key])


def decode_sampling(encoded: str) -> SamplingConfig:
    """The rule that a word stands for; the usual one where it makes no sense."""
    found = dict(_SAMPLING_FIELD.findall(encoded))
    try:
        temperature, top_p = float(found.get("t", DEFAULT_SAMPLING.temperature)), float(found.get("p", 1))
        return SamplingConfig(
            temperature, int(found.get("k", 0)) or None, top_p, int(found.get("s", DEFAULT_SAMPLING.seed))
        )
    except (ValueError, TextError):
        return DEFAULT_SAMPLING


def encode_generated(question: Question, generated: GeneratedTokens) -> str:
    """The steps taken, behind a mark of the text that they belong to, as in `3f2a:12-318.13-99`."""
    steps = ".".join(f"{position}-{token}" for position, token in generated)
    return f"{_fingerprint(question)}:{steps}" if generated else ""


def decode_generated(question: Question, encoded: str) -> GeneratedTokens:
    """The steps that a word stands for; none where they belong to another text or model."""
    fingerprint, _, steps = encoded.partition(":")
    if fingerprint != _fingerprint(question) or not _GENERATED.fullmatch(steps):
        return ()
    pairs = (step.split("-") for step in steps.split("."))
    return tuple((int(position), int(token)) for position, token in pairs)


_SIDE_B_FIELDS = (
    "model", "text", "source", "masks", "positional_encoding", "attention_function", "scale", "pooling", "edits",
    "masked_positions", "alignment", "layer", "head", "head_chosen",
)  # fmt: skip
_NO_DIFFERENCE = "."  # two sides that differ in nothing


def encode_side_b(side_b: Mapping[str, Any]) -> str:
    """What sets the other side apart, as in `positional_encoding=none&text=The+cat`; only what was chosen for it."""

    def encode_value(value: Any) -> str:
        return ";".join(map(str, value)) if isinstance(value, tuple) else str(value)

    encoded = {name: encode_value(side_b[name]) for name in _SIDE_B_FIELDS if name in side_b}
    return urlencode(encoded, errors="surrogatepass") or _NO_DIFFERENCE


def decode_side_b(encoded: str) -> dict[str, Any] | None:
    """What a word says of the other side; None where nobody chose anything."""
    if not encoded:
        return None
    given = {name: text for name, text in parse_qsl(encoded, keep_blank_values=True) if name in _SIDE_B_FIELDS}
    values = {name: _DECODERS.get(name, str)(text) for name, text in given.items()}
    return {name: value for name, value in values.items() if value is not None}


def _decode_strings(encoded: str) -> tuple[str, ...]:
    return tuple(part for part in encoded.split(";") if part)


def _decode_integer(encoded: str) -> int | None:
    return int(encoded) if _INTEGER.fullmatch(encoded) else None


def _decode_positions(encoded: str) -> tuple[int, ...] | None:
    parts = _decode_strings(encoded)
    return tuple(sorted({int(part) for part in parts})) if all(map(_INTEGER.fullmatch, parts)) else None


_DECODERS: Mapping[str, Callable[[str], Any]] = {
    "edits": _decode_strings,
    "masked_positions": _decode_positions,
    "layer": _decode_integer,
    "head": _decode_integer,
}


def _fingerprint(question: Question) -> str:
    """Four letters that change with the text or the model."""
    identity = "\0".join((question.model, question.text, question.source, str(question.masked_positions)))
    return f"{crc32(identity.encode('utf-8', 'surrogatepass')) & 0xFFFF:04x}"
