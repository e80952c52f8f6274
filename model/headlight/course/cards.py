"""The numbers that a model's card states in its tables."""

from __future__ import annotations

import re

Table = tuple[tuple[str, ...], ...]
BITS = "bits per token"


def card_section(card: str, title: str) -> str:
    """The text under a heading of a card, or "" if there is none."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", card, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def card_table(section: str) -> Table:
    """The first table of a section: its head and its rows; empty if there is none."""
    table = re.search(r"^\|.*\n\|[-:| ]+\|\n(?:\|.*\n?)*", section, re.MULTILINE)
    if not table:
        return ()
    head, _, *lines = table[0].strip().splitlines()
    cells = [tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in (head, *lines)]
    return tuple(line for line in cells if len(line) == len(cells[0]))


def bits_per_token(card: str) -> dict[str, float]:
    """The loss of each held-out text in a card, by the text's name; empty if it has none."""
    measured = card_table(card_section(card, "Measured"))
    if not measured or BITS not in measured[0]:
        return {}
    column = measured[0].index(BITS)
    return {line[0]: float(line[column]) for line in measured[1:]}
