"""Tokens and numbers in words, as the page writes them. All of Headlight may import this, so it imports none of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from math import isfinite, isnan, log
from typing import Literal, SupportsFloat

NATS_PER_BIT = log(2)  # pages show bits; training and measurements use nats, like PyTorch
TIE = 1e-6  # as a share of a number: it may be written as if it were so much larger or smaller
_LOOSE_SPACE = re.compile(r"(?<!\S) | (?!\S)")
_SIGNS = {"\n": "¶", "\t": "→"}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ISOLATES = re.compile("[\u2066-\u2069]")
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


def visible(text: str) -> str:
    """A text with visible white space; single spaces between two words stay as they are. The page does the same."""
    signs = _LOOSE_SPACE.sub("·", text)
    return "".join(_SIGNS.get(sign, chr(0x2400 + ord(sign)) if sign < " " else sign) for sign in signs) or "∅"


def in_line(token: str) -> str:
    """A token without its leading space."""
    return visible(token[1:] if re.match(r" .", token) else token)


def quoted_in_line(token: str) -> str:
    """The same in quotation marks."""
    return f"“{in_line(token)}”"


def quoted(token: str) -> str:
    """The same in a sentence, isolated from the direction of the text around it."""
    alone = _ISOLATES.sub("", token)  # one of its own would end that around it
    return f"{_FIRST_STRONG_ISOLATE}{quoted_in_line(alone)}{_POP_ISOLATE}"


def names(tokens: Sequence[str]) -> tuple[str, ...]:
    """Tokens as names of rows or columns, where an empty name is none."""
    return tuple(token or visible(token) for token in tokens)


def numbered(tokens: Sequence[str]) -> tuple[str, ...]:
    """Names of tokens in a file: numbers distinguish equal ones, and keep a spreadsheet from reading a formula."""
    return tuple(f"{position} {token}" for position, token in enumerate(tokens))


def rounded(number: SupportsFloat, count: int) -> float:
    """A number in so many digits, for what follows from written numbers; a half is rounded away from zero."""
    return float(Context(prec=count, rounding=ROUND_HALF_UP).create_decimal_from_float(float(number)))


def digits(number: SupportsFloat, count: int) -> str:
    """A number in so many digits, with a real minus sign and commas; very small and large ones as in 1.78·10⁻⁴.

    A half is rounded away from zero, as the browser does.
    """
    number = float(number)
    if not isfinite(number):
        return "–" if isnan(number) else "∞" if number > 0 else "−∞"
    if number and not 0.001 <= abs(number) < 100_000:
        count = min(count, 3)
        shown, _, exponent = f"{rounded(number, count):.{count - 1}e}".partition("e")
        power = f"10{str(int(exponent)).translate(_RAISED)}"
        return power if shown == "1" else f"{shown}·{power}".replace("-", "−")
    return f"{rounded(number, count) + 0.0:,.10g}".replace("-", "−")  # −0 is 0


def three_digits(number: SupportsFloat) -> str:
    """A number in three digits."""
    return digits(number, 3)


def signed(number: float) -> str:
    """The same with its sign, for a summand."""
    return f"{'+' if number > 0 else ''}{three_digits(number)}"


def places(number: SupportsFloat, count: int = 2) -> str:
    """A number with so many decimal places; what they do not show has no sign. Finite numbers only."""
    written = _in_places(Decimal(float(number)), count)
    return f"{written or abs(written):,}".replace("-", "−")


def _in_places(number: Decimal, count: int) -> Decimal:
    exact = Context(prec=400)  # more digits than any float has
    return number.quantize(Decimal(1).scaleb(-count), ROUND_HALF_UP, exact)


def equals(
    written: SupportsFloat, result: SupportsFloat, write: Callable[[float], str] = three_digits
) -> Literal["=", "≈"]:
    """The sign before a result: “=” if the written numbers give it as it is written, or “≈” if they are too short."""
    near = {write(float(written) * (1 + turn)) for turn in (-TIE, 0, TIE)}
    return "=" if write(float(result)) in near else "≈"


def percent(share: SupportsFloat, places: int = 1) -> str:
    """A share as a percentage; one along a direction can be negative."""
    share, least = float(share), f"{10**-places:.{places}f} %"
    if not isfinite(share):
        return "–"
    if abs(share) < 0.5 * 10 ** -(places + 2):
        return "0 %" if share == 0 else f"<{least}" if share > 0 else f">−{least}"
    return f"{_in_places(Decimal(100 * share), places):,} %".replace("-", "−")


def signed_percent(share: SupportsFloat, places: int = 1) -> str:
    """The same with its sign, for a change."""
    told = percent(share, places)
    return f"+{told}" if float(share) > 0 and told[0].isdigit() else told


def format_count(number: int) -> str:
    """A large number with three digits: 6.57 M."""
    return _format_unit(number, (("B", 10**9), ("M", 10**6), ("k", 10**3), ("", 1)))


def format_bytes(number: float | int) -> str:
    """Bytes with three digits: 13.2 MB."""
    return _format_unit(number, (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("bytes", 1)))


def _format_unit(number: float | int, units: tuple[tuple[str, int], ...]) -> str:
    unit, size = next(((unit, size) for unit, size in units if number >= size), units[-1])
    value = number / size
    digits = 0 if size == 1 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}".strip()
