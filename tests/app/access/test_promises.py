"""The tables of promises name existing tests."""

import re
from pathlib import Path

import headlight_app.access

TESTS = Path(__file__).parents[2]
PAGES = [Path(headlight_app.access.__file__).with_name(name) for name in ("README.md", "LIMITS.md", "AT_A_LIMIT.md")]
PROMISES = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def test_every_promise_is_held_by_tests_that_are_there() -> None:
    rows = [
        line
        for line in PROMISES.splitlines()
        if line.startswith("|") and not line.startswith(("|--", "| **", "| promise"))
    ]
    held = [re.findall(r"`(test_\w+)`", row) for row in rows]
    assert held and all(held)
    there = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
    }
    assert {name for names in held for name in names} <= there
