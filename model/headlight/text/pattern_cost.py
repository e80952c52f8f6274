"""An upper bound on the running time of a regular expression, derived from its structure.

The tokenizers library matches by backtracking (Oniguruma), so a hostile expression can run forever. The cost of an
attempt to match at one place is bounded by induction over the expression. An atom (a character, a class, `.`) takes one
step and matches in one way; alternatives add, a sequence multiplies ways. A repetition of an atom consumes text, and
backtracks only if something after it can fail. If nothing can fail, the consumed text belongs to the match, so that all
attempts together read the text once. `loops` counts the repetitions of an attempt whose work can be wasted; each of
them multiplies the cost by the length of the text.

The usual expressions of tokenizers have repetitions that fail, such as `\\s*[\\r\\n]+` at spaces; the next alternative
then matches everything that the first consumed (`\\s+(?!\\S)`, or all except one character), so no work is wasted.

Unsupported constructs (back references, recursion, conditions, repeated repetitions) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

MAX_PATTERN_LENGTH = 4_000
MAX_REPEAT = 1_000  # of a bounded repetition
MAX_STEPS = 500_000_000  # for matching an expression in a text, a few seconds

_ATOM = re.compile(
    r"\\(?:[pP]\{\^?[\w ]+\}|x\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[sSdDwWhHnrtfv]|[^\w])"
    r"|[^\\()\[\]{}|*+?^$]",
    re.DOTALL,
)
_ANCHOR = re.compile(r"[\^$]|\\[bBAzZ]")
_GROUP = re.compile(r"\((?:\?(?P<kind>:|i:|-i:|>|<?[=!]))?")
_REPETITION = re.compile(
    r"(?P<sign>[*+?])(?P<mode>[+?]?)|\{(?P<low>\d{0,9})(?P<comma>,(?P<high>\d{0,9}))?\}(?P<more>[+]?)"
)
_FREE_REST = ("\\s", "(?!\\S)")  # matches white space before other text except its last character


class PatternError(ValueError):
    """An unsupported expression."""


@dataclass(frozen=True)
class Item:
    """An atom, an anchor or a group (its branches), repeated `low` to `high` times (None: unbounded)."""

    source: str
    branches: tuple[Branch, ...] = ()
    low: int = 1
    high: int | None = 1
    greedy: bool = True  # with backtracking
    is_look: bool = False
    is_nested: bool = False  # a repetition of a repetition, such as `{1,3}+`


Branch: TypeAlias = tuple[Item, ...]


@dataclass(frozen=True)
class PatternCost:
    """The steps of an attempt at one place, the number of ways in which it may match, and its loops over the text."""

    steps: int = 0
    ways: int = 1
    loops: int = 0

    @property
    def longest_text(self) -> int:
        """The length of the longest text for which all attempts together take at most MAX_STEPS steps."""
        return int((MAX_STEPS / max(self.steps, 1)) ** (1 / (self.loops + 1)))


def pattern_cost(pattern: str) -> PatternCost:
    """The cost of an expression. Raises PatternError if it cannot be bounded."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise PatternError("it is too long")
    parser = _Parser(pattern)
    branches = parser.branches()
    if parser.at < len(pattern):
        raise PatternError("a bracket is closed that was not opened")
    while len(branches) == 1 and len(branches[0]) == 1 and _is_plain_group(branches[0][0]):
        branches = branches[0][0].branches
    costs = [_branch_cost(_without_covered_loop(branches[number:]), False) for number in range(len(branches))]
    return _either(costs)


def _is_plain_group(item: Item) -> bool:
    return bool(item.branches) and (item.low, item.high, item.is_look) == (1, 1, False)


class _Parser:
    """Parses an expression into branches of items."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def branches(self) -> tuple[Branch, ...]:
        """The alternatives up to the end or a closing bracket."""
        found = [tuple(self._items())]
        while self._take("|"):
            found.append(tuple(self._items()))
        return tuple(found)

    def _items(self) -> Iterator[Item]:
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            yield self._repeated(self._item())

    def _item(self) -> Item:
        start = self.at
        if match := self._match(_ANCHOR):
            return Item(match[0], is_look=True)
        if self.pattern[start] == "[":
            self._skip_class()
            return Item(self.pattern[start : self.at])
        if match := self._match(_GROUP):
            branches = self.branches()
            if not self._take(")"):
                raise PatternError("a bracket is not closed")
            is_look = bool(match["kind"]) and match["kind"][-1] in "=!"
            return Item(self.pattern[start : self.at], branches, is_look=is_look)
        if match := self._match(_ATOM):
            return Item(match[0])
        raise PatternError(f"{self.pattern[start : start + 10]!r} in it is not understood")

    def _repeated(self, item: Item) -> Item:
        match = self._match(_REPETITION)
        if match is None:
            return item
        if item.is_look or self._match(_REPETITION):
            raise PatternError("a repetition in it is repeated")
        if match["sign"]:
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[match["sign"]]
            return replace(item, low=low, high=high, greedy=not match["mode"])
        if not match["low"] and not match["high"]:
            raise PatternError("a bracket in it is not understood")
        low = int(match["low"] or 0)
        high = low if not match["comma"] else int(match["high"]) if match["high"] else None
        if max(low, high or 0) > MAX_REPEAT or (high is not None and high < low):
            raise PatternError("it repeats too often")
        return replace(item, low=low, high=high, is_nested=bool(match["more"]))

    def _skip_class(self) -> None:
        """Skip a character class, including classes inside it."""
        self.at += 1
        self._take("^")
        self._take("]")  # an ordinary character if it comes first
        while self.at < len(self.pattern) and self.pattern[self.at] != "]":
            if self.pattern[self.at] == "[":
                self._skip_class()
            else:
                self.at += 2 if self.pattern[self.at] == "\\" else 1
        if not self._take("]"):
            raise PatternError("a class in it is not closed")

    def _match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        match = expression.match(self.pattern, self.at)
        self.at = match.end() if match else self.at
        return match

    def _take(self, sign: str) -> bool:
        found = self.pattern.startswith(sign, self.at)
        self.at += found
        return found


def _either(costs: Sequence[PatternCost]) -> PatternCost:
    return PatternCost(
        sum(cost.steps for cost in costs), sum(cost.ways for cost in costs), max(cost.loops for cost in costs)
    )


def _branch_cost(branch: Branch, rest_can_fail: bool) -> PatternCost:
    """The cost of a sequence of items, computed from the last one to the first."""
    total = PatternCost(steps=1)
    for item in reversed(branch):
        cost = _item_cost(item, rest_can_fail)
        total = PatternCost(cost.steps + cost.ways * total.steps, cost.ways * total.ways, cost.loops + total.loops)
        rest_can_fail = rest_can_fail or item.low > 0
    return total


def _item_cost(item: Item, rest_can_fail: bool) -> PatternCost:
    if item.is_nested or (item.branches and item.high is None):
        if rest_can_fail or item.low > 1:
            raise PatternError("a repetition in it is repeated, and what follows may fail")
        inner = _group_cost(item, False)
        return PatternCost(inner.steps + (item.high or 1), 1, inner.loops)
    if item.high is None:
        return PatternCost(item.low + 1, 1, int(rest_can_fail))
    if not item.branches:
        return PatternCost(item.high, item.high - item.low + 1)
    inner = _group_cost(item, rest_can_fail or item.is_look or item.high > 1)
    if item.is_look:
        return PatternCost(inner.steps, 1, inner.loops)
    ways = inner.ways**item.high * (item.high - item.low + 1)
    return PatternCost(inner.steps * ways * item.high, ways, inner.loops * item.high)


def _group_cost(item: Item, rest_can_fail: bool) -> PatternCost:
    return _either([_branch_cost(branch, rest_can_fail) for branch in item.branches] or [PatternCost(1)])


def _without_covered_loop(branches: Sequence[Branch]) -> Branch:
    """The first branch, without its first loop if the following branches match everything that it consumed in vain."""
    first = branches[0]
    at = _loop_index(first)
    if at is None or not _ends_with_all_of_it(branches, at):
        return first
    return (*first[:at], replace(first[at], low=1, high=1), *first[at + 1 :])


def _loop_index(branch: Branch) -> int | None:
    return next((number for number, item in enumerate(branch) if item.high is None and not item.branches), None)


def _ends_with_all_of_it(branches: Sequence[Branch], at: int) -> bool:
    """Whether branches that all start with the same loop end with one that matches everything the loop consumes.

    No other loop of the branches between is wasted: a match of one leaves no place in the consumed text for another.
    """
    first = branches[0]
    for branch in branches:
        if len(branch) <= at or branch[:at] != first[:at] or branch[at].source != first[at].source:
            return False
        loop, rest = branch[at], branch[at + 1 :]
        if loop.high is not None or loop.low > 1 or loop.is_nested:
            return False
        if all(item.low == 0 for item in rest):
            return True
        if (loop.source, *(item.source for item in rest)) == _FREE_REST and loop.greedy:
            return True
        if _branch_cost((*first[:at], *rest), False).loops:
            return False
    return False
