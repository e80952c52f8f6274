"""Regular expressions of Oniguruma, which the tokenizers library uses, as expressions of JavaScript for the flag `u`.

Each class of characters is measured by the library itself and written out, so nothing is known here about names of
classes. What stands between classes (groups, alternatives, repetitions, looks around) means the same in both languages
but for a few signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from headlight.errors import CheckpointError, shortened
from headlight.live.tokenizer.characters import class_of

_ATOM = re.compile(
    r"\\(?:[pP]\{\^?[\w ]+\}|x\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[sSdDwWhHnrtfv]|[^\w])"
    r"|[^\\()\[\]{}|*+?^$]",
    re.DOTALL,
)
_GROUP = re.compile(r"\((?P<kind>\?(?::|i:|-i:|>|<?[=!]))?")
_REPETITION = re.compile(r"(?P<times>[*+?]|\{\d*,?\d*\})(?P<mode>[+?]?)")
_TIMES = re.compile(r"\{(\d*)(,?)(\d*)\}")
_START, _END = "(?<![^])", "(?![^])"  # of the text: no character stands before, or behind
_LINE_START, _LINE_END = f"(?:{_START}|(?<=\\n)(?=[^]))", f"(?:(?=\\n)|{_END})"
_ANCHORS = {"^": _LINE_START, "$": _LINE_END, "\\A": _START, "\\z": _END, "\\Z": f"(?=\\n?{_END})"}
# Letters of which Oniguruma takes two for one other, whatever their case: "ss" for "ß".
_FOLDED_PAIRS = re.compile("ss|st|ff|fi|fl", re.IGNORECASE)


def javascript_pattern(pattern: str) -> str:
    """The expression in JavaScript. Raises CheckpointError for one that is not understood."""
    translator = _Translator(pattern)
    found = translator.alternatives(ignores_case=False)
    if translator.at < len(pattern):
        raise translator.refusal()
    return found


def javascript_literal_pattern(text: str) -> str:
    """An expression that matches this text alone."""
    return "".join(_literal(character) for character in text)


def _literal(character: str) -> str:
    return character if character.isascii() and character.isalnum() else f"\\u{{{ord(character):x}}}"


class _Translator:
    """Reads an expression from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at, self.group_count = pattern, 0, 0

    def refusal(self) -> CheckpointError:
        """The error for what stands at this place."""
        here = shortened(self.pattern[self.at : self.at + 20])
        return CheckpointError(f"Its tokenizer has the expression {shortened(self.pattern)!r}; a page without a server "
                               f"does not know {here!r} in it.")  # fmt: skip

    def alternatives(self, ignores_case: bool) -> str:
        """The alternatives up to the end or a closing bracket."""
        found = ["".join(self._items(ignores_case))]
        while self._take("|"):
            found.append("".join(self._items(ignores_case)))
        return "|".join(found)

    def _items(self, ignores_case: bool) -> Iterator[str]:
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            yield self._repeated(self._item(ignores_case))

    def _item(self, ignores_case: bool) -> str:
        if ignores_case and _FOLDED_PAIRS.match(self.pattern, self.at):
            raise self.refusal()
        for sign, meaning in _ANCHORS.items():
            if self._take(sign):
                return meaning
        for sign, is_edge in (("\\b", True), ("\\B", False)):
            if self._take(sign):
                return _word_edge(is_edge)
        start = self.at
        if self.pattern[start] == "[":
            self._skip_class()
        elif self.pattern[start] == "(":
            return self._group(ignores_case)
        elif match := _ATOM.match(self.pattern, self.at):
            self.at = match.end()
        else:
            raise self.refusal()
        source = self.pattern[start : self.at]
        if not ignores_case and len(source) == 1 and source != ".":
            return _literal(source)
        return class_of(f"(?i:{source})" if ignores_case else source)

    def _group(self, ignores_case: bool) -> str:
        match = _GROUP.match(self.pattern, self.at)
        if match is None or (self.pattern.startswith("(?", self.at) and not match["kind"]):
            raise self.refusal()
        self.at = match.end()
        kind = match["kind"] or "?:"
        inner = self.alternatives({"?i:": True, "?-i:": False}.get(kind, ignores_case))
        if not self._take(")"):
            raise self.refusal()
        if kind == "?>":
            return self._without_return(inner)
        return f"({'?:' if kind in ('?i:', '?-i:') else kind}{inner})"

    def _repeated(self, item: str) -> str:
        match = _REPETITION.match(self.pattern, self.at)
        if match is None:
            return item
        self.at, times, mode = match.end(), match["times"], match["mode"]
        bounds = _TIMES.fullmatch(times)
        is_odd = bounds and (mode == "?" or not (bounds[1] or bounds[3]))
        if is_odd or _REPETITION.match(self.pattern, self.at):
            raise self.refusal()
        if bounds:  # a sign behind it repeats the repetition
            return f"(?:{item}{{{bounds[1] or 0}{bounds[2]}{bounds[3]}}}){mode}"
        return self._without_return(item + times) if mode == "+" else item + times + mode

    def _without_return(self, inner: str) -> str:
        """A group whose first match stands: JavaScript never goes back into a look ahead."""
        self.group_count += 1
        name = f"kept{self.group_count}"
        return f"(?:(?=(?<{name}>{inner}))\\k<{name}>)"

    def _skip_class(self) -> None:
        """Skip a class, with the classes inside it."""
        self.at += 1
        self._take("^")
        self._take("]")  # an ordinary character if it comes first
        while self.at < len(self.pattern) and self.pattern[self.at] != "]":
            if self.pattern[self.at] == "[":
                self._skip_class()
            else:
                self.at += 2 if self.pattern[self.at] == "\\" else 1
        if not self._take("]"):
            raise self.refusal()

    def _take(self, sign: str) -> bool:
        found = self.pattern.startswith(sign, self.at)
        self.at += len(sign) * found
        return found


def _word_edge(is_edge: bool) -> str:
    """Between a character of a word and another one, or between two of a kind."""
    word = class_of(r"\w")
    same, other = ("!", "=") if is_edge else ("=", "!")
    return f"(?:(?<={word})(?{same}{word})|(?<!{word})(?{other}{word}))"
