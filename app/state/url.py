"""What Generate and Compare add to the address: words that read back as what they stood for, or count as absent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

from app.state.state import Question
from model.errors import TextError
from model.generation.sampling import Rule

Written = tuple[tuple[int, int], ...]  # position and token of each step, in the order they were taken
USUAL = Rule(temperature=0.8)
_RULE = re.compile(r"(?:^|,)([tkps])([0-9.]{1,20})(?=,|$)")
_COUNT = re.compile(r"[0-9]{1,9}")
_STEPS = re.compile(r"\d{1,9}-\d{1,9}(\.\d{1,9}-\d{1,9})*")


def rule_told(rule: Rule) -> str:
    """How to draw, as in `t0.5,k40,p0.9,s7`; only what differs from the usual."""

    def parts(of: Rule) -> dict[str, str]:
        return {"t": f"{of.temperature:g}", "k": str(of.top_k or 0), "p": f"{of.top_p or 1:g}", "s": str(of.seed)}

    usual = parts(USUAL)
    return ",".join(f"{key}{value}" for key, value in parts(rule).items() if value != usual[key])


def rule_read(told: str) -> Rule:
    """The rule that a word stands for; the usual one where it makes no sense."""
    found = dict(_RULE.findall(told))
    try:
        temperature, top_p = float(found.get("t", USUAL.temperature)), float(found.get("p", 1))
        return Rule(temperature, int(found.get("k", 0)) or None, top_p, int(found.get("s", USUAL.seed)))
    except (ValueError, TextError):
        return USUAL


def written_told(question: Question, written: Written) -> str:
    """The steps taken, behind a mark of the text that they belong to, as in `3f2a:12-318.13-99`."""
    steps = ".".join(f"{place}-{token}" for place, token in written)
    return f"{_mark(question)}:{steps}" if written else ""


def written_read(question: Question, told: str) -> Written:
    """The steps that a word stands for; none where they belong to another text or model."""
    mark, _, steps = told.partition(":")
    if mark != _mark(question) or not _STEPS.fullmatch(steps):
        return ()
    pairs = (step.split("-") for step in steps.split("."))
    return tuple((int(place), int(token)) for place, token in pairs)


_NAMES = {
    "m": "model", "t": "text", "s": "source", "k": "masks", "p": "position", "n": "kernel", "d": "scale", "e": "edits",
    "h": "masked", "a": "align", "y": "layer", "x": "head", "c": "chosen",
}  # fmt: skip
_SAME = "."  # two sides that differ in nothing


def beside_told(other: Mapping[str, Any]) -> str:
    """What sets the other side apart, as in `p=none&t=The+cat`; only what was chosen for it."""

    def word(value: Any) -> str:
        return ";".join(map(str, value)) if isinstance(value, tuple) else str(value)

    words = {key: word(other[name]) for key, name in _NAMES.items() if name in other}
    return urlencode(words, errors="surrogatepass") or _SAME


def beside_read(told: str) -> dict[str, Any] | None:
    """What a word says of the other side; None where nobody chose anything."""
    if not told:
        return None
    given = {_NAMES[key]: word for key, word in parse_qsl(told, keep_blank_values=True) if key in _NAMES}
    read = {name: _READERS.get(name, str)(word) for name, word in given.items()}
    return {name: value for name, value in read.items() if value is not None}


def _parts(word: str) -> tuple[str, ...]:
    return tuple(part for part in word.split(";") if part)


def _count(word: str) -> int | None:
    return int(word) if _COUNT.fullmatch(word) else None


def _places(word: str) -> tuple[int, ...] | None:
    parts = _parts(word)
    return tuple(sorted({int(part) for part in parts})) if all(map(_COUNT.fullmatch, parts)) else None


_READERS: Mapping[str, Callable[[str], Any]] = {
    "edits": _parts,
    "masked": _places,
    "layer": _count,
    "head": _count,
}


def _mark(question: Question) -> str:
    """Four letters that change with the text or the model."""
    told = "\0".join((question.model, question.text, question.source, str(question.masked)))
    return f"{crc32(told.encode('utf-8', 'surrogatepass')) & 0xFFFF:04x}"
