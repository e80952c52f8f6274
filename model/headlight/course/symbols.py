"""The meanings of the formulas' symbols: one table in assets/course, from which each screen takes its own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from headlight.paths import assets_dir

_WORD = r"\\(?:mathrm|text|operatorname)\s*\{[^}]*\}"
_SCRIPT = r"\{(?:[^{}]|\{[^{}]*\})*\}|\\mathrm\s*\{[^}]*\}|\\[A-Za-z]+|\w"
_SYMBOL = re.compile(
    rf"{_WORD}|\\begin\{{\w+\}}|\\end\{{\w+\}}|(\\mathbf\{{\w\}}|\\[A-Za-z]+|[A-Za-z])('?)([_^](?:{_SCRIPT}))?"
)
_LETTER = re.compile(
    r"\\mathbf\{\w\}|\\(var)?(alpha|beta|gamma|delta|epsilon|eta|theta|lambda|mu|pi|rho|sigma|tau|phi|omega)"
)


@dataclass(frozen=True)
class Symbol:
    """A symbol as LaTeX, its name in the table, and what it means."""

    latex: str
    name: str
    words: str


@lru_cache(maxsize=1)
def meanings() -> dict[str, dict[str, str]]:
    """The meanings of symbols, `everywhere` and those that differ in a chapter or a screen."""
    return tomllib.loads((assets_dir() / "course" / "symbols.toml").read_text(encoding="utf-8"))


def name_of(latex: str) -> str:
    """A symbol's name in the table: `d_\\mathrm{model}` is d_model, and W^Q is W_Q."""
    return re.sub(r"\\(?:mathrm|mathbf|text)|[{}\s]", "", latex).replace("^", "_")


def symbols_of(path: str, formulas: Iterable[str]) -> tuple[Symbol, ...]:
    """The symbols of a screen's formulas (`chapter/screen`), each once, in order of appearance."""
    table = meanings()
    known = table["everywhere"] | table.get(path.partition("/")[0], {}) | table.get(path, {})
    found = dict[str, Symbol]()
    for latex in (each for formula in formulas for each in _find(formula, known)):
        found.setdefault(name_of(latex), Symbol(latex, name_of(latex), known[name_of(latex)]))
    return tuple(found.values())


def _find(latex: str, known: dict[str, str]) -> Iterator[str]:
    """Symbols with the subscripts that belong to their names; other subscripts are separate symbols."""
    for match in _SYMBOL.finditer(latex):
        base, prime, script = match.groups()
        if not (base and (base[0] != "\\" or _LETTER.fullmatch(base))):  # a word, or the name of a function
            if name_of(base or match[0]) in known:
                yield base or match[0]
            if script:
                yield from _find(script[1:], known)
        elif script and name_of(base + script) in known:
            yield base + script
        else:
            yield base + prime if base + prime in known else base
            if script:
                yield from _find(script[1:], known)
